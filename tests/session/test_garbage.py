"""Dead Qt objects are collected in the GUI thread, never in the worker's."""

import gc
import threading
import weakref

from pytestqt.qtbot import QtBot

from gptviz.session.session import Session
from gptviz.session.worker import JobContext


class Cycle:
    """Something that only the cyclic collector frees; it notes in which thread."""

    threads: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        self.threads.append(threading.current_thread().name)


def test_the_worker_allocates_without_collecting(ready: Session, qtbot: QtBot) -> None:
    Cycle.threads.clear()
    gone = weakref.ref(Cycle())
    kept: list[list[int]] = []

    def allocate(context: JobContext) -> None:
        kept.extend([number] for number in range(20_000))

    ready.submit_quietly(allocate, lambda outcome: None)
    qtbot.waitUntil(lambda: len(kept) == 20_000)
    qtbot.waitUntil(lambda: gone() is None)

    assert Cycle.threads == ["MainThread"]


def test_after_the_end_python_collects_by_itself_again(session: Session) -> None:
    assert not gc.isenabled()
    session.close()

    assert gc.isenabled()
