"""The card that asks before something is shown."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gptviz.tour.question import Answer
from gptviz.widgets.question_card import QuestionCard, reveal_all

ANSWERS = [
    Answer("(1, 2)", "too small"),
    Answer("(2, 2)", "just so", right=True),
    Answer("(3, 2)", "too large"),
    Answer("(4, 2)", "much too large"),
]


@pytest.fixture
def card(show: Callable[..., None]) -> QuestionCard:
    card = QuestionCard()
    card.ask("What <b>shape</b> is (1, 2)?", ANSWERS)
    show(card, 400, 500)
    return card


def shown(card: QuestionCard) -> list[str]:
    return [f"{row.verdict}: {row.reason.text()}" for row in card.rows if row.isVisible()]


def test_nothing_tells_which_answer_is_right_before_one_is_chosen(card: QuestionCard) -> None:
    assert [row.button.text() for row in card.rows] == ["A   (1, 2)", "B   (2, 2)", "C   (3, 2)", "D   (4, 2)"]
    assert all(row.verdict == "open" and not row.reason.isVisible() and not row.mark.isVisible() for row in card.rows)
    assert "right" not in " ".join(row.accessibleName() + row.button.accessibleName() for row in card.rows)
    assert card.text.textFormat() == Qt.TextFormat.PlainText


def test_the_right_answer_shows_its_reason(card: QuestionCard, qtbot: QtBot) -> None:
    with qtbot.waitSignal(card.answered) as answered:
        qtbot.mouseClick(card.rows[1].button, Qt.MouseButton.LeftButton)

    assert answered.args == [1]
    assert shown(card) == ["right: just so"]
    assert card.hint.text() == "Right."


def test_a_wrong_answer_shows_both_reasons(card: QuestionCard, qtbot: QtBot) -> None:
    card.setFocus()
    with qtbot.waitSignal(card.answered) as answered:
        qtbot.keyClick(card, Qt.Key.Key_C)

    assert answered.args == [2]
    assert shown(card) == ["right: just so", "wrong: too large"]


@pytest.mark.parametrize(("key", "place"), [(Qt.Key.Key_1, 0), (Qt.Key.Key_4, 3), (Qt.Key.Key_B, 1)])
def test_letters_and_figures_choose(card: QuestionCard, qtbot: QtBot, key: Qt.Key, place: int) -> None:
    with qtbot.waitSignal(card.answered) as answered:
        qtbot.keyClick(card.rows[2].button, key)  # wherever the keyboard is on the card
    assert answered.args == [place]


def test_it_can_be_answered_only_once(card: QuestionCard, qtbot: QtBot) -> None:
    card.choose(0)
    with qtbot.assertNotEmitted(card.answered):
        qtbot.keyClick(card, Qt.Key.Key_B)
        card.reveal()


def test_all_questions_in_sight_are_revealed_at_once(show: Callable[..., None]) -> None:
    both = QWidget()
    layout = QVBoxLayout(both)
    cards = [QuestionCard(), QuestionCard(), QuestionCard()]
    for card in cards:
        layout.addWidget(card)
        card.ask("What?", ANSWERS)
    cards[2].hide()
    show(both)

    reveal_all(both)

    assert [card.is_open for card in cards] == [False, False, True]
    assert shown(cards[0]) == ["right: just so"]
    assert not cards[0].hint.isVisible()


def test_it_asks_again(card: QuestionCard) -> None:
    card.choose(0)
    card.ask("And now?", ANSWERS)
    assert card.is_open
    assert all(row.isVisible() and row.verdict == "open" for row in card.rows)
