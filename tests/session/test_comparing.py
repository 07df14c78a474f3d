"""A run that is pinned, and what is compared with it."""

import gc
import weakref
from collections.abc import Callable

import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.capture import Trace, block_bytes, capture
from gptviz.session import comparing
from gptviz.session.session import Session
from gptviz.session.state import PinnedRun, ViewState

pytestmark = pytest.mark.without_pauses

Compared = Callable[[], None]


@pytest.fixture
def pinned(ready: Session, qtbot: QtBot) -> Session:
    """A session that has pinned its run, and that somebody looks at."""
    ready.comparing.watch(True)
    ready.comparing.pin()
    return ready


@pytest.fixture
def compared(ready: Session, qtbot: QtBot) -> Compared:
    """A function that waits until the runs are compared."""
    return lambda: qtbot.waitUntil(lambda: not ready.busy and not ready.comparing.pending)


def run_a(session: Session) -> PinnedRun:
    pinned = session.state.comparison.pinned
    assert pinned is not None
    return pinned


def runs(session: Session, prompt: str, wait: Wait) -> None:
    session.set_prompt(prompt)
    session.run()
    wait()


def differing(session: Session) -> dict[str, float | None]:
    return {one.name: one.relative for one in session.state.comparison.differences}


def test_a_pinned_run_keeps_its_own_facts(pinned: Session, wait: Wait, compared: Compared) -> None:
    pinned.use_model("tiny", 7)
    runs(pinned, "Every effort", wait)
    compared()
    a = run_a(pinned)

    assert [piece.text for piece in a.pieces] == ["Hello", ",", " I", " am"]
    assert (a.model.title, a.model.seed, a.step) == ("tiny", 123, None)
    assert a.trace.config.n_layers == 2
    assert a.token_text(716) == " am"


def test_every_stage_is_compared(pinned: Session, wait: Wait, compared: Compared) -> None:
    runs(pinned, "Hello, you are", wait)
    compared()

    assert len(differing(pinned)) == 55
    assert differing(pinned)["pos_emb"] == 0
    assert pinned.state.trace is not None
    one, other = run_a(pinned).trace["out_head"], pinned.state.trace["out_head"]
    assert differing(pinned)["out_head"] == pytest.approx(float((other - one).norm() / one.norm()), rel=1e-5)


def test_the_pinned_run_itself_is_not_compared(pinned: Session, compared: Compared) -> None:
    compared()

    assert pinned.comparing.compares_itself
    assert differing(pinned) == {}


def test_nothing_is_compared_while_nobody_looks(pinned: Session, wait: Wait, compared: Compared) -> None:
    pinned.comparing.watch(False)
    runs(pinned, "Hello, you are", wait)
    compared()

    assert differing(pinned) == {}


def test_a_later_run_is_compared_instead(pinned: Session, wait: Wait, compared: Compared) -> None:
    runs(pinned, "Hello, you are", wait)
    compared()
    runs(pinned, "Hello, I am not", wait)
    compared()

    assert pinned.state.comparison.differences[0].shape_b == (1, 5)
    assert len(differing(pinned)) == 55


def test_two_steps_of_a_generation_are_compared(pinned: Session, wait: Wait, compared: Compared) -> None:
    for _ in range(3):
        pinned.loop.step()
        wait()
    pinned.comparing.pin()
    assert run_a(pinned).step == 2
    pinned.travel.show(1)
    wait()
    compared()

    assert pinned.state.comparison.differences[0].shape_a == (1, 6)
    assert pinned.state.comparison.differences[0].shape_b == (1, 5)
    assert pinned.state.comparison.differences[0].differing == 0


def test_comparing_stops_and_goes_on(pinned: Session, wait: Wait, compared: Compared, qtbot: QtBot) -> None:
    compared()

    def stop(old: ViewState, new: ViewState) -> None:
        if new.comparison.done == 1:
            pinned.comparing.stop()

    pinned.changed.connect(stop)
    runs(pinned, "Hello, you are", wait)
    qtbot.waitUntil(lambda: pinned.settled)
    pinned.changed.disconnect(stop)
    assert pinned.state.comparison.done == 1
    assert pinned.state.comparison.stopped

    pinned.comparing.go_on()
    compared()
    assert pinned.state.comparison.done == 3


