"""Writing files: pictures, tables, tensors and slides. The disk is the worker's; the window paints and goes on."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gptviz.session import exporting_jobs as jobs
from gptviz.session.explain import explain
from gptviz.session.handover import Handover
from gptviz.session.state import Message
from gptviz.session.worker import Cancelled, JobContext, Outcome, Worker

if TYPE_CHECKING:
    from gptviz.analysis.table import Table
    from gptviz.capture.trace import Trace
    from gptviz.session.session import Session

Produce = Callable[[BinaryIO, JobContext], str]
_SEVERAL = ("Slides", "Tensors")  # what is named in the plural


class Exporting(QObject):
    """One file after the other. ``state.notice`` tells of it when it is there, ``state.message`` if it can't be.

    What needs the model runs where the model runs; the rest has a thread of its own, so that a picture can be taken
    of a pass that is held.
    """

    page_wanted = Signal(object, object)  # a slide, and the Handover that waits for the bytes of its page
    slides_begun = Signal()
    slides_ended = Signal()  # also if they were given up
    _stopped = Signal(str)  # what the model was to write, when something else took its place

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._worker = Worker("export", self)
        self._waiting: deque[tuple[str, Path, Produce]] = deque()  # behind the file that is being written
        self._stopped.connect(self._tell_stopped, Qt.ConnectionType.QueuedConnection)

    @property
    def pending(self) -> bool:
        """Whether a file is being written in the thread of its own, or waits for that."""
        return self._worker.context is not None or bool(self._waiting)

    def write(self, what: str, path: Path, produce: Produce) -> None:
        """Write a file whose bytes ``produce`` makes, in the worker; ``what`` names it, such as "Heads as PNG".

        One that is asked for while another is being written comes after it.
        """
        idle = not self.pending
        self._waiting.append((what, path, produce))
        if idle:
            self._session.change(message=None)
            self._begin_next()

    def table(self, what: str, path: Path, table: "Table") -> None:
        """Write ``table`` as CSV."""
        self.write(what, path, partial(jobs.write_table, table))

    def tensor(self, what: str, path: Path, stage: str) -> None:
        """Write the tensor of ``stage`` as .npy."""
        trace = self._trace_for(what)
        if trace is not None:
            self._compute(what, path, partial(jobs.write_stage, trace, stage))

    def tensors(self, what: str, path: Path, stages: Sequence[str] | None = None) -> None:
        """Write ``stages``, or all, as safetensors; blocks that are not at hand run again, one after the other."""
        trace = self._trace_for(what)
        if trace is not None:
            texts = [self._session.text_of(row) for row in trace.ids.tolist()]
            known = jobs.metadata_of(self._session.state, texts)
            names = trace.names if stages is None else tuple(stages)
            self._compute(what, path, partial(jobs.write_stages, trace, names, known))

    def slides(self, what: str, path: Path) -> None:
        """Write the run as slides; whoever hears ``page_wanted`` paints them."""
        trace = self._trace_for(what)
        if trace is not None:
            state = self._session.state
            text = self._session.text_of(trace.ids[state.selection.row].tolist())
            request = jobs.SlidesRequest(trace, state, text, self._session.token_text)
            handover = Handover()
            self.slides_begun.emit()
            produce = partial(self._write_slides, request, handover)
            self._compute(what, path, produce, partial(self._tell, handover))

    def cancel(self) -> None:
        """Stop writing; nothing is left of the file, and those behind it do not begin."""
        self._waiting.clear()
        self._worker.cancel()

    def close(self) -> None:
        self._waiting.clear()
        self._worker.close()
        self.slides_ended.emit()

    # --- inside ------------------------------------------------------------------------------------------

    def _begin_next(self) -> None:
        what, path, produce = self._waiting.popleft()
        self._session.change(notice=f"Writing {path.name}…")
        self._worker.submit(partial(jobs.write_file, path, produce), partial(self._ended, what))

    def _trace_for(self, what: str) -> "Trace | None":
        """Return the trace to be exported; say why if there is none, or if the model is busy."""
        state = self._session.state
        if state.trace is None:
            self._refuse(what, "no pass has run yet", "Press Run first")
        elif self._session.computing:
            self._refuse(what, "the model is computing", "Wait until it is done or press Esc, then export again")
        else:
            return state.trace
        return None

    def _refuse(self, what: str, why: str, remedy: str) -> None:
        self._session.change(message=Message(_not_written(what), why, remedy))

    def _compute(
        self, what: str, path: Path, produce: Produce, on_tell: Callable[[object], None] | None = None
    ) -> None:
        work = partial(self._work, what, partial(jobs.write_file, path, produce))
        on_end = partial(self._computed, what)
        self._session.submit(f"Writing {path.name}", work, on_end, on_tell, message=None)

    def _work(self, what: str, work: Callable[[JobContext], object], context: JobContext) -> object:
        """Runs in the worker, whose outcome nobody hears of when another job has taken its place."""
        try:
            return work(context)
        except Cancelled:
            self._stopped.emit(what)
            raise

    @Slot(str)
    def _tell_stopped(self, what: str) -> None:
        self._session.change(notice=_stopped(what))

    def _write_slides(
        self, request: jobs.SlidesRequest, handover: Handover, file: BinaryIO, context: JobContext
    ) -> str:
        """Runs in the worker, whose outcome nobody hears of when another job has taken its place."""
        try:
            return jobs.write_slides(request, handover, file, context)
        finally:
            self.slides_ended.emit()

    def _tell(self, handover: Handover, slide: object) -> None:
        self.page_wanted.emit(slide, handover)

    def _computed(self, what: str, outcome: Outcome) -> None:
        self._session.finish(outcome, _not_written(what), notice=_notice(what, outcome))

    def _ended(self, what: str, outcome: Outcome) -> None:
        self._session.change(notice=_notice(what, outcome))
        if outcome.error is not None:
            self._session.change(message=explain(_not_written(what), outcome.error))
        if self._waiting:
            self._begin_next()


def _notice(what: str, outcome: Outcome) -> str:
    """Say what was written where, and how large it is."""
    if outcome.cancelled:
        return _stopped(what)
    return f"{what}: {outcome.result}" if isinstance(outcome.result, jobs.Written) else ""


def _not_written(what: str) -> str:
    return f"{what} {'were' if what.startswith(_SEVERAL) else 'was'} not written"


def _stopped(what: str) -> str:
    return f"{what}: stopped, and no file was written"
