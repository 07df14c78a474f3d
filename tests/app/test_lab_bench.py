"""The bench of labs: it takes the place of the model's panes, and gives it back."""

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.panes import LABS


def tab_rows(window: MainWindow) -> list[list[str]]:
    """The rows of tabs that can be seen, from left to right."""
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible() and window.rect().contains(bar.geometry())]
    bars.sort(key=lambda bar: bar.x())
    for bar, other in pairwise(bars):
        assert not bar.geometry().intersects(other.geometry())
    return [[bar.tabText(place) for place in range(bar.count())] for bar in bars]


@pytest.mark.parametrize("lecture", [False, True])
def test_labs_and_back_leave_the_window_as_large_and_no_tabs_behind(user: User, qtbot: QtBot, lecture: bool) -> None:
    window = user.window
    window.set_lecture(lecture)
    window.resize(1280, 800)
    before = tab_rows(window)
    assert len(before) == 2

    for _ in range(2):
        user.presses(Qt.Key.Key_F2)
        qtbot.waitUntil(lambda: tab_rows(window) == [[lab.title for lab in LABS]])
        assert (window.width(), window.height()) == (1280, 800)

        user.presses(Qt.Key.Key_F2)
        qtbot.waitUntil(lambda: tab_rows(window) == before)
        assert (window.width(), window.height()) == (1280, 800)
