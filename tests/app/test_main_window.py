"""The window: actions, docks, look, settings, status and closing."""

import threading
from collections.abc import Callable

import pytest
from holding import Hold, SlowBuild
from menus import items, menu
from panes_of import pane_of
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.panes import PANES
from gptviz.panes.attention import AttentionPane
from gptviz.session.session import Session
from gptviz.widgets.theme import DARK, LIGHT, current

ALT = Qt.KeyboardModifier.AltModifier
NAMES = [pane.name for pane in PANES]
OpenWindow = Callable[..., MainWindow]
pytestmark = pytest.mark.with_panes("attention")


# --- actions ---------------------------------------------------------------------------------------------


def all_actions(window: MainWindow) -> list[QAction]:
    """Every action in a menu of the window."""
    found: list[QAction] = []
    menus = [action.menu() for action in window.menuBar().actions()]
    while menus:
        for action in menus.pop().actions():
            if isinstance(action.menu(), QMenu):
                menus.append(action.menu())
            elif not action.isSeparator():
                found.append(action)
    return found


def key_of(action: QAction) -> str:
    """The shortcut, or the key beside the text that the window itself listens to."""
    return action.shortcut().toString() or action.text().partition("\t")[2]


def test_every_action_has_a_shortcut_and_a_tooltip_that_names_it(window: MainWindow) -> None:
    actions = all_actions(window)

    assert len(actions) > 20
    without = [action.text() for action in actions if not key_of(action)]
    unnamed = [action.text() for action in actions if f"({key_of(action)})" not in action.toolTip()]
    assert (without, unnamed) == ([], [])


def test_no_shortcut_is_given_twice(window: MainWindow) -> None:
    shortcuts = [key_of(action) for action in all_actions(window)]

    assert sorted(shortcuts) == sorted(set(shortcuts))


def test_control_l_goes_to_the_prompt(user: User) -> None:
    user.window.docks["attention"].pane.setFocus()

    user.presses(Qt.Key.Key_L, CONTROL)

    assert user.window.prompt_bar.edit.hasFocus()
    assert user.window.prompt_bar.edit.textCursor().selectedText() == "Hello, I am"


def test_the_model_menu_builds_another_model(user: User) -> None:
    assert user.state.model is not None
    first = user.state.model

    user.presses(Qt.Key.Key_5, CONTROL)
    user.waits()

    assert user.state.model is not first
    assert user.state.model.title == "tiny"
    assert user.state.trace is not None


def test_the_model_is_named(window: MainWindow) -> None:
    button = next(button for button in window.findChildren(QToolButton) if button.accessibleName() == "Model")

    assert button.text().startswith("tiny · seed 123 · 3.2 M")


