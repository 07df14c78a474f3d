"""Saving and opening runs at the window: by key, by menu, by drag and drop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from menus import items, menu
from opening import back, drop, recent
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot
from user import CONTROL, User

from gptviz.app.save_dialog import SaveDialog

pytestmark = pytest.mark.without_panes("flow", "stage", "attention", "layer-norm", "checks", "shape-trace")
ALT = Qt.KeyboardModifier.AltModifier


def dialog_of(user: User, kind: type[Any], qtbot: QtBot) -> Any:
    qtbot.waitUntil(lambda: isinstance(user.window.actions_.runs.dialog, kind))
    return user.window.actions_.runs.dialog


def saves(user: User, path: Path, qtbot: QtBot) -> None:
    user.presses(Qt.Key.Key_S, CONTROL)
    asked = dialog_of(user, SaveDialog, qtbot)
    qtbot.keyClick(asked.field.edit, Qt.Key.Key_Return)
    files = dialog_of(user, QFileDialog, qtbot)
    files.selectFile(str(path))
    files.accept()
    back(user, qtbot)


def test_a_run_is_saved_by_key_and_the_status_says_what_was_written(user: User, tmp_path: Path, qtbot: QtBot) -> None:
    saves(user, tmp_path / "mine", qtbot)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.gptviz"]
    assert user.state.message is None
    said = user.window.status.activity.text()
    assert said.startswith("Saved mine.gptviz, 0.")
    assert said.endswith(" MB: all 2 blocks")
    user.runs("Another")
    assert user.window.status.activity.text() == "Ready"


def test_the_dialog_says_what_a_budget_takes_in(user: User, qtbot: QtBot) -> None:
    user.runs("one two three four five six seven eight nine ten")
    user.presses(Qt.Key.Key_S, CONTROL)
    dialog = dialog_of(user, SaveDialog, qtbot)
    assert dialog.amount.text().endswith(" MB of tensors: all 2 blocks")

    dialog.field.edit.selectAll()
    qtbot.keyClicks(dialog.field.edit, "1")
    assert dialog.amount.text() == "Too small: the pass on screen needs 2 MB"
    assert not dialog.ok.isEnabled()
    dialog.field.edit.selectAll()
    qtbot.keyClicks(dialog.field.edit, "2")
    assert dialog.ok.isEnabled()
    qtbot.keyClicks(dialog.field.edit, "x")
    qtbot.keyClick(dialog.field.edit, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "is no number" in dialog.field.warning.text()
    assert dialog.amount.text() == "–"
    assert not dialog.ok.isEnabled()

    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    back(user, qtbot)


def test_a_recorded_run_is_marked_and_its_model_comes_with_a_click(
    user: User, choose: Callable[[Path | str], None], tmp_path: Path, qtbot: QtBot
) -> None:
    bar = user.window.prompt_bar
    assert not bar.load.isVisible()
    saves(user, tmp_path / "mine.gptviz", qtbot)
    user.runs("Another")
    choose(tmp_path / "mine.gptviz")

    user.presses(Qt.Key.Key_O, CONTROL | ALT)
    user.waits()

    assert bar.edit.text() == "Hello, I am"
    assert user.window.model_button.text() == "tiny · seed 123 · 3.2 M · recorded  ▾"
    assert user.window.windowTitle() == "gptviz – recorded run"
    assert bar.notice.text().startswith("recorded 2")
    assert bar.notice.text().endswith(": the model is not loaded")
    assert not bar.see_trained.isVisible()
    trace = user.state.trace

    user.clicks(bar.load)
    user.waits()

    assert user.state.trace is not None
    assert trace is not None
    assert user.state.trace.kept is trace.kept
    assert user.window.model_button.text() == "tiny · seed 123 · 3.2 M  ▾"
    assert bar.notice.text() == "random weights: the text is noise"
    assert not bar.load.isVisible()


def test_a_dropped_run_opens_and_stands_in_the_recent_files(user: User, tmp_path: Path, qtbot: QtBot) -> None:
    saves(user, tmp_path / "mine.gptviz", qtbot)
    assert drop(user.window, user.window, tmp_path / "mine.gptviz")
    user.waits()

    assert user.state.recorded is not None
    assert recent(user.window)[0].endswith("mine.gptviz")
    user.runs("Another")
    assert user.state.recorded is None
    user.window.actions_.opening.recent.actions()[0].trigger()
    user.waits()
    assert user.state.recorded is not None


def test_a_file_that_is_none_is_a_message(
    user: User, choose: Callable[[Path | str], None], tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "a.gptviz").write_text("a text that is no run at all")
    choose(tmp_path / "a.gptviz")
    before = user.state.trace

    items(menu(user.window, "File"))["Open run…"].trigger()
    user.waits()

    assert user.window.banner.label.text() == (
        "The run could not be opened: a.gptviz is no recorded run, or its beginning is damaged. "
        "Choose a .gptviz file that gptviz saved"
    )
    assert user.state.trace is before
