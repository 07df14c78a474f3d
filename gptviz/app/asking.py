"""Asking a person: for a file that is there to be opened, or in a dialog of one's own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow

# makes an action of its name, its shortcut, its tip and what it calls
MakeAction = Callable[[str, str, str, Callable[[], object]], QAction]


class Asking(QObject):
    """A group of the window's actions, some of which ask in a dialog."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self.dialog: QDialog | None = None  # that is open

    def show(self, dialog: QDialog, accepted: Callable[[], None], rejected: Callable[[], None] | None = None) -> None:
        """Open a dialog, without waiting for it; there is one at a time."""
        if self.dialog is not None:
            self.dialog.blockSignals(True)
            self.dialog.close()
        self.dialog = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def ended(result: int) -> None:
            self.dialog = None
            self._window.activateWindow()  # without a window manager nobody else gives the keyboard back
            if result == QDialog.DialogCode.Accepted.value:
                accepted()
            elif rejected is not None:
                rejected()

        dialog.finished.connect(ended)
        dialog.open()


def file_to_open(window: QWidget, title: str, place: str, kinds: str) -> str:
    """Return the path of the file that a person chooses, or nothing."""
    path, _ = QFileDialog.getOpenFileName(window, title, place, kinds)
    window.activateWindow()  # without a window manager nobody else gives the keyboard back
    return path


def folder_to_open(window: QWidget, title: str, place: str) -> str:
    """Return the path of the folder that a person chooses, or nothing."""
    path = QFileDialog.getExistingDirectory(window, title, place)
    window.activateWindow()
    return path
