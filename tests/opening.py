"""Opening checkpoints as a person does: the dialogs, the wait for the model, and files dropped on the window."""

from pathlib import Path
from typing import Any

from menus import items
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from user import User

from gptviz.app.main_window import MainWindow

REAL = Path(__file__).parent / "checkpoints" / "real_writers"


def dialog_of(user: User, kind: type[Any], qtbot: QtBot) -> Any:
    qtbot.waitUntil(lambda: isinstance(user.window.actions_.opening.dialog, kind))
    return user.window.actions_.opening.dialog


def opened(user: User, qtbot: QtBot, title: str) -> None:
    qtbot.waitUntil(lambda: user.state.model is not None and user.state.model.title == title)
    back(user, qtbot)


def back(user: User, qtbot: QtBot) -> None:
    """Wait, and be at the window again: the offscreen platform does not go back to it after a dialog."""
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    user.waits()


def drop(window: MainWindow, target: QWidget, *paths: Path) -> bool:
    """Drop files on ``target`` as the system does; tell whether they were taken."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place = target.mapTo(window, target.rect().center())
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(target.rect().center()), copy, mime, left, none)
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    event = QDropEvent(QPointF(place), copy, mime, left, none, QEvent.Type.Drop)
    QApplication.sendEvent(window, event)
    return event.isAccepted()


def recent(window: MainWindow) -> list[str]:
    submenu = window.actions_.opening.recent
    submenu.aboutToShow.emit()
    return list(items(submenu))
