"""The trained model in the box, from the notice, the menu and the command line."""

import json

import pytest
from menus import items, menu
from PySide6.QtCore import Qt
from user import CONTROL, User

from gptviz.app.main_window import MainWindow
from gptviz.cli import main

pytestmark = pytest.mark.with_panes()
TITLE = "Shakespeare (small, trained)"


def shows_the_trained_model(user: User) -> bool:
    model = user.state.model
    return model is not None and model.trained and model.title == TITLE and user.state.trace is not None


def test_the_notice_about_random_weights_leads_to_it(window: MainWindow, user: User) -> None:
    user.clicks(window.prompt_bar.see_trained)
    user.waits()

    assert shows_the_trained_model(user)
    assert window.prompt_bar.notice.text() == ""
    assert not window.prompt_bar.see_trained.isVisible()


def test_the_menu_has_it(window: MainWindow, user: User) -> None:
    entry = items(menu(window, "Model"))[TITLE]
    entry.trigger()
    user.waits()

    assert shows_the_trained_model(user)
    assert entry.isChecked()


def test_a_key_opens_it_and_another_one_goes_back(user: User) -> None:
    user.presses(Qt.Key.Key_6, CONTROL)
    user.waits()
    assert shows_the_trained_model(user)

    user.presses(Qt.Key.Key_5, CONTROL)
    user.waits()
    assert user.state.model is not None
    assert not user.state.model.trained


def test_the_command_line_opens_it_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "ROMEO:", "--weights", "shakespeare", "--max-new-tokens", "5", "--json"]) == 0

    steps = json.loads(capsys.readouterr().out)["steps"]
    assert all(step["probability"] > 20 / 50257 for step in steps)  # untrained: about 2 of 50,257
