"""The pass on all tokens, whose token is not chosen yet: a turn that waits, or was given up, leaves it on screen."""

import pytest
from generated import HELLO, chosen, shown_ids, steps
from panes_of import loop_pane, loop_view
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, SHIFT, User

from gptviz.panes.loop import LoopPane
from gptviz.panes.loop_lines import LinesView

pytestmark = pytest.mark.with_panes("loop")


@pytest.fixture
def pane(user: User) -> LoopPane:
    return loop_pane(user)


@pytest.fixture
def lines(user: User) -> LinesView:
    return loop_view(user, LinesView)


@pytest.fixture
def given_up(lines: LinesView, user: User, qtbot: QtBot) -> list[int]:
    """The tokens of two steps; the third one is given up after its pass."""
    tokens = steps(user, 2)
    runs_lines(lines, user, qtbot, 1, 2)
    user.presses(Qt.Key.Key_Escape)
    user.waits()
    assert shown_ids(user.state) == [*HELLO, *tokens]
    return tokens


def runs_lines(lines: LinesView, user: User, qtbot: QtBot, *numbers: int) -> None:
    for number in numbers:
        user.clicks(lines.next)
        qtbot.waitUntil(lambda number=number: lines.note.text() == f"Line {number + 1} waits.")


def test_a_pass_that_was_just_computed_is_not_said_to_be_the_last_steps(
    lines: LinesView, pane: LoopPane, user: User, qtbot: QtBot
) -> None:
    tokens = steps(user, 2)
    runs_lines(lines, user, qtbot, 1)
    assert shown_ids(user.state) == [*HELLO, tokens[0]]
    assert pane.strip.accessibleDescription().endswith("on screen: step 2 of 2")

    runs_lines(lines, user, qtbot, 2)
    assert shown_ids(user.state) == [*HELLO, *tokens]
    assert pane.strip.accessibleDescription() == "4 prompt tokens, 2 generated; on screen: all tokens"

    user.clicks(lines.finish)
    user.waits()
    assert pane.strip.accessibleDescription().endswith("on screen: step 3 of 3")


def test_back_goes_to_the_last_step(given_up: list[int], pane: LoopPane, user: User) -> None:
    user.presses(Qt.Key.Key_PageUp, CONTROL)
    user.waits()

    assert user.state.generation.shown == 1
    assert shown_ids(user.state) == [*HELLO, given_up[0]]


def test_the_arrow_key_goes_to_the_last_step(given_up: list[int], pane: LoopPane, user: User) -> None:
    pane.strip.setFocus()
    user.presses(Qt.Key.Key_Left)
    user.waits()

    assert user.state.generation.shown == 1
    assert shown_ids(user.state) == [*HELLO, given_up[0]]


def test_undo_comes_back_to_it(given_up: list[int], user: User) -> None:
    steps(user, 1)

    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()

    assert chosen(user.state) == given_up
    assert shown_ids(user.state) == [*HELLO, *given_up]
    assert user.state.message is None
    user.presses(Qt.Key.Key_Z, CONTROL | SHIFT)
    user.waits()
    assert len(chosen(user.state)) == 3
    assert shown_ids(user.state) == [*HELLO, *given_up]


def test_lines_of_a_turn_that_was_undone_are_not_said_to_have_run(lines: LinesView, user: User) -> None:
    steps(user, 2)
    for _ in range(2):
        user.presses(Qt.Key.Key_Z, CONTROL)
        user.waits()

    assert chosen(user.state) == []
    assert not [word for word in painted_words(lines.lines) if "→" in word or word.endswith("ms")]


def test_lines_that_ran_before_a_turn_was_given_up_stay(given_up: list[int], lines: LinesView) -> None:
    words = painted_words(lines.lines)
    assert [word for word in words if "→" in word] == ["(1, 6) → (1, 6)", "(1, 6) → (1, 6, 50257)"]
