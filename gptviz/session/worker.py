"""One long-lived thread for the work that the GUI thread must not do."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

if TYPE_CHECKING:
    from gptviz.capture.trace import StageRecord

# How long a thread may hold the interpreter while another waits (Python's default is 5 ms): the GUI thread
# waits behind the hooks' Python code up to this long, several times a frame.
_SWITCH_SECONDS = 0.001
_NICE = 5


def _yield_to_the_gui() -> None:
    """Let the GUI thread go first where cores are scarce; torch's own threads inherit this from the worker."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _begin(work: "Callable[[JobContext], object]", context: "JobContext") -> object:
    if context.cancel.is_set():
        raise Cancelled  # while it waited for its turn
    return work(context)


class Cancelled(Exception):  # noqa: N818 - a request that was met, no error
    """The job noticed that it was cancelled."""


class JobContext:
    """What a job may use to report and to notice that it should stop. Written by the worker, read by the GUI."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self.cancel = Event()
        self.tell = tell  # sends something to the GUI thread while the job goes on
        self.wake: Callable[[], None] | None = None  # ends a wait of the job's, so that it sees the cancel flag
        self.records: list[StageRecord] = []
        self.text: str | None = None
        self.fraction: float | None = None

    def report(self, text: str, fraction: float | None = None) -> None:
        """Say what the job is at; raises Cancelled once the job was cancelled."""
        if self.cancel.is_set():
            raise Cancelled
        self.text, self.fraction = text, fraction

    def request_cancel(self) -> None:
        """Ask the job to stop."""
        self.cancel.set()
        if self.wake is not None:
            self.wake()


@dataclass(frozen=True)
class Outcome:
    """How a job ended: with a result, with an error, or neither because it was cancelled."""

    generation: int
    result: object = None
    error: BaseException | None = None
    cancelled: bool = False


class Worker(QObject):
    """Runs one job at a time; a new job cancels the one before, whose outcome is dropped."""

    _ended = Signal(object)
    _told = Signal(object)  # (generation, what a job tells)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._executor = ThreadPoolExecutor(1, f"gptviz-{name}", initializer=_yield_to_the_gui)
        self._generation = 0
        self._context: JobContext | None = None
        self._on_end: Callable[[Outcome], None] | None = None
        self._on_tell: Callable[[object], None] | None = None
        self._closed = False
        # queued even when the job ended before submit() returned, so that on_end never runs inside submit()
        self._ended.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._told.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)

    @property
    def context(self) -> JobContext | None:
        """The context of the present job; None when idle."""
        return self._context

    def submit(
        self,
        work: Callable[[JobContext], object],
        on_end: Callable[[Outcome], None],
        on_tell: Callable[[object], None] | None = None,
    ) -> None:
        """Run ``work`` in the thread, then call ``on_end`` in the GUI thread, unless a later job came between.

        ``on_tell`` is called in the GUI thread with each thing that the job tells before it ends.
        """
        if self._closed:
            return
        self.cancel()
        self._generation += 1
        self._context = context = JobContext(partial(self._tell, self._generation))
        self._on_end, self._on_tell = on_end, on_tell
        future = self._executor.submit(_begin, work, context)
        future.add_done_callback(partial(self._announce, self._generation))

    def cancel(self) -> None:
        """Ask the present job to stop; its outcome still arrives, as cancelled, unless another job is submitted."""
        if self._context is not None:
            self._context.request_cancel()

    def close(self) -> None:
        """Cancel the present job, wait for the thread's end, and deliver nothing more."""
        self._closed = True
        self.cancel()
        self._context = self._on_end = None
        self._generation += 1
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _announce(self, generation: int, future: "Future[object]") -> None:
        """Runs in the worker's thread."""
        try:
            error = future.exception()
        except CancelledError:
            return
        if error is None:
            self._ended.emit(Outcome(generation, result=future.result()))
        else:
            self._ended.emit(Outcome(generation, error=error))

    def _tell(self, generation: int, what: object) -> None:
        """Runs in the worker's thread."""
        self._told.emit((generation, what))

    @Slot(object)
    def _pass_on(self, told: tuple[int, object]) -> None:
        if told[0] == self._generation and self._on_tell is not None and not self._closed:
            self._on_tell(told[1])

    @Slot(object)
    def _deliver(self, outcome: Outcome) -> None:
        if outcome.generation != self._generation or self._closed:
            return
        context, on_end = self._context, self._on_end
        self._context = self._on_end = None
        if context is not None and context.cancel.is_set():
            outcome = Outcome(outcome.generation, cancelled=True)
        if on_end is not None:
            on_end(outcome)