def test_the_seed_can_be_chosen(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def answer(window: object, title: str, text: str, seed: int, *limits: int) -> tuple[int, bool]:
        asked.append(seed)
        return 7, True

    monkeypatch.setattr("gptviz.app.actions.QInputDialog.getInt", answer)
    user.presses(Qt.Key.Key_S, CONTROL | SHIFT)
    user.waits()

    assert asked == [123]
    assert user.state.model is not None
    assert (user.state.model.title, user.state.model.seed) == ("tiny", 7)


def test_declining_the_seed_changes_nothing(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    before = user.state
    monkeypatch.setattr("gptviz.app.actions.QInputDialog.getInt", lambda *_: (7, False))

    user.presses(Qt.Key.Key_S, CONTROL | SHIFT)

    assert user.state is before


def test_f1_says_what_this_is(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("gptviz.app.actions.QMessageBox.about", lambda window, title, text: told.append(text))

    user.presses(Qt.Key.Key_F1)

    assert "Every number on screen comes from a tensor" in told[0]


def test_control_q_closes(user: User) -> None:
    user.presses(Qt.Key.Key_Q, CONTROL)

    assert not user.window.isVisible()


# --- look ------------------------------------------------------------------------------------------------


def label_lightness(window: MainWindow) -> tuple[int, int]:
    """Lightness of the ground and of the ink beside the attention map, where its rows are named."""
    attention = pane_of(window, AttentionPane)
    image, box = attention.map.grab().toImage(), attention.map.cell_box(0, 0)
    ground = window.palette().color(window.backgroundRole()).lightness()
    rows = range(int(box.top()), int(box.bottom()))
    beside = [image.pixelColor(x, y).lightness() for x in range(int(box.left()) - 8) for y in rows]
    return ground, max(beside, key=lambda lightness: abs(lightness - ground))


@pytest.mark.with_all_panes
def test_control_t_changes_between_light_and_dark(user: User) -> None:
    def ground() -> str:
        return QApplication.palette().color(user.window.backgroundRole()).name().upper()

    assert ground() == LIGHT.window
    user.presses(Qt.Key.Key_T, CONTROL)
    assert ground() == DARK.window
    user.presses(Qt.Key.Key_T, CONTROL)
    assert ground() == LIGHT.window


def test_the_window_is_painted_in_the_theme(user: User) -> None:
    def corner() -> str:
        top = user.window.prompt_bar.mapTo(user.window, QPoint()).y()
        return user.window.grab().toImage().pixelColor(2, top + 4).name()

    assert corner().upper() == LIGHT.window
    user.presses(Qt.Key.Key_T, CONTROL)
    assert corner().upper() == DARK.window


def test_the_labels_of_the_map_can_be_read_in_both_themes(user: User) -> None:
    ground, ink = label_lightness(user.window)
    assert ground > 240
    assert ink < 130

    user.presses(Qt.Key.Key_T, CONTROL)
    ground, ink = label_lightness(user.window)
    assert ground < 40
    assert ink > 120


def test_the_button_changes_the_theme_too(user: User) -> None:
    buttons = {button.accessibleName(): button for button in user.window.findChildren(QToolButton)}

    user.clicks(buttons["Light or dark"])

    assert current() is DARK


def test_the_colours_menu_chooses_a_theme(user: User) -> None:
    colours = items(menu(user.window, "View"))["Colours"].menu()
    assert isinstance(colours, QMenu)

    items(colours)["Dark"].trigger()
    assert current() is DARK

    items(colours)["Light"].trigger()
    assert current() is LIGHT


def test_the_menus_tick_what_is_in_use_however_it_was_chosen(user: User) -> None:
    colours = items(menu(user.window, "View"))["Colours"].menu()
    assert isinstance(colours, QMenu)

    def ticked(menu: QMenu) -> list[str]:
        return [text for text, action in items(menu).items() if action.isChecked()]

    assert ticked(menu(user.window, "Model")) == ["tiny, random weights"]
    assert ticked(colours) == ["Light"]

    user.presses(Qt.Key.Key_T, CONTROL)
    assert ticked(colours) == ["Dark"]


@pytest.mark.with_all_panes
def test_lecture_size_enlarges_everything_and_goes_back(user: User) -> None:
    bar = user.window.prompt_bar
    before = bar.run.height(), bar.strip.chip_box(0).height(), user.window.menuBar().fontInfo().pixelSize()

    user.presses(Qt.Key.Key_L, CONTROL | SHIFT)
    QApplication.processEvents()
    larger = bar.run.height(), bar.strip.chip_box(0).height(), user.window.menuBar().fontInfo().pixelSize()
    assert [new / old for new, old in zip(larger, before, strict=True)] == pytest.approx([1.5] * 3, abs=0.1)

    user.presses(Qt.Key.Key_L, CONTROL | SHIFT)
    QApplication.processEvents()
    assert (bar.run.height(), bar.strip.chip_box(0).height(), user.window.menuBar().fontInfo().pixelSize()) == before


# --- for everyone ----------------------------------------------------------------------------------------


def spoken(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name)


def takes_focus(widget: QWidget) -> bool:
    """Whether the keyboard can be here; where there is a proxy, it is there instead."""
    return widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.focusProxy() is None and widget.isVisible()


@pytest.mark.with_all_panes
def test_everything_that_takes_the_focus_has_a_name(user: User) -> None:
    user.window.session.loop.step()
    user.runs("")  # so that the banner is there
    unnamed: list[str] = []
    for pane in ("layer-norm", "attention"):
        user.brings_up(pane)
        unnamed += [
            f"{type(widget).__name__} {widget.objectName()}"
            for widget in user.window.findChildren(QWidget)
            if takes_focus(widget) and not spoken(widget)
        ]

    assert unnamed == []


@pytest.mark.with_all_panes
def test_the_tab_key_leads_from_the_prompt_to_run_and_around(user: User) -> None:
    user.brings_up("attention")
    user.presses(Qt.Key.Key_L, CONTROL)

    names: list[str] = []
    while not names or not user.window.prompt_bar.edit.hasFocus():
        assert len(names) < 100
        user.presses(Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        assert focus is not None
        names.append(spoken(focus))
    assert "Run" in names[:2]
    assert {"Tokens", "Stages of the forward pass", "Attention map of the chosen head", "Attention heads"} <= set(names)
    assert {"Likeliest next tokens", "Step", "Play"} <= set(names)


def test_the_focus_can_be_seen(user: User) -> None:
    run = user.window.prompt_bar.run
    without = run.grab().toImage()

    run.setFocus()

    assert run.grab().toImage() != without


# --- status ----------------------------------------------------------------------------------------------


def test_after_a_run_the_status_has_the_figures_of_the_trace(window: MainWindow) -> None:
    figures = window.status.figures.text()

    assert window.status.activity.text() == "Ready"
    assert not window.status.progress.isVisible()
    assert not window.status.cancel.isVisible()
    assert "forward " in figures
    assert "2 of 2 blocks at hand" in figures
    assert "CPU, " in figures


def test_while_the_model_is_built_there_is_progress(
    open_window: OpenWindow, session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    window = open_window()

    session.start("tiny", 123)

    qtbot.waitUntil(lambda: window.status.activity.text() == "Initialising tiny…")
    assert window.status.progress.share == 0.5
    assert window.status.cancel.isVisible()


def test_the_build_can_be_cancelled_with_a_click(
    open_window: OpenWindow, session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    window = open_window()
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    qtbot.mouseClick(window.status.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not session.busy)

    assert session.state.model is None
    assert not window.status.progress.isVisible()


def test_while_a_pass_runs_the_status_counts_the_stages(user: User, hold: Hold, qtbot: QtBot) -> None:
    hold("trf_blocks.1.norm1")

    user.presses(Qt.Key.Key_Return, CONTROL)

    qtbot.waitUntil(lambda: user.window.status.activity.text().endswith("stage 28 / 55"))
    assert user.window.status.activity.text().startswith("Running the forward pass…")
    assert user.window.status.progress.share == pytest.approx(28 / 55)


# --- closing ---------------------------------------------------------------------------------------------


def is_over(window: MainWindow) -> bool:
    """Whether the window is gone and all work with it."""
    working = [thread for thread in threading.enumerate() if thread.name.startswith("gptviz-")]
    return not window.isVisible() and not working


def test_the_window_can_be_closed_before_anything_has_begun(open_window: OpenWindow) -> None:
    window = open_window()

    window.close()

    assert is_over(window)


def test_the_window_can_be_closed_while_the_model_is_built(
    open_window: OpenWindow, session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    window = open_window()
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    window.close()

    assert is_over(window)
    assert session.state.model is None


@pytest.mark.with_all_panes
def test_the_window_can_be_closed_during_a_pass(user: User, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.0.norm1", until_cancelled=True)
    user.presses(Qt.Key.Key_Return, CONTROL)
    qtbot.waitUntil(lambda: gate.reached)

    user.window.close()

    assert is_over(user.window)


@pytest.mark.with_all_panes
def test_the_window_can_be_closed_while_it_generates(user: User, qtbot: QtBot) -> None:
    user.presses(Qt.Key.Key_G, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: len(user.state.generation.steps) >= 2)

    user.window.close()

    assert is_over(user.window)
