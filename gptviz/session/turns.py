"""Doing several things one after the other, with the event loop in between."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from shiboken6 import isValid

_PAUSE_MS = 2  # in which what was just drawn is painted, and keys and clicks are heard


class Turns(QObject):
    """Runs what was added in turn: ten panes that show a trace at once would stop the window for a while.

    The first one goes at once. Whoever still waits when something newer comes is called once, for the newest.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[QObject, Callable[[], None]] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._next)

    @property
    def pending(self) -> bool:
        """Whether somebody waits for a turn."""
        return bool(self._waiting)

    def add(self, owner: QObject, call: Callable[[], None]) -> None:
        """Call ``call`` when the turn comes to ``owner``, if it still exists."""
        if self._timer.isActive():
            self._waiting[owner] = call
        else:
            self._timer.start()
            call()

    def close(self) -> None:
        """Forget who waits."""
        self._waiting.clear()
        self._timer.stop()

    @Slot()
    def _next(self) -> None:
        if not self._waiting:
            return
        owner = next(iter(self._waiting))
        call = self._waiting.pop(owner)
        self._timer.start()
        if isValid(owner):
            call()
