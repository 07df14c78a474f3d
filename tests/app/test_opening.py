"""Opening checkpoints in the window: the menu, what is asked back, drag and drop, and what the window says then."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, nanogpt, random_model
from menus import items, menu
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.heads_dialog import HeadsDialog
from gptviz.app.hub_dialog import HubDialog
from gptviz.app.main_window import MainWindow
from gptviz.app.model_dialog import ModelDialog
from gptviz.app.settings import Settings
from gptviz.app.table_dialog import TableDialog
from gptviz.panes.flow import FlowPane
from gptviz.session.requests import CheckpointRequest
from gptviz.session.session import Session

REAL = Path(__file__).parents[1] / "checkpoints" / "real_writers"
pytestmark = pytest.mark.without_panes("flow", "stage", "attention", "layer-norm", "checks", "shape-trace")


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | str], None]:
    """A function that says what the next file dialogs answer."""

    def choose(path: Path | str) -> None:
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(path))

    return choose


@pytest.fixture
def character_model(tmp_path: Path) -> Path:
    """A nanoGPT checkpoint with a vocabulary of 4 tokens."""
    config = replace(SMALL, vocab_size=4, activation="gelu", tie_weights=True)
    return nanogpt(tmp_path / "ckpt.pt", random_model(config))


def dialog_of(user: User, kind: type[Any], qtbot: QtBot) -> Any:
    qtbot.waitUntil(lambda: isinstance(user.window.actions_.opening.dialog, kind), timeout=20_000)
    return user.window.actions_.opening.dialog


def opened(user: User, qtbot: QtBot, title: str) -> None:
    qtbot.waitUntil(lambda: user.state.model is not None and user.state.model.title == title, timeout=20_000)
    back(user, qtbot)


def back(user: User, qtbot: QtBot) -> None:
    """Wait, and be at the window again: the offscreen platform does not go back to it after a dialog."""
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    user.waits()


def test_a_checkpoint_opens_from_the_menu_and_the_window_says_what_it_is(user: User, choose: Any, qtbot: QtBot) -> None:
    assert user.window.prompt_bar.notice.text() == "random weights: the text is noise"
    choose(REAL / "nanogpt-compiled" / "ckpt.pt")

    user.presses(Qt.Key.Key_O, CONTROL)
    opened(user, qtbot, "nanogpt-compiled/ckpt.pt")

    window = user.window
    assert window._model_button.text() == "nanogpt-compiled/ckpt.pt · 0.8 M · tied  ▾"
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
    assert user.window.status.activity.text() == "Opening ckpt.pt …"
    user.clicks(user.window.status.cancel)
    user.waits()

    assert (user.state.model, user.state.trace) == before
    assert user.state.message is None


# --- drag and drop ---------------------------------------------------------------------------------------


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


def test_a_file_dropped_on_the_window_opens(user: User, qtbot: QtBot) -> None:
    assert drop(user.window, user.window, REAL / "nanogpt-compiled" / "ckpt.pt")
    opened(user, qtbot, "nanogpt-compiled/ckpt.pt")


def test_a_folder_dropped_on_the_prompt_opens_and_the_prompt_stays(user: User, qtbot: QtBot) -> None:
    assert drop(user.window, user.window.prompt_bar.edit.viewport(), REAL / "hf-gpt2-legacy-keys")
    opened(user, qtbot, "hf-gpt2-legacy-keys")

    assert user.window.prompt_bar.edit.text() == "Hello, I am"


def test_several_files_are_not_taken(user: User, tmp_path: Path) -> None:
    assert not drop(user.window, user.window, tmp_path / "a", tmp_path / "b")


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


# --- recent ones -----------------------------------------------------------------------------------------


def recent(window: MainWindow) -> list[str]:
    submenu = window.actions_.opening.recent
    submenu.aboutToShow.emit()
    return list(items(submenu))


def test_recent_checkpoints_are_listed_and_open_without_asking_again(user: User, choose: Any, qtbot: QtBot) -> None:
    assert recent(user.window) == ["nothing yet"]
    choose(REAL / "book-model-and-optimizer")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)
    qtbot.keyClick(dialog_of(user, HeadsDialog, qtbot), Qt.Key.Key_Return)
    opened(user, qtbot, "book-model-and-optimizer/model_and_optimizer.pth")
    user.presses(Qt.Key.Key_5, CONTROL)
    opened(user, qtbot, "tiny")

    entry, *_ = recent(user.window)
    assert entry.endswith("real_writers/book-model-and-optimizer")
    items(user.window.actions_.opening.recent)[entry].trigger()
    opened(user, qtbot, "book-model-and-optimizer/model_and_optimizer.pth")


def test_recent_checkpoints_are_remembered_and_can_be_forgotten(
    open_window: Callable[..., MainWindow], settings: Settings
) -> None:
    first = open_window(settings)
    first.recent.add(CheckpointRequest("/models/a & b/model.pth", 12, "/tables/t.txt"))

    second = open_window(settings)
    assert second.recent.requests == (CheckpointRequest("/models/a & b/model.pth", 12, "/tables/t.txt"),)
    assert recent(second)[0] == "/models/a && b/model.pth"
    items(second.actions_.opening.recent)["Forget these"].trigger()
    assert recent(second) == ["nothing yet"]


def test_settings_of_another_version_are_no_recent_checkpoints(
    open_window: Callable[..., MainWindow], settings: Settings
) -> None:
    settings.recent = '[{"file": 3}]'

    assert open_window(settings).recent.requests == ()


# --- about the model, and the Hub ------------------------------------------------------------------------


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

    assert user.window._model_button.text().startswith("a && <b>bold<b>.pt")
    assert "&lt;b&gt;" in user.window._model_button.toolTip()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    pytest.importorskip("huggingface_hub")
    from hub_server import serving

    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        for path in (REAL / "hf-gpt2-legacy-keys").iterdir():
            server.files[f"owner/gpt2/{path.name}"] = path.read_bytes()
        yield


@pytest.mark.usefixtures("hub")
def test_a_model_of_the_hub_opens_by_its_name(user: User, qtbot: QtBot) -> None:
    user.presses(Qt.Key.Key_H, CONTROL | SHIFT)
    dialog = dialog_of(user, HubDialog, qtbot)
    assert not dialog.ok.isEnabled()

    qtbot.keyClicks(dialog.name, "owner/gpt2")
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    opened(user, qtbot, "owner/gpt2")

    assert user.state.trace is not None
    assert user.state.trace.array("next").tolist() == [[40889]]
    assert recent(user.window)[0] == "hf:owner/gpt2"


@pytest.mark.usefixtures("hub")
def test_a_name_that_the_hub_does_not_know_is_a_message(user: User, qtbot: QtBot) -> None:
    before = user.state.model
    user.presses(Qt.Key.Key_H, CONTROL | SHIFT)
    dialog = dialog_of(user, HubDialog, qtbot)
    qtbot.keyClicks(dialog.name, "owner/nothing")
    user.clicks(dialog.ok)
    user.waits()

    assert "there is no model owner/nothing on the Hub" in user.window.banner.label.text()
    assert user.state.model is before


def test_without_huggingface_hub_the_dialog_says_how_to_get_it(
    user: User, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("gptviz.app.opening.find_spec", lambda name: None)
    user.presses(Qt.Key.Key_H, CONTROL | SHIFT)

    dialog = dialog_of(user, HubDialog, qtbot)
    said, enabled = dialog.text.text(), dialog.name.isEnabled()
    dialog.close()

    assert "pip install 'gptviz[hub]'" in said
    assert not enabled


# --- the menu --------------------------------------------------------------------------------------------


def test_the_file_menu_has_it_all(user: User) -> None:
    names = list(items(menu(user.window, "File")))

    assert names == [
        "Open checkpoint …",
        "Open checkpoint folder …",
        "Open from Hugging Face …",
        "Open recent",
        "Save run …",
        "Open run …",
        "Load the model",
        "Token table …",
        "About this model",
        "Quit",
    ]


def test_a_session_that_starts_with_a_checkpoint_runs_the_prompt_on_it(session: Session, qtbot: QtBot) -> None:
    session.start_with(CheckpointRequest(str(REAL / "nanogpt-compiled")))
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy, timeout=20_000)

    assert session.state.trace is not None
    assert torch.equal(session.state.trace["next"], torch.tensor([[47644]]))


def test_a_session_that_starts_with_a_bad_checkpoint_says_so_and_run_takes_the_default(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    from gptviz.session.requests import UntrainedRequest

    session.making.present = UntrainedRequest("tiny", 123)
    session.start_with(CheckpointRequest(str(tmp_path / "absent")))
    qtbot.waitUntil(lambda: session.state.message is not None and not session.busy, timeout=20_000)
    assert "does not exist" in str(session.state.message)

    session.run()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy, timeout=20_000)
    assert session.state.message is None


@pytest.mark.without_panes("stage", "attention", "layer-norm", "checks", "shape-trace")
def test_the_flow_says_how_wide_the_feed_forward_is(user: User, choose: Any, tmp_path: Path, qtbot: QtBot) -> None:
    config = replace(SMALL, vocab_size=50257, n_inner=20, activation="relu", tie_weights=True)
    choose(hugging_face(tmp_path / "narrow", random_model(config)))
    user.writes("a b")
    user.presses(Qt.Key.Key_O, CONTROL | SHIFT)
    opened(user, qtbot, "narrow")

    pane = user.window.docks["flow"].pane
    assert isinstance(pane, FlowPane)
    assert "Feed-forward · 1.67 × wide" in [group.title for group in pane.view.plan.groups]
    assert "ReLU" in [stage.title for stage in pane.view.plan.stages]
