"""Docks: moved, closed, restored, and remembered."""

from collections.abc import Callable

import pytest
from menus import items, menu
from panes_of import pane_of
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QToolButton
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.panes import PANES
from gptviz.panes.attention import AttentionPane

ALT = Qt.KeyboardModifier.AltModifier
NAMES = [pane.name for pane in PANES if pane.at_first]
OpenWindow = Callable[..., MainWindow]


def shown(window: MainWindow) -> list[str]:
    return [name for name, dock in window.docks.items() if not dock.isHidden()]


# --- docks -----------------------------------------------------------------------------------------------


def test_all_panes_are_there_at_first(window: MainWindow) -> None:
    assert shown(window) == NAMES
    assert {"shape-trace", "attention", "layer-norm", "next-token", "generation"} <= set(NAMES)


def test_alt_and_a_number_hide_and_show_a_pane(user: User) -> None:
    for number, name in enumerate(NAMES, start=1):
        key = Qt.Key(Qt.Key.Key_0 + number % 10)
        held = ALT if number <= 10 else ALT | SHIFT

        user.presses(key, held)
        assert name not in shown(user.window)

        user.presses(key, held)
        assert name in shown(user.window)


def test_a_pane_is_closed_by_its_button_and_brought_back_by_the_view_menu(user: User) -> None:
    dock = user.window.docks["generation"]
    close = next(button for button in dock.findChildren(QToolButton) if "Close" in button.toolTip())
    assert close.accessibleName() == "Generation: Close this pane; the View menu brings it back"

    user.clicks(close)
    assert "generation" not in shown(user.window)
    assert not items(menu(user.window, "View"))["Generation"].isChecked()

    items(menu(user.window, "View"))["Generation"].trigger()
    assert "generation" in shown(user.window)


def test_a_pane_can_be_detached_and_put_back(user: User) -> None:
    dock = user.window.docks["generation"]
    detach = next(button for button in dock.findChildren(QToolButton) if "Detach" in button.toolTip())

    user.clicks(detach)
    assert dock.isFloating()

    user.clicks(detach)
    assert not dock.isFloating()


def tabs_of(window: MainWindow, name: str) -> set[str]:
    """The panes that share a place with one."""
    return {dock.objectName().removeprefix("dock-") for dock in window.tabifiedDockWidgets(window.docks[name])}


def test_the_layout_can_be_restored(user: User) -> None:
    before = tabs_of(user.window, "layer-norm")
    assert before
    for name in ("attention", "next-token"):
        user.window.docks[name].close()
    user.window.docks["generation"].setFloating(True)

    user.presses(Qt.Key.Key_0, CONTROL)

    assert shown(user.window) == NAMES
    assert not any(dock.isFloating() for dock in user.window.docks.values())
    assert tabs_of(user.window, "layer-norm") == before


def test_a_pane_that_was_hidden_shows_the_present_state_when_it_comes_back(user: User) -> None:
    attention = pane_of(user.window, AttentionPane)
    user.window.docks["attention"].close()
    user.runs("a b")

    user.window.docks["attention"].show()
    user.brings_up("attention")

    assert attention.map.data is not None
    assert attention.map.data.values.shape == (2, 2)


def test_a_pane_has_a_title_only_where_no_tab_names_it(window: MainWindow, qtbot: QtBot) -> None:
    def titled() -> list[str]:
        return [name for name in shown(window) if window.docks[name].titleBarWidget().height() > 0]

    tabbed = {"layer-norm", *tabs_of(window, "layer-norm")}
    others = {name for name in NAMES if tabs_of(window, name)}
    assert 1 < len(tabbed) <= len(others) < len(NAMES)
    qtbot.waitUntil(lambda: titled() == [name for name in shown(window) if name not in others])

    for neighbour in tabbed - {"layer-norm"}:
        window.docks[neighbour].close()
    qtbot.waitUntil(lambda: "layer-norm" in titled())


# --- settings --------------------------------------------------------------------------------------------


def test_the_layout_is_remembered(open_window: OpenWindow, settings: Settings) -> None:
    first = open_window(settings)
    first.docks["next-token"].close()
    first.docks["layer-norm"].raise_()
    first.close()

    second = open_window(settings)

    assert shown(second) == [name for name in NAMES if name != "next-token"]


def test_a_layout_of_another_version_is_not_restored(open_window: OpenWindow, settings: Settings) -> None:
    first = open_window(settings)
    first.docks["next-token"].close()
    first.close()
    settings._store.setValue("layout/version", "0")

    assert shown(open_window(settings)) == NAMES


@pytest.mark.parametrize(
    "broken",
    [
        {"layout/version": "1", "layout/geometry": "nonsense", "layout/state": "nonsense"},
        {"layout/version": "1", "layout/geometry": QByteArray(b"nonsense"), "layout/state": QByteArray(b"nonsense")},
        {"layout/version": "1"},
        {"layout/version": "one"},
        {"layout/state": QByteArray(b"")},
    ],
)
def test_a_broken_layout_falls_back_to_the_first_one(
    open_window: OpenWindow, settings: Settings, broken: dict[str, object]
) -> None:
    for key, value in broken.items():
        settings._store.setValue(key, value)

    window = open_window(settings)

    assert shown(window) == NAMES
    assert window.docks["flow"].width() > 300


def test_the_look_is_remembered(open_window: OpenWindow, settings: Settings, qtbot: QtBot) -> None:
    window = open_window(settings)
    assert (settings.colour_scheme, settings.lecture_size) == ("system", False)

    qtbot.keyClick(window, Qt.Key.Key_T, CONTROL)
    qtbot.keyClick(window, Qt.Key.Key_L, CONTROL | SHIFT)

    assert (settings.colour_scheme, settings.lecture_size) == ("dark", True)


@pytest.mark.parametrize(("value", "scheme"), [("dark", "dark"), ("light", "light"), ("pink", "system"), (7, "system")])
def test_a_colour_scheme_that_does_not_exist_is_the_systems(settings: Settings, value: object, scheme: str) -> None:
    settings._store.setValue("look/scheme", value)

    assert settings.colour_scheme == scheme


@pytest.mark.parametrize(("value", "lecture"), [("true", True), ("false", False), ("maybe", False), (3, False)])
def test_a_lecture_size_that_does_not_exist_is_the_normal_one(settings: Settings, value: object, lecture: bool) -> None:
    settings._store.setValue("look/lecture", value)

    assert settings.lecture_size is lecture


def test_settings_survive_the_file(settings: Settings, tmp_path: object) -> None:
    from PySide6.QtCore import QSettings

    settings.colour_scheme = "dark"
    settings.lecture_size = True
    settings.save_layout(QByteArray(b"\x00\x01"), QByteArray(b"\x02"))
    settings._store.sync()

    again = Settings(QSettings(settings._store.fileName(), QSettings.Format.IniFormat))

    assert (again.colour_scheme, again.lecture_size) == ("dark", True)
    assert again.layout() == (QByteArray(b"\x00\x01"), QByteArray(b"\x02"))


def test_opening_the_labs_leaves_the_window_as_large_as_it_was(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    window.bench.open(window.bench.names[0])
    qtbot.waitUntil(lambda: all(dock.isVisible() or tabs_of_dock(window, dock) for dock in window.bench.docks.values()))

    assert (window.width(), window.height()) == (1280, 800)


def tabs_of_dock(window: MainWindow, dock: QDockWidget) -> bool:
    """Whether it shares a place with others."""
    return bool(window.tabifiedDockWidgets(dock))
