"""The menus of a window, as a person reads them."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from gptviz.app.main_window import MainWindow


def menu(window: MainWindow, title: str) -> QMenu:
    action = next(action for action in window.menuBar().actions() if action.text() == title)
    found = action.menu()
    assert isinstance(found, QMenu)
    return found


def items(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}
