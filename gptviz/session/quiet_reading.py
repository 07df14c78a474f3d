"""Reading something off the trace in quiet jobs, while somebody looks at it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

if TYPE_CHECKING:
    from gptviz.session.session import Session

PAUSE_MS = 40  # after a new trace, for the panes to be painted
RETRY_MS = 10  # after which to ask again whether the worker has come to an end


class QuietReading(QObject):
    """Reads piece by piece and gives way to what is asked for.

    A subclass says in ``_next`` what is to be read, and keeps what was read in the state's field ``view``, which has
    ``stopped`` and ``problem``.
    """

    view: str

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._watched = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether there is something to be read at present."""
        return self._next() is not None

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks; nothing is read for nobody."""
        self._watched = watched
        self._begin()
        self._session.checking.go_on()  # it gives way to what somebody looks at

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

    def _next(self) -> "tuple[Any, Any] | None":
        """Return the next piece of work and what takes its outcome; None if there is nothing to be read."""
        raise NotImplementedError

    @Slot(object, object)
    def _state_changed(self, old: Any, new: Any) -> None:
        """Drop what is no longer true, and begin."""
        raise NotImplementedError

    def _change(self, **what: Any) -> None:
        view = getattr(self._session.state, self.view)
        if any(getattr(view, name) is not value for name, value in what.items()):
            self._session.change(**{self.view: replace(view, **what)})

    def _begin(self, pause: int = 0) -> None:
        if not self._timer.isActive() and self.pending:
            self._timer.start(pause)

    @Slot()
    def _go_on(self) -> None:
        if self._session.computing or self._session.state.generation.playing:
            return
        following = self._next()
        if following is None:
            return
        if not self._session.idle:
            self._timer.start(RETRY_MS)
            return
        self._session.submit_quietly(*following)
