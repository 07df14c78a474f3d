"""Reading the residual stream through the output head, while somebody looks at it."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import reading_jobs
from gptviz.session.explain import explain
from gptviz.session.state import LensView, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session

_PAUSE_MS = 40  # after a new trace, for the panes to be painted
_RETRY_MS = 10  # after which to ask again whether the worker has come to an end


class Lens(QObject):
    """Follows trace and sequence; reads piece by piece, those in sight first, and gives way to what is asked for."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._watched = False
        self._near: int | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether somebody looks, and there is something to be read."""
        state = self._session.state
        view, trace = state.lens, state.trace
        if not self._watched or view.stopped or view.problem or trace is None or not trace.complete:
            return False
        return view.reading is None or not view.reading.complete

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks; nothing is read for nobody."""
        self._watched = watched
        self._begin()
        self._session.checking.go_on()  # it gives way to what somebody looks at

    def look_at(self, position: int) -> None:
        """Read what is near ``position`` first."""
        self._near = position

    def stop(self) -> None:
        """Read no further."""
        if self.pending:
            self._change(stopped=True)

    def go_on(self) -> None:
        """Read on after ``stop``."""
        self._change(stopped=False)
        self._begin()

    def close(self) -> None:
        self._watched = False
        self._timer.stop()

    # --- inside ------------------------------------------------------------------------------------------

    def _change(self, **what: Any) -> None:
        view = self._session.state.lens
        if any(getattr(view, name) is not value for name, value in what.items()):
            self._session.change(lens=replace(view, **what))

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        other = not _same(old, new)
        if other:
            self._session.change(lens=LensView())
        self._begin(_PAUSE_MS if other else 0)

    def _begin(self, pause: int = 0) -> None:
        if self.pending and not self._timer.isActive():
            self._timer.start(pause)

    @Slot()
    def _go_on(self) -> None:
        state = self._session.state
        if not self.pending or self._session.computing or state.generation.playing:
            return
        if not self._session.idle:
            self._timer.start(_RETRY_MS)
            return
        assert state.trace is not None
        assert state.query is not None
        near = state.query if self._near is None else self._near
        work = partial(reading_jobs.read_lens, state.trace, state.selection.row, state.lens.reading, near)
        self._session.submit_quietly(work, partial(self._read, state))

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