# --- memory ----------------------------------------------------------------------------------------------


def test_an_unpinned_run_is_freed(pinned: Session, wait: Wait, compared: Compared) -> None:
    compared()
    runs(pinned, "Every effort", wait)
    compared()
    tensor = weakref.ref(run_a(pinned).trace.kept["out_head"])
    pinned.comparing.unpin()
    pinned.travel.forget()  # which keeps the last few passes, to go back to them at once
    wait()

    gc.collect()
    assert tensor() is None
    assert pinned.state.comparison.differences == ()


def test_another_model_frees_the_pinned_runs_model(pinned: Session, wait: Wait, compared: Compared) -> None:
    compared()
    assert pinned.state.trace is not None
    weights = weakref.ref(pinned.state.trace.replay.model.tok_emb.weight)
    pinned.use_model("tiny", 7)
    wait()
    compared()

    gc.collect()
    assert weights() is None
    assert not run_a(pinned).trace.can_replay
    assert all(value is None or value > 0 for name, value in differing(pinned).items() if "mask" not in name)


def lean(session: Session) -> Trace:
    """Show a pass of which no block's inside was kept."""
    assert session.state.trace is not None
    trace = capture(session.state.trace.replay.model, torch.tensor([[15496, 11, 314, 716]]), budget=0)
    session.change(trace=trace)
    return trace


def test_blocks_are_kept_for_the_time_when_the_model_is_gone(ready: Session, compared: Compared, wait: Wait) -> None:
    trace = lean(ready)
    ready.comparing.pin()
    compared()
    kept = run_a(ready).trace
    assert all(kept.keeps_block(layer) for layer in range(2))
    assert torch.equal(kept["trf_blocks.1.att.weights"], trace["trf_blocks.1.att.weights"])

    ready.use_model("tiny", 7)
    wait()
    ready.comparing.watch(True)
    compared()
    assert differing(ready)["trf_blocks.1.att.weights"] is not None


def test_no_more_is_kept_than_the_budget_allows(
    ready: Session, compared: Compared, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = lean(ready)
    monkeypatch.setattr(comparing, "BUDGET", trace.nbytes + round(1.5 * block_bytes(trace.config, 1, 4)))
    ready.select(layer=1)
    wait()
    ready.comparing.pin()
    compared()
    kept = run_a(ready).trace
    assert kept.nbytes <= comparing.BUDGET
    assert [kept.keeps_block(layer) for layer in range(2)] == [False, True]

    monkeypatch.setattr(comparing, "BUDGET", 0)
    ready.comparing.pin()
    compared()
    assert not any(run_a(ready).trace.keeps_block(layer) for layer in range(2))
    ready.use_model("tiny", 7)
    wait()
    ready.comparing.watch(True)
    compared()
    assert differing(ready)["trf_blocks.0.att.weights"] is None
    assert differing(ready)["trf_blocks.0.shortcut2"] is not None


def test_of_a_run_without_kept_blocks_the_selected_map_is_replayed(
    ready: Session, compared: Compared, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "BUDGET", 0)
    lean(ready)
    ready.comparing.pin()
    ready.comparing.watch(True)
    runs(ready, "Every effort", wait)
    for layer in (1, 0):
        ready.select(layer=layer)
        wait()
        compared()
        names = [f"trf_blocks.{other}.att.weights" for other in range(2)]
        assert [run_a(ready).trace.has(name) for name in names] == [layer == 0, layer == 1]


def test_the_logits_of_all_positions_are_left_out_where_there_is_no_room(
    ready: Session, compared: Compared, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = lean(ready)
    monkeypatch.setattr(comparing, "BUDGET", trace.nbytes - 1)
    ready.comparing.pin()
    ready.comparing.watch(True)
    runs(ready, "Every effort", wait)
    compared()
    kept = run_a(ready).trace

    assert not kept.has("out_head")
    assert kept.nbytes <= comparing.BUDGET
    assert torch.equal(kept["last"], trace["last"])
    assert differing(ready)["out_head"] is None
    assert differing(ready)["last"] is not None
