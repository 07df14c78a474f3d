"""Reading the residual stream through the output head, while somebody looks at it."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot

from gptviz.session import reading_jobs
from gptviz.session.explain import explain
from gptviz.session.quiet_reading import PAUSE_MS, QuietReading
from gptviz.session.state import LensView, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session


class Lens(QuietReading):
    """Follows trace and sequence; reads piece by piece, those in sight first, and gives way to what is asked for."""

    view = "lens"

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._near: int | None = None

    def look_at(self, position: int) -> None:
        """Read what is near ``position`` first."""
        self._near = position

    # --- inside ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        other = not _same(old, new)
        if other:
            self._session.change(lens=LensView())
        self._begin(PAUSE_MS if other else 0)

    def _next(self) -> "tuple[Any, Any] | None":
        state = self._session.state
        view, trace = state.lens, state.trace
        if not self._watched or view.stopped or view.problem or trace is None or not trace.complete:
            return None
        if view.reading is not None and view.reading.complete:
            return None
        assert state.query is not None
        near = state.query if self._near is None else self._near
        work = partial(reading_jobs.read_lens, trace, state.selection.row, view.reading, near)
        return work, partial(self._read, state)

    def _read(self, asked: ViewState, outcome: Outcome) -> None:
        if not _same(asked, self._session.state):
            return  # of what nobody looks at any more
        if outcome.result is not None:
            self._change(reading=outcome.result)
        elif outcome.cancelled:
            self.stop()
        elif outcome.error is not None:
            self._change(problem=str(explain("The stream could not be read", outcome.error)))


def _same(one: ViewState, other: ViewState) -> bool:
    """Tell whether both show the same sequence of the same pass; blocks that are replayed make no other pass."""
    if one.trace is None or other.trace is None:
        return one.trace is other.trace
    return one.trace.kept is other.trace.kept and one.selection.row == other.selection.row
