"""Doing several things one after the other, with the event loop in between."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from shiboken6 import isValid

_PAUSE_MS = 2  # in which what was just drawn is painted, and keys and clicks are heard


class Turns(QObject):
    """Runs what was added in turn: ten panes that show a large trace at once would stop the window for a while."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[QObject, Callable[[], None]] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._next)

    def add(self, owner: QObject, call: Callable[[], None]) -> None:
        """Call ``call`` when the turn comes to ``owner``, if it still exists."""
        self._waiting[owner] = call
        if not self._timer.isActive():
            self._timer.start()

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
        if self._waiting:
            self._timer.start()
        if isValid(owner):
            call()
