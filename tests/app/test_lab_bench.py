"""The bench of labs: it takes the place of the model's panes, and gives it back."""

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

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


def test_keys_belong_to_the_lab_in_front(user: User, qtbot: QtBot) -> None:
    bench, alt = user.window.bench, Qt.KeyboardModifier.AltModifier
    for name in ("lab-configuration", "lab-gelu", "lab-gradients"):
        bench.open(name)
        pane = bench.docks[name].pane
        qtbot.waitUntil(lambda name=name, pane=pane: bench.docks[name].is_in_sight and pane.isVisible())
        qtbot.waitUntil(lambda: not user.window.session.labs.pending)
    field = bench.docks["lab-gradients"].pane.fields["depth"]

    field.edit.setFocus()
    user.presses(Qt.Key.Key_Up)
    assert field.value == 6
    user.presses(Qt.Key.Key_B, alt)  # builds in the lab of configurations
    user.presses(Qt.Key.Key_R, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: field.value == 5)
    user.waits()
    assert user.state.model is not None
    assert user.state.model.title == "tiny"

    bench.open("lab-configuration")
    pane = bench.docks["lab-configuration"].pane
    qtbot.waitUntil(lambda: bench.docks["lab-configuration"].is_in_sight and not user.window.session.labs.pending)
    user.presses(Qt.Key.Key_C, alt)
    qtbot.waitUntil(lambda: pane.note.text() == "Copied.")
