"""Opening checkpoints in the window: the menu, what is asked back, and what the window says then."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, nanogpt, random_model
from menus import items, menu
from opening import REAL, dialog_of, opened
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.heads_dialog import HeadsDialog
from gptviz.app.model_dialog import ModelDialog
from gptviz.panes.flow import FlowPane
from gptviz.session.requests import CheckpointRequest
from gptviz.session.session import Session

pytestmark = pytest.mark.with_panes("next-token")


def test_the_file_menu_has_it_all(user: User) -> None:
    names = list(items(menu(user.window, "File")))

    assert names == [
        "Open checkpoint…",
        "Open checkpoint folder…",
        "Open from Hugging Face…",
        "Open recent",
        "Save run…",
        "Open run…",
        "Load the model",
        "Token table…",
        "About this model",
        "Export",
        "Quit",
    ]


def test_a_checkpoint_opens_from_the_menu_and_the_window_says_what_it_is(user: User, choose: Any, qtbot: QtBot) -> None:
    assert user.window.prompt_bar.notice.text() == "random weights: the text is noise"
    choose(REAL / "nanogpt-compiled" / "ckpt.pt")

    user.presses(Qt.Key.Key_O, CONTROL)
    opened(user, qtbot, "nanogpt-compiled/ckpt.pt")

    window = user.window
    assert window.model_button.text() == "nanogpt-compiled/ckpt.pt · 0.8 M · tied  ▾"
    assert window.windowTitle() == "nanogpt-compiled/ckpt.pt – gptviz"
    assert window.prompt_bar.notice.text() == ""
    assert "Random weights" not in window.docks["next-token"].pane.note.text()
    assert "By nanogpt-compiled/ckpt.pt, nanoGPT." in window.docks["next-token"].pane.note.text()
    assert user.state.trace is not None
    assert user.state.trace.array("next").tolist() == [[47644]]  # as the program that wrote it has it


def test_a_folder_opens_from_the_menu(user: User, choose: Any, qtbot: QtBot) -> None:
    choose(REAL / "hf-gpt2-legacy-keys")

    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)
    opened(user, qtbot, "hf-gpt2-legacy-keys")

    assert user.state.trace is not None
    assert user.state.trace.array("next").tolist() == [[40889]]


def test_the_number_of_heads_is_asked_for_with_a_proposal(user: User, choose: Any, qtbot: QtBot) -> None:
    choose(REAL / "book-model-and-optimizer")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)

    dialog = dialog_of(user, HeadsDialog, qtbot)
    assert "16 features" in dialog.text.text()
    assert dialog.choice.currentText() == "2 heads of 8"
    assert user.state.message is None
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    opened(user, qtbot, "book-model-and-optimizer/model_and_optimizer.pth")

    assert user.state.trace is not None
    assert user.state.trace.array("next").tolist() == [[37853]]


def test_another_number_of_heads_can_be_chosen(user: User, choose: Any, qtbot: QtBot) -> None:
    choose(REAL / "book-model-and-optimizer")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)
    dialog = dialog_of(user, HeadsDialog, qtbot)

    dialog.choice.setCurrentText("4 heads of 4")
    user.clicks(dialog.ok)
    opened(user, qtbot, "book-model-and-optimizer/model_and_optimizer.pth")

    assert user.state.model is not None
    assert user.state.model.config.n_heads == 4


def test_no_answer_keeps_the_model_on_screen(user: User, choose: Any, qtbot: QtBot) -> None:
    before = user.state.model, user.state.trace
    choose(REAL / "book-model-and-optimizer")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)

    qtbot.keyClick(dialog_of(user, HeadsDialog, qtbot), Qt.Key.Key_Escape)

    assert (user.state.model, user.state.trace) == before
    assert user.state.question is None


@pytest.mark.parametrize(("content", "said"), [("just a text\n", "is a text file and no checkpoint"), ("", "is empty")])
def test_a_file_that_is_no_checkpoint_is_a_message_and_the_model_stays(
    user: User, choose: Any, tmp_path: Path, content: str, said: str
) -> None:
    before = user.state.model, user.state.trace
    (tmp_path / "model.pth").write_text(content)
    choose(tmp_path / "model.pth")

    user.presses(Qt.Key.Key_O, CONTROL)
    user.waits()

    assert said in user.window.banner.label.text()
    assert user.window.banner.label.text().startswith("The checkpoint could not be opened")
    assert (user.state.model, user.state.trace) == before
    user.runs("Still here")
    assert user.state.trace is not None


def test_loading_shows_progress_and_can_be_cancelled(
    user: User, choose: Any, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    before = user.state.model, user.state.trace
    go_on = threading.Event()

    def slow(path: str, heads: int | None, on_progress: Callable[[float], None]) -> None:
        while not go_on.wait(0.002):
            on_progress(0.25)

    monkeypatch.setattr("gptviz.checkpoints.door.load", slow)
    choose(REAL / "nanogpt-compiled" / "ckpt.pt")
    user.presses(Qt.Key.Key_O, CONTROL)

    qtbot.waitUntil(lambda: user.state.activity is not None and user.state.activity.fraction == 0.25)
    assert user.window.status.activity.text() == "Opening ckpt.pt…"
    user.clicks(user.window.status.cancel)
    user.waits()

    assert (user.state.model, user.state.trace) == before
    assert user.state.message is None


def test_what_is_known_of_the_model_can_be_read(user: User, choose: Any, qtbot: QtBot) -> None:
    choose(REAL / "nanogpt-compiled" / "ckpt.pt")
    user.presses(Qt.Key.Key_O, CONTROL)
    opened(user, qtbot, "nanogpt-compiled/ckpt.pt")

    user.presses(Qt.Key.Key_I, CONTROL)
    values = {name: label.text() for name, label in dialog_of(user, ModelDialog, qtbot).values.items()}
    user.window.actions_.opening.dialog.close()  # type: ignore[union-attr]

    assert values["Parameters"] == "812,480"
    assert values["Format"] == "nanoGPT"
    assert values["Tokens"] == "50,304: GPT-2's, and 47 unused rows"
    assert "tied" in values["Output head"]
    assert values["Source"].endswith("ckpt.pt")


def test_a_name_with_markup_is_shown_as_it_is(user: User, choose: Any, tmp_path: Path, qtbot: QtBot) -> None:
    config = replace(SMALL, vocab_size=50257, activation="gelu", tie_weights=True)
    path = nanogpt(tmp_path / "a & <b>bold<b>.pt", random_model(config))
    choose(path)
    user.presses(Qt.Key.Key_O, CONTROL)
    opened(user, qtbot, path.name)

    assert user.window.model_button.text().startswith("a && <b>bold<b>.pt")
    assert "&lt;b&gt;" in user.window.model_button.toolTip()


@pytest.mark.without_panes("stage", "attention", "layer-norm", "checks", "shape-trace")
def test_the_flow_says_how_wide_the_feed_forward_is(user: User, choose: Any, tmp_path: Path, qtbot: QtBot) -> None:
    config = replace(SMALL, vocab_size=50257, n_inner=20, activation="relu", tie_weights=True)
    choose(hugging_face(tmp_path / "narrow", random_model(config)))
    user.writes("a b")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)
    opened(user, qtbot, "narrow")

    pane = pane_of(user.window, FlowPane)
    assert "Feed-forward · 1.67 × wide" in [group.title for group in pane.view.plan.groups]
    assert "ReLU" in [stage.title for stage in pane.view.plan.stages]


def test_a_session_that_starts_with_a_checkpoint_runs_the_prompt_on_it(session: Session, qtbot: QtBot) -> None:
    session.start_with(CheckpointRequest(str(REAL / "nanogpt-compiled")))
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)

    assert session.state.trace is not None
    assert torch.equal(session.state.trace["next"], torch.tensor([[47644]]))


def test_a_session_that_starts_with_a_bad_checkpoint_says_so_and_run_takes_the_default(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    from gptviz.session.requests import UntrainedRequest

    session.making.present = UntrainedRequest("tiny", 123)
    session.start_with(CheckpointRequest(str(tmp_path / "absent")))
    qtbot.waitUntil(lambda: session.state.message is not None and not session.busy)
    assert "does not exist" in str(session.state.message)

    session.run()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)
    assert session.state.message is None
