"""Live stepping: the real pass waits inside its hooks."""

import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.model import GPTModel
from gptviz.session.session import Session

SCORES = "trf_blocks.1.att.scores"


class Stepper:
    """A person who steps through a live pass."""

    def __init__(self, session: Session, qtbot: QtBot) -> None:
        self._session = session
        self._qtbot = qtbot

    def waits_at(self, stage: str) -> None:
        self._qtbot.waitUntil(lambda: self._session.state.held == stage)

    def starts(self, *breakpoints: str) -> None:
        for stage in breakpoints:
            self._session.live.toggle_breakpoint(stage)
        self._session.live.start()


@pytest.fixture
def live(ready: Session, qtbot: QtBot) -> Stepper:
    return Stepper(ready, qtbot)


def test_the_pass_waits_at_each_stage(ready: Session, live: Stepper) -> None:
    live.starts()
    live.waits_at("ids")
    ready.live.next()
    live.waits_at("tok_emb")
    ready.live.next()
    live.waits_at("pos_emb")


def test_the_tensors_so_far_are_the_models_and_later_stages_are_empty(
    ready: Session, live: Stepper, tiny_model: GPTModel
) -> None:
    live.starts("embeddings")
    live.waits_at("embeddings")

    trace = ready.state.trace
    assert trace is not None
    assert torch.equal(trace["tok_emb"], tiny_model.tok_emb(trace.ids))
    assert trace.names == ("ids", "tok_emb", "pos_emb", "embeddings")
    assert not trace.complete
    assert not any(trace.has(name) for name in ("drop_emb", "last", "next", SCORES))


def test_the_stage_at_which_it_waits_is_selected(ready: Session, live: Stepper) -> None:
    live.starts(SCORES)
    live.waits_at(SCORES)

    assert (ready.state.selection.stage, ready.state.selection.layer) == (SCORES, 1)
    assert ready.state.live is not None
    assert ready.state.live[-1].name == SCORES


def test_with_breakpoints_it_waits_only_there(ready: Session, live: Stepper, wait: Wait) -> None:
    live.starts("drop_emb", "final_norm")
    live.waits_at("drop_emb")
    ready.live.run_on()
    live.waits_at("final_norm")
    ready.live.run_on()
    wait()

    assert ready.state.held is None
    assert ready.state.trace is not None
    assert ready.state.trace.complete


def test_next_after_a_breakpoint_takes_one_stage(ready: Session, live: Stepper) -> None:
    live.starts(SCORES)
    live.waits_at(SCORES)
    ready.live.next()
    live.waits_at("trf_blocks.1.att.scaled")


def test_a_breakpoint_can_be_set_while_the_pass_waits(ready: Session, live: Stepper) -> None:
    live.starts()
    live.waits_at("ids")
    ready.live.toggle_breakpoint("out_head")
    ready.live.run_on()
    live.waits_at("out_head")


def test_a_breakpoint_is_cleared_by_setting_it_again(ready: Session) -> None:
    ready.live.toggle_breakpoint(SCORES)
    ready.live.toggle_breakpoint(SCORES)

    assert ready.state.breakpoints == frozenset()


def test_the_result_is_that_of_a_pass_without_stops(ready: Session, live: Stepper, wait: Wait) -> None:
    before = ready.state.trace
    live.starts()
    live.waits_at("ids")
    ready.live.run_on()
    wait()

    assert before is not None
    assert ready.state.trace is not before
    assert ready.state.trace is not None
    assert all(torch.equal(ready.state.trace[name], before[name]) for name in before.names)


def test_stop_brings_back_what_was_on_screen(ready: Session, live: Stepper, wait: Wait) -> None:
    before = ready.state.trace
    live.starts(SCORES)
    live.waits_at(SCORES)
    ready.cancel()
    wait()

    assert ready.state.trace is before
    assert (ready.state.held, ready.state.live, ready.state.message) == (None, None, None)


def test_after_stop_no_hook_is_left(ready: Session, live: Stepper, wait: Wait) -> None:
    live.starts(SCORES)
    live.waits_at(SCORES)
    assert ready.state.trace is not None
    model = ready.state.trace.replay.model
    ready.cancel()
    wait()

    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_run_replaces_a_pass_that_waits(ready: Session, live: Stepper, wait: Wait) -> None:
    live.starts()
    live.waits_at("ids")
    ready.run()
    wait()

    assert ready.state.held is None
    assert ready.state.trace is not None
    assert ready.state.trace.complete


def test_another_model_replaces_a_pass_that_waits(ready: Session, live: Stepper, wait: Wait) -> None:
    live.starts()
    live.waits_at("ids")
    ready.use_model("tiny", 7)
    wait()

    assert ready.state.model is not None
    assert ready.state.model.seed == 7
    assert ready.state.trace is not None
    assert ready.state.trace.complete


def test_generation_waits_for_the_end_of_a_pass_that_is_held(ready: Session, live: Stepper) -> None:
    live.starts()
    live.waits_at("ids")
    ready.loop.step()

    assert ready.state.generation.steps == ()
    assert ready.state.held == "ids"


def test_closing_releases_a_pass_that_waits(ready: Session, live: Stepper) -> None:
    live.starts()
    live.waits_at("ids")

    ready.close()  # the fixture fails a thread that is left


def test_stages_that_did_not_run_yet_can_be_selected(ready: Session, live: Stepper) -> None:
    live.starts()
    live.waits_at("ids")
    ready.select_stage(SCORES)

    assert ready.state.selection.stage == SCORES
    assert ready.state.held == "ids"
