"""A person at the window: clicks, keys, and what they read."""

from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QApplication, QWidget
from pytestqt.qtbot import QtBot

from gptviz.app.main_window import MainWindow
from gptviz.session.state import ViewState

NO_MODIFIER = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class User:
    """Does to a window what a person does."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window = window
        self._qtbot = qtbot

    @property
    def state(self) -> ViewState:
        return self.window.session.state

    def waits(self) -> None:
        """Wait until nothing is under way."""
        self._qtbot.waitUntil(lambda: not self.window.session.busy)

    def clicks(self, widget: QWidget, at: QPoint | QPointF | None = None) -> None:
        """Click with the left button, in the middle or ``at`` a place of the widget's contents."""
        target = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
        assert target.isVisible()
        place = target.rect().center() if at is None else QPointF(at).toPoint()
        assert target.rect().contains(place)
        self._qtbot.mouseClick(target, Qt.MouseButton.LeftButton, pos=place)

    def clicks_row(self, view: QAbstractItemView, index: QModelIndex) -> None:
        """Click on a row of a table or a tree."""
        assert index.isValid()
        view.scrollTo(index)
        self.clicks(view, view.visualRect(index).center())

    def points_at(self, widget: QAbstractScrollArea, at: QPointF) -> None:
        """Move the mouse over a place of the widget's contents."""
        self._qtbot.mouseMove(widget.viewport(), QPointF(at).toPoint() - QPoint(1, 1))
        self._qtbot.mouseMove(widget.viewport(), QPointF(at).toPoint())

    def presses(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        """Press a key where the keyboard's focus is."""
        self._qtbot.keyClick(QApplication.focusWidget() or self.window, key, modifiers)

    def types(self, edit: QWidget, text: str) -> None:
        """Replace what stands in a field, key by key."""
        self._empties(edit)
        self._qtbot.keyClicks(edit, text)

    def pastes(self, edit: QWidget, text: str) -> None:
        """Replace what stands in a field, at once."""
        self._empties(edit)
        QGuiApplication.clipboard().setText(text)
        self.presses(Qt.Key.Key_V, CONTROL)

    def _empties(self, edit: QWidget) -> None:
        edit.setFocus()
        self.presses(Qt.Key.Key_A, CONTROL)
        self.presses(Qt.Key.Key_Delete)

    def writes(self, text: str) -> None:
        """Replace the prompt by ``text``: typed if there is a key for every character, else pasted."""
        if text.isascii() and text.isprintable() and len(text) < 40:
            self.types(self.window.prompt_bar.edit, text)
        else:
            self.pastes(self.window.prompt_bar.edit, text)
        assert self.window.prompt_bar.edit.toPlainText() == text

    def runs(self, text: str) -> None:
        """Write a prompt, press Enter, and wait."""
        self.writes(text)
        self.presses(Qt.Key.Key_Return)
        self.waits()

    def brings_up(self, pane: str) -> None:
        """Bring a pane to the front."""
        self.window.docks[pane].raise_()
        self._qtbot.waitUntil(self.window.docks[pane].pane.isVisible)
