"""Surprisal under the tokens of the prompt."""

import math

import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, User

from gptviz.app.main_window import MainWindow
from gptviz.widgets.text import number

pytestmark = pytest.mark.with_panes()


@pytest.fixture
def shown(window: MainWindow, user: User, qtbot: QtBot) -> User:
    """A person who has switched surprisal on."""
    user.clicks(window.prompt_bar.surprisal.switch)
    qtbot.waitUntil(lambda: user.state.measured.surprisal is not None)
    return user


def bits(user: User) -> list[float]:
    """By torch: −log₂ of the probability of tokens 1, 2, …, each read one position earlier."""
    assert user.state.trace is not None
    chances = torch.softmax(user.state.trace["out_head"][0].double(), dim=-1)
    ids = user.state.trace.ids[0].tolist()
    return [-math.log2(float(chances[place, token])) for place, token in enumerate(ids[1:])]


def words(user: User) -> str:
    return "".join(painted_words(user.window.prompt_bar.strip))


def test_it_is_not_there_at_first(window: MainWindow) -> None:
    assert "–" not in "".join(painted_words(window.prompt_bar.strip))
    assert window.prompt_bar.surprisal.summary.isHidden()


def test_each_token_but_the_first_has_its_bits(shown: User) -> None:
    first, second, third = (number(value, 3) for value in bits(shown))

    assert words(shown) == f"Hello15496–,11{first}␣I314{second}␣am716{third}"


def test_mean_and_perplexity_of_the_prompt(shown: User) -> None:
    mean = sum(bits(shown)) / 3

    text = shown.window.prompt_bar.surprisal.summary.text()
    assert text == f"mean {number(mean, 3)} bits · perplexity {number(2**mean, 3)}"


def test_a_key_switches_it(window: MainWindow, user: User, qtbot: QtBot) -> None:
    height = window.prompt_bar.strip.height()
    user.presses(Qt.Key.Key_U, CONTROL)
    qtbot.waitUntil(lambda: user.state.measured.surprisal is not None)
    assert window.prompt_bar.strip.height() > height
    assert window.prompt_bar.surprisal.switch.isChecked()

    user.presses(Qt.Key.Key_U, CONTROL)
    assert window.prompt_bar.strip.height() == height
    assert window.prompt_bar.surprisal.summary.isHidden()


def test_tokens_typed_since_have_none(shown: User) -> None:
    shown.writes("Hello, I was here")
    shown.waits()

    first, second = (number(value, 3) for value in bits(shown)[:2])
    assert words(shown) == f"Hello15496–,11{first}␣I314{second}␣was373␣here994"


def test_one_token_has_none(shown: User, qtbot: QtBot) -> None:
    shown.runs("Hello")
    qtbot.waitUntil(lambda: shown.state.measured.surprisal is not None)

    assert words(shown) == "Hello15496–"
    assert shown.window.prompt_bar.surprisal.summary.text() == "one token: no surprisal"


def test_another_run_has_another(shown: User, qtbot: QtBot) -> None:
    shown.runs("a b c")
    qtbot.waitUntil(lambda: shown.state.measured.surprisal is not None)

    first, second = (number(value, 3) for value in bits(shown))
    assert words(shown) == f"a64–␣b275{first}␣c269{second}"
