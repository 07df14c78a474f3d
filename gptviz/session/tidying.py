"""Giving memory back to the system once a person pauses."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import jobs
from gptviz.session.state import ViewState

if TYPE_CHECKING:
    from gptviz.session.session import Session

_PAUSE_MS = 1000


class Tidying(QObject):
    """Traces that were replaced are freed at once, but the C library keeps their memory until it is told."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._tidy)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether there is something to give back."""
        return self._timer.isActive()

    def close(self) -> None:
        self._timer.stop()

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.trace is not old.trace:
            self._timer.start()

    @Slot()
    def _tidy(self) -> None:
        if not self._session.idle or self._session.watched or self._session.measuring.unfinished:
            self._timer.start()
        else:
            self._session.submit_quietly(jobs.give_memory_back, lambda outcome: None)
