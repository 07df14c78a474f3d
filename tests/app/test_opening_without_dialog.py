"""Opening checkpoints without looking for a file: dropped on the window, recent ones, and models of the Hub."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from menus import items
from opening import REAL, dialog_of, drop, opened, recent
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.heads_dialog import HeadsDialog
from gptviz.app.hub_dialog import HubDialog
from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.session.requests import CheckpointRequest

pytestmark = pytest.mark.with_panes()


# --- drag and drop ---------------------------------------------------------------------------------------


def test_a_file_dropped_on_the_window_opens(user: User, qtbot: QtBot) -> None:
    assert drop(user.window, user.window, REAL / "nanogpt-compiled" / "ckpt.pt")
    opened(user, qtbot, "nanogpt-compiled/ckpt.pt")


def test_a_folder_dropped_on_the_prompt_opens_and_the_prompt_stays(user: User, qtbot: QtBot) -> None:
    assert drop(user.window, user.window.prompt_bar.edit.viewport(), REAL / "hf-gpt2-legacy-keys")
    opened(user, qtbot, "hf-gpt2-legacy-keys")

    assert user.window.prompt_bar.edit.text() == "Hello, I am"


def test_several_files_are_not_taken(user: User, tmp_path: Path) -> None:
    assert not drop(user.window, user.window, tmp_path / "a", tmp_path / "b")


# --- recent ones -----------------------------------------------------------------------------------------


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


# --- the Hub --------------------------------------------------------------------------------------------


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
