"""What is measured on a trace because somebody looks at it: heads, probe, surprisal."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.analysis.heads import SCORE_NAMES, head_scores
from gptviz.session.measuring import HEADS, PROBE
from gptviz.session.session import Session

Settle = Callable[[], None]


@pytest.fixture
def settle(ready: Session, qtbot: QtBot) -> Settle:
    """A function that waits until all is measured."""
    return lambda: qtbot.waitUntil(lambda: not ready.busy and not ready.measuring.unfinished)


def test_nothing_is_measured_that_nobody_looks_at(ready: Session, settle: Settle) -> None:
    settle()

    assert ready.state.measured.heads == ()
    assert ready.state.measured.probe is None
    assert ready.state.measured.surprisal is None


def test_the_heads_of_the_prompt_are_scored_block_by_block(ready: Session, settle: Settle) -> None:
    ready.measuring.watch(HEADS)
    settle()

    measured = ready.state.measured
    assert [scores.shape for scores in measured.heads] == [(1, 2, 6), (1, 2, 6)]
    assert measured.uniform[0].shape == (6,)
    assert ready.state.trace is not None
    weights = ready.state.trace.with_block(1).array("trf_blocks.1.att.weights")[0]
    ids = ready.state.trace.array("ids")[0]
    np.testing.assert_array_equal(measured.heads[1][0], head_scores(weights, ids))


def test_another_prompt_is_measured_anew_and_the_probe_stays(ready: Session, settle: Settle, wait: Wait) -> None:
    ready.measuring.watch(HEADS, PROBE)
    settle()
    before = ready.state.measured
    ready.set_prompt("a rose is a rose is a rose")
    ready.run()
    wait()
    settle()

    after = ready.state.measured
    assert after.probe is before.probe is not None
    induction = SCORE_NAMES.index("induction")
    assert np.isnan(before.heads[0][0, :, induction]).all()  # nothing is said twice in "Hello, I am"
    assert np.isfinite(after.heads[0][0, :, induction]).all()


def test_another_model_is_probed_anew(ready: Session, settle: Settle, wait: Wait) -> None:
    ready.measuring.watch(PROBE)
    settle()
    before = ready.state.measured.probe
    ready.use_model("tiny", 7)
    wait()
    settle()

    after = ready.state.measured.probe
    assert before is not None
    assert after is not None
    assert not np.array_equal(before.scores, after.scores)


def test_the_probe_is_what_the_model_gives(ready: Session, settle: Settle) -> None:
    ready.measuring.watch(PROBE)
    settle()

    probe = ready.state.measured.probe
    assert probe is not None
    ids = list(probe.ids)
    assert ids[:32] == ids[32:]
    assert ready.state.trace is not None
    model = ready.state.trace.replay.model
    seen: list[torch.Tensor] = []
    handle = model.trf_blocks[1].att.weights.register_forward_hook(lambda *arguments: seen.append(arguments[2]))
    with torch.no_grad():
        model(torch.tensor([ids]))
    handle.remove()
    np.testing.assert_allclose(probe.maps[1], seen[0][0].numpy(), rtol=1e-5)


def test_surprisal_is_measured_when_it_is_shown(ready: Session, settle: Settle) -> None:
    ready.set_option(surprisal=True)
    settle()

    assert ready.state.measured.surprisal is not None
    (bits,) = ready.state.measured.surprisal
    assert len(bits) == 4
    assert np.isnan(bits).tolist() == [True, False, False, False]
    assert ready.state.trace is not None
    chances = torch.softmax(ready.state.trace["out_head"][0].double(), dim=-1)
    ids = ready.state.trace.ids[0]
    np.testing.assert_allclose(2.0 ** -np.array(bits[1:]), chances[[0, 1, 2], ids[1:]].numpy())


def test_the_rows_of_a_batch_have_figures_of_their_own(ready: Session, settle: Settle, wait: Wait) -> None:
    ready.measuring.watch(HEADS)
    ready.set_option(surprisal=True)
    ready.add_prompt()
    ready.set_prompt("to be or to", row=1)
    ready.run()
    wait()
    settle()

    measured = ready.state.measured
    assert measured.heads[0].shape == (2, 2, 6)
    assert len(measured.uniform) == 2
    assert measured.surprisal is not None
    assert len(measured.surprisal) == 2


def test_weights_that_were_changed_meanwhile_are_told(
    ready: Session, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gptviz.session import measuring_jobs as jobs

    def fail(*_: object) -> object:
        raise RuntimeError("the weights were changed")

    monkeypatch.setattr(jobs, "measure_heads", fail)
    ready.measuring.watch(HEADS)
    settle()

    assert "the weights were changed" in ready.state.measured.note
