"""A widget on its own, in the light look."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gptviz.app.appearance import Appearance

Show = Callable[..., None]


@pytest.fixture
def show(appearance: Appearance, qtbot: QtBot) -> Iterator[Show]:
    """A function that shows a widget in a window of a size."""
    windows: list[QWidget] = []

    def show(widget: QWidget, width: int = 400, height: int = 300) -> None:
        window = QWidget()
        windows.append(window)
        layout = QVBoxLayout(window)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(widget)
        window.resize(width, height)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        widget.setFocus()

    yield show
    for window in windows:
        window.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def picture(qtbot: QtBot) -> Callable[[QWidget], QImage]:
    """A function that grabs what a widget shows, in pixels of the widget."""
    return lambda widget: widget.grab().toImage()
