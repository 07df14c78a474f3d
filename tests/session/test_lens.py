"""Reading the stream through the output head while somebody looks at it."""

from collections.abc import Callable

import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.capture import capture
from gptviz.session import reading_jobs
from gptviz.session.session import Session

pytestmark = pytest.mark.without_pauses

Read = Callable[[], None]


@pytest.fixture
def read(ready: Session, qtbot: QtBot) -> Read:
    """A function that waits until the stream is read."""
    ready.lens.watch(True)
    return lambda: qtbot.waitUntil(lambda: not ready.busy and not ready.lens.pending)


def chosen(session: Session) -> list[int]:
    reading = session.state.lens.reading
    assert reading is not None
    assert reading.complete
    return reading.ids[-1, :, 0].tolist()


def expected(session: Session, row: int = 0) -> list[int]:
    assert session.state.trace is not None
    return session.state.trace["out_head"][row].argmax(dim=1).tolist()


def test_nothing_is_read_while_nobody_looks(ready: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: ready.settled)

    assert ready.state.lens.reading is None


def test_the_pass_on_screen_is_read(ready: Session, read: Read, wait: Wait) -> None:
    read()
    assert chosen(ready) == expected(ready)

    ready.set_prompt("Every effort moves you")
    ready.run()
    wait()
    read()
    assert chosen(ready) == expected(ready)


def test_another_row_of_a_batch_is_read_instead(ready: Session, read: Read, wait: Wait) -> None:
    ready.add_prompt()
    ready.set_prompt("Every day holds a", 1)
    ready.run()
    wait()
    ready.select(row=1)
    read()

    assert chosen(ready) == expected(ready, row=1)


def test_another_selection_needs_no_reading(ready: Session, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    read()
    reading = ready.state.lens.reading
    monkeypatch.setattr(reading_jobs, "read_lens", lambda *_: pytest.fail("read again"))
    ready.select(layer=1, query=0)
    read()

    assert ready.state.lens.reading is reading


def test_reading_stops_and_goes_on(ready: Session, read: Read, qtbot: QtBot) -> None:
    assert ready.lens.pending
    ready.lens.stop()
    qtbot.waitUntil(lambda: ready.settled)
    assert not ready.lens.pending

    ready.lens.go_on()
    read()
    assert chosen(ready) == expected(ready)


def test_a_pass_that_a_person_wants_goes_first(ready: Session, read: Read, wait: Wait) -> None:
    for _ in range(3):
        ready.run()
        assert ready.computing
        wait()
    read()

    assert chosen(ready) == expected(ready)


def test_what_goes_wrong_is_told(ready: Session, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    read()
    assert ready.state.trace is not None
    model = ready.state.trace.replay.model
    other = capture(model, torch.tensor([[15496, 11]]))
    monkeypatch.setattr(model.out_head, "weight", torch.nn.Parameter(torch.zeros(7, 5)))
    ready.change(trace=other)
    read()

    assert "The stream could not be read" in ready.state.lens.problem
