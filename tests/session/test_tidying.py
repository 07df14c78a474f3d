"""Giving memory back."""

import threading
import weakref
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.session.session import Session

Watched = Callable[[int], list[str]]


@pytest.fixture
def watched(ready: Session, wait: Wait) -> Watched:
    """A function that gives the trace's logits as many bytes, and tells the threads in which these are freed."""

    def watched(nbytes: int) -> list[str]:
        wait()
        trace = ready.state.trace
        assert trace is not None
        freed: list[str] = []
        numbers = np.zeros(nbytes, np.uint8)
        weakref.finalize(numbers, lambda: freed.append(threading.current_thread().name))
        ready.change(trace=replace(trace, kept={**trace.kept, "out_head": torch.from_numpy(numbers)}))
        return freed

    return watched


def test_what_a_replaced_pass_held_is_freed_in_a_thread_of_its_own(
    ready: Session, watched: Watched, qtbot: QtBot
) -> None:
    """Else the window stands still as long as that takes."""
    freed = watched(2**21)

    ready.run()

    qtbot.waitUntil(lambda: bool(freed))
    assert freed[0].startswith("gptviz-freeing")


def test_small_tensors_are_freed_where_they_were_held_last(ready: Session, watched: Watched, qtbot: QtBot) -> None:
    freed = watched(2**10)

    ready.run()

    qtbot.waitUntil(lambda: bool(freed))
    assert not freed[0].startswith("gptviz-freeing")


def test_what_panes_still_wait_to_replace_is_not_freed_before(ready: Session, watched: Watched, qtbot: QtBot) -> None:
    freed = watched(2**21)
    seen: list[list[str]] = []

    def show() -> None:
        seen.append(list(freed))
        if len(seen) < 30:
            ready.turns.add(ready, show)

    ready.changed.connect(lambda old, new: show() if new.trace is not old.trace and not seen else None)
    ready.run()
    qtbot.waitUntil(lambda: bool(freed))

    assert seen == [[]] * 30


def test_only_the_last_one_waits_for_panes_that_are_never_done(ready: Session, watched: Watched, qtbot: QtBot) -> None:
    def for_ever() -> None:
        ready.turns.add(ready, for_ever)

    def runs() -> None:
        before = ready.state.trace
        ready.run()
        qtbot.waitUntil(lambda: ready.state.trace is not before)

    freed = watched(2**21)
    ready.turns.add(ready, for_ever)
    runs()
    assert freed == []

    runs()

    qtbot.waitUntil(lambda: bool(freed))
