"""A character model in the window: it asks for a table of its tokens, and does with bare IDs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkpoint_writers import SMALL, nanogpt, random_model
from opening import back, dialog_of, drop, opened
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, User

from gptviz.app.table_dialog import TableDialog

pytestmark = pytest.mark.with_panes()


def test_a_character_model_asks_for_a_table_and_shows_its_characters(
    user: User, choose: Any, character_model: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "characters.txt").write_text("\\n\n \na\nb\n")
    choose(character_model)
    user.writes("ab a")
    user.presses(Qt.Key.Key_O, CONTROL)
    dialog = dialog_of(user, TableDialog, qtbot)
    assert "4 tokens" in dialog.text.text()

    choose(tmp_path / "characters.txt")
    qtbot.mouseClick(dialog.table, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: user.state.trace is not None)
    user.waits()

    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [[2, 3, 1, 2]]
    assert [piece.text for piece in user.state.trace_pieces] == ["a", "b", " ", "a"]
    assert user.state.model is not None
    assert user.state.model.vocabulary == "the table characters.txt"


def test_a_character_model_does_with_bare_ids(user: User, choose: Any, character_model: Path, qtbot: QtBot) -> None:
    choose(character_model)
    user.presses(Qt.Key.Key_O, CONTROL)

    qtbot.keyClick(dialog_of(user, TableDialog, qtbot), Qt.Key.Key_Escape)
    back(user, qtbot)

    assert user.window.prompt_bar.edit.text() == "0 1 2"
    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [[0, 1, 2]]
    user.runs("3 3")
    assert user.state.trace.ids.tolist() == [[3, 3]]
    user.writes("Hello")
    qtbot.waitUntil(lambda: user.window.prompt_bar.notice.text() == "'Hello' is no token ID")
    assert user.state.message is None
    user.runs("Hello")
    assert "a row of IDs from 0 to 3, such as 0 1 2" in user.window.banner.label.text()


@pytest.mark.parametrize(("sizes", "prompt"), [((2, 10), "0 1"), ((4, 1), "0")], ids=["vocabulary", "context"])
def test_the_first_prompt_of_bare_ids_fits_the_model(
    user: User, tmp_path: Path, sizes: tuple[int, int], prompt: str, qtbot: QtBot
) -> None:
    config = replace(SMALL, vocab_size=sizes[0], context_length=sizes[1], activation="gelu", tie_weights=True)
    path = nanogpt(tmp_path / "ckpt.pt", random_model(config))
    assert drop(user.window, user.window, path)

    qtbot.keyClick(dialog_of(user, TableDialog, qtbot), Qt.Key.Key_Escape)
    back(user, qtbot)

    assert user.window.prompt_bar.edit.text() == prompt
    assert user.state.message is None
    assert user.state.trace is not None


def test_a_table_that_does_not_fit_says_why_and_the_model_stays(
    user: User, choose: Any, character_model: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "long.txt").write_text("a\nb\nc\nd\ne\n")
    choose(character_model)
    user.presses(Qt.Key.Key_O, CONTROL)
    dialog = dialog_of(user, TableDialog, qtbot)

    choose(tmp_path / "long.txt")
    qtbot.mouseClick(dialog.table, Qt.MouseButton.LeftButton)
    user.waits()

    assert "long.txt has 5 lines, but the model has 4 tokens" in user.window.banner.label.text()
    assert user.state.model is not None
    assert user.state.model.vocabulary == "bare IDs"


def test_gpt2s_tokens_come_back_with_an_untrained_model(
    user: User, choose: Any, character_model: Path, qtbot: QtBot
) -> None:
    choose(character_model)
    user.presses(Qt.Key.Key_O, CONTROL)
    qtbot.keyClick(dialog_of(user, TableDialog, qtbot), Qt.Key.Key_Escape)
    back(user, qtbot)

    user.writes("Hello, I am")
    user.presses(Qt.Key.Key_5, CONTROL)
    opened(user, qtbot, "tiny")

    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [[15496, 11, 314, 716]]
    assert user.window.prompt_bar.notice.text() == "random weights: the text is noise"


def test_a_text_file_dropped_on_a_character_model_is_its_table(
    user: User, choose: Any, character_model: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "characters.txt").write_text("0\n1\n2\n ")
    choose(character_model)
    user.presses(Qt.Key.Key_O, CONTROL)
    qtbot.keyClick(dialog_of(user, TableDialog, qtbot), Qt.Key.Key_Escape)
    back(user, qtbot)

    assert drop(user.window, user.window, tmp_path / "characters.txt")
    qtbot.waitUntil(lambda: user.state.trace is not None and user.state.trace.tokens == 5)
    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [[0, 3, 1, 3, 2]]
