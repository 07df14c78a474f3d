"""Reading the parts of the stream while somebody looks at them."""

from collections.abc import Callable

import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.analysis.attribution_answer import full_answer
from gptviz.session import jobs
from gptviz.session.session import Session

pytestmark = pytest.mark.without_pauses

Read = Callable[[], None]


@pytest.fixture
def read(ready: Session, qtbot: QtBot) -> Read:
    """A function that waits until the parts are read."""
    ready.attributing.watch(True)
    return lambda: qtbot.waitUntil(lambda: not ready.busy and not ready.attributing.pending)


def place(session: Session) -> tuple[int, int, int] | None:
    parts = session.state.where_from.parts
    return None if parts is None else (parts.row, parts.position, parts.blocks)


def test_nothing_is_read_while_nobody_looks(ready: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not ready.busy and ready.state.checks.complete)

    assert not ready.attributing.pending
    assert place(ready) is None


def test_all_parts_of_the_last_token_are_read(ready: Session, read: Read) -> None:
    read()

    assert place(ready) == (0, 3, 2)


def test_another_token_is_read_instead(ready: Session, read: Read) -> None:
    read()
    ready.select(query=1)
    assert place(ready) is None
    read()

    assert place(ready) == (0, 1, 2)


def test_another_pass_is_read_instead(ready: Session, read: Read, wait: Wait) -> None:
    read()
    ready.set_prompt("Every effort")
    ready.run()
    wait()
    read()

    parts, trace = ready.state.where_from.parts, ready.state.trace
    assert parts is not None
    assert trace is not None
    assert place(ready) == (0, 1, 2)
    assert parts.groups[-1].points[-1].values.tolist() == trace["trf_blocks.1.shortcut2"][0, 1].tolist()


def test_rows_of_a_batch_are_read_apart(ready: Session, read: Read, wait: Wait) -> None:
    ready.add_prompt()
    ready.set_prompt("Every day holds a", 1)
    ready.run()
    wait()
    ready.select(row=1)
    read()

    assert place(ready) == (1, 3, 2)


def test_another_stage_needs_no_reading(ready: Session, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    read()
    parts = ready.state.where_from.parts
    monkeypatch.setattr(jobs, "read_parts", lambda *_: pytest.fail("read again"))
    ready.select_stage("trf_blocks.0.shortcut1")
    read()

    assert ready.state.where_from.parts is parts
    assert ready.state.where_from.question.stage == "trf_blocks.0.shortcut1"


def test_a_stage_beside_the_stream_leaves_the_question_as_it_is(ready: Session) -> None:
    ready.select_stage("trf_blocks.0.shortcut2")
    ready.select_stage("trf_blocks.1.att.out_proj")

    assert ready.state.where_from.question.stage == "trf_blocks.0.shortcut2"


def test_a_number_that_is_pointed_out_is_asked_for(ready: Session) -> None:
    ready.select_stage("out_head")
    ready.select(query=2, token=716)
    question = ready.state.where_from.question
    assert (question.kind, question.token) == ("logit", 716)

    ready.select_stage("embeddings")
    assert ready.state.where_from.question.kind == "logit"
    ready.select(feature=7)
    question = ready.state.where_from.question
    assert (question.kind, question.stage, question.feature) == ("stream", "embeddings", 7)


def test_reading_stops_and_goes_on(ready: Session, read: Read, qtbot: QtBot) -> None:
    assert ready.attributing.pending
    ready.attributing.stop()
    assert not ready.attributing.pending
    qtbot.waitUntil(lambda: ready.settled)
    assert place(ready) in (None, (0, 3, 1), (0, 3, 2))

    ready.attributing.go_on()
    read()
    assert place(ready) == (0, 3, 2)


def test_a_pass_that_a_person_wants_goes_first(ready: Session, read: Read, wait: Wait) -> None:
    for _ in range(3):
        ready.run()
        assert ready.computing
        wait()
    read()

    assert place(ready) == (0, 3, 2)


def test_checks_are_measured_all_the_same(ready: Session, read: Read, qtbot: QtBot) -> None:
    read()
    qtbot.waitUntil(lambda: ready.state.checks.complete and ready.state.checks.total > 0)

    ready.run()
    ready.attributing.watch(False)
    qtbot.waitUntil(lambda: not ready.busy and ready.state.checks.complete and ready.state.checks.total > 0)


def test_weights_that_were_changed_since_are_told(ready: Session, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    from gptviz.capture import capture

    read()
    assert ready.state.trace is not None
    model = ready.state.trace.replay.model
    lean = capture(model, torch.tensor([[15496, 11]]), budget=0)
    with torch.no_grad():
        model.trf_blocks[1].ff.layers[0].bias.add_(1)
    ready.change(trace=lean)
    read()

    view = ready.state.where_from
    assert "the model's weights were changed since" in view.problem
    assert view.parts is None or view.parts.blocks < 2


def test_blocks_that_are_not_at_hand_are_replayed_one_at_a_time(ready: Session, read: Read) -> None:
    from gptviz.capture import capture

    read()
    assert ready.state.trace is not None
    whole = ready.state.trace
    lean = capture(whole.replay.model, whole.ids, budget=0)
    ready.change(trace=lean)
    read()

    parts, question = ready.state.where_from.parts, ready.state.where_from.question
    assert parts is not None
    assert parts.blocks == 2
    assert full_answer(whole, 0, 3, question) == full_answer(lean, 0, 3, question)
    assert ready.state.trace is not None
    assert not any(ready.state.trace.has_block(layer) for layer in range(2))
