"""The keys that walk through a pass, wherever the keyboard is."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QWidget,
)
from shiboken6 import isValid

from gptviz.session.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

# These have a use of their own for the arrow keys: they move a cursor or a value. A widget of gptviz in which they
# move a selection says so by an attribute ``keeps_arrows``.
_KEEP_ARROWS = (QLineEdit, QAbstractSpinBox, QAbstractSlider, QComboBox)


class WalkKeys(QObject):
    """Looks at the keys of whatever has the focus in ``window``, before it does."""

    def __init__(self, window: QMainWindow, walk: Walk) -> None:
        super().__init__(window)
        self._window = window
        shift = Qt.KeyboardModifier.ShiftModifier
        plain = Qt.KeyboardModifier.NoModifier
        self._calls: dict[tuple[int, Qt.KeyboardModifier], Callable[[], None]] = {
            (Qt.Key.Key_Right, plain): walk.forward,
            (Qt.Key.Key_Left, plain): walk.back,
            (Qt.Key.Key_Right, shift): walk.next_block,
            (Qt.Key.Key_Left, shift): walk.previous_block,
            (Qt.Key.Key_Home, plain): walk.first,
            (Qt.Key.Key_End, plain): walk.last,
            (Qt.Key.Key_Space, plain): walk.toggle,
        }
        self._watched: QWidget | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._focus_changed)

    @Slot(QWidget, QWidget)
    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None and isValid(self._watched):
            self._watched.removeEventFilter(self)
        self._watched = new if new is not None and new.window() is self._window else None
        if self._watched is not None:
            self._watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        call = self._calls.get((event.key(), modifiers))
        if call is None or _keeps(watched, event.key()):
            return False
        call()
        return True


def _keeps(widget: QObject, key: int) -> bool:
    if isinstance(widget, QPlainTextEdit):
        return not widget.isReadOnly()
    if key == Qt.Key.Key_Space and isinstance(widget, QAbstractButton):
        return True
    return isinstance(widget, _KEEP_ARROWS) or getattr(widget, "keeps_arrows", False) is True
