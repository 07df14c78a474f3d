"""Doing something once the window has been painted for the first time."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

_LATEST_MS = 1500  # a window that is never painted, as behind others, must not wait for good


class AfterFirstPaint(QObject):
    """Calls ``then``: importing torch holds the interpreter, and a window that waits for it looks broken."""

    def __init__(self, parent: QObject, then: Callable[[], None]) -> None:
        super().__init__(parent)
        self._then = then
        self._done = False
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(self)
        QTimer.singleShot(_LATEST_MS, self, self._go)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and not self._done:
            QTimer.singleShot(0, self, self._go)  # comes when the whole window is painted
        return False

    @Slot()
    def _go(self) -> None:
        app = QApplication.instance()
        if not self._done and app is not None:
            self._done = True
            app.removeEventFilter(self)
            self._then()
