"""Labs that ask before they show."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.panes.lab_feed_forward import FeedForwardLabPane
from gptviz.panes.lab_question import LabQuestion

pytestmark = pytest.mark.without_pauses

Pane = QWidget
OpenLab = Callable[[str], Pane]
ANSWERED_BY = {  # what shows the answer
    "lab-shell": ("logits", "stages"),
    "lab-layer-norm": ("measured", "explanation"),
    "lab-feed-forward": ("chain", "verdict"),
    "lab-parameters": ("figures", "tensors", "sizes"),
}

every_lab = pytest.mark.parametrize("lab", ANSWERED_BY)


def question_of(pane: Pane) -> LabQuestion:
    question = pane.question  # type: ignore[attr-defined]
    assert isinstance(question, LabQuestion)
    return question


def shown(pane: Pane, lab: str) -> set[bool]:
    return {getattr(pane, name).isVisible() for name in ANSWERED_BY[lab]}


@every_lab
def test_a_lab_asks_when_it_opens_and_one_key_reveals(lab: str, open_lab: OpenLab, lab_user: User) -> None:
    lab_user.presses(Qt.Key.Key_F4, SHIFT)
    pane = open_lab(lab)
    card = question_of(pane).card
    assert card.isVisible()
    assert card.is_open
    assert shown(pane, lab) == {False}

    lab_user.presses(Qt.Key.Key_F4)
    assert not card.is_open
    assert shown(pane, lab) == {True}
    assert [row.verdict for row in card.rows].count("right") == 1


@every_lab
def test_no_lab_asks_unless_it_is_wanted(lab: str, open_lab: OpenLab) -> None:
    pane = open_lab(lab)
    assert not question_of(pane).card.isVisible()
    assert shown(pane, lab) == {True}


@every_lab
def test_who_wants_no_questions_any_more_gets_the_result(lab: str, open_lab: OpenLab, lab_user: User) -> None:
    lab_user.presses(Qt.Key.Key_F4, SHIFT)
    pane = open_lab(lab)
    lab_user.presses(Qt.Key.Key_F4, SHIFT)
    assert not question_of(pane).card.isVisible()
    assert shown(pane, lab) == {True}


@pytest.fixture
def pane(open_lab: OpenLab, lab_user: User) -> FeedForwardLabPane:
    lab_user.presses(Qt.Key.Key_F4, SHIFT)
    pane = open_lab("lab-feed-forward")
    assert isinstance(pane, FeedForwardLabPane)
    return pane


def chooses(pane: FeedForwardLabPane, text: str, user: User) -> None:
    row = next(row for row in pane.question.card.rows if row.button.text().endswith(text))
    user.clicks(row.button)


def test_an_answer_reveals_and_an_edit_is_not_asked_about(
    pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None]
) -> None:
    chooses(pane, "(2, 3, 3072)", lab_user)
    assert pane.verdict.isVisible()
    verdicts = {row.button.text()[4:]: row.verdict for row in pane.question.card.rows}
    assert (verdicts["(2, 3, 768)"], verdicts["(2, 3, 3072)"]) == ("right", "wrong")

    pane.fields["contract_in"].edit.setFocus()
    lab_user.presses(Qt.Key.Key_Up)
    answered()
    assert not pane.question.card.isVisible()
    assert "3,073" in pane.verdict.text()


def test_a_preset_is_asked_about_with_its_own_sizes(
    pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None]
) -> None:
    lab_user.presses(Qt.Key.Key_F4)
    lab_user.clicks(pane.presets.button("not-expanded"))
    answered()
    assert pane.question.card.is_open
    assert not pane.error.isVisible()
    assert pane.question.card.hasFocus()
    assert not any(row.accessibleName() for row in pane.question.card.rows)  # nothing is left of the last verdict

    chooses(pane, "An error from the second Linear", lab_user)
    assert pane.question.card.hint.text() == "Right."
    assert pane.error.isVisible()


def test_an_edit_while_it_asks_changes_the_question(
    pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None]
) -> None:
    pane.fields["batch"].edit.setFocus()
    lab_user.presses(Qt.Key.Key_Up)
    answered()
    assert pane.question.card.is_open
    assert "shape (3, 3," in pane.question.card.text.text().replace("\u00a0", " ")
    assert pane.fields["batch"].edit.hasFocus()
    assert not pane.chain.isVisible()


def test_refused_input_keeps_the_question(
    pane: FeedForwardLabPane, lab_user: User, qtbot: QtBot, answered: Callable[[], None]
) -> None:
    pane.fields["features"].edit.setFocus()
    lab_user.presses(Qt.Key.Key_A, CONTROL)
    qtbot.keyClicks(pane.fields["features"].edit, "900000000")
    answered()
    assert "are free" in pane.fields["features"].message
    assert pane.question.card.is_open
    assert not pane.chain.isVisible()


@pytest.mark.without_panes("flow", "stage", "attention", "heads", "layer-norm", "next-token", "generation")
def test_in_the_tour_the_lab_does_not_ask_besides(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.presses(Qt.Key.Key_F4, SHIFT)
    tour = window.session.tour
    user.presses(Qt.Key.Key_F3)
    tour.go(next(place for place, step in enumerate(tour.steps) if step.lab == "lab-feed-forward"))
    qtbot.waitUntil(lambda: window.session.settled and window.tour.is_settled)
    pane = window.bench.docks["lab-feed-forward"].pane
    qtbot.waitUntil(lambda: pane.isVisible() and shown(pane, "lab-feed-forward") == {True})
    assert not question_of(pane).card.isVisible()
