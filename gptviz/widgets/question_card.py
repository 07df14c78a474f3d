"""A question with four answers; which one is right, and why, shows once one is chosen or the answer is revealed."""

import re
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gptviz.widgets.answer_row import AnswerRow
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT

REVEAL_KEY = "F4"  # the window gives it to all cards in sight
_FIRST_KEYS = (Qt.Key.Key_1, Qt.Key.Key_A)


class AnswerText(Protocol):
    """What the card needs of an answer."""

    @property
    def text(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def right(self) -> bool: ...


class QuestionCard(QFrame):
    """Asks before something is shown. A to D or 1 to 4 choose while it has the keyboard."""

    answered = Signal(object)  # the place of the chosen answer; None if it was only revealed

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("questionCard")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.caption = plain_label("questionCaption", "PREDICT FIRST", wrap=True)
        self.text = plain_label("question", wrap=True)
        self.rows: list[AnswerRow] = []
        self.reveal_button = QPushButton("Show the answer")
        self.reveal_button.setObjectName("toggle")
        self.reveal_button.setToolTip(f"Show the answer and the reason ({REVEAL_KEY})")
        self.reveal_button.setAccessibleName("Show the answer")
        self.reveal_button.clicked.connect(self.reveal)
        self.hint = plain_label("muted", wrap=True)
        self._answers: tuple[AnswerText, ...] = ()
        self._text = ""
        self._open = False
        self._choices = QVBoxLayout()
        self._choices.setSpacing(UNIT)
        foot = QHBoxLayout()
        foot.setSpacing(3 * UNIT)
        foot.addWidget(self.reveal_button)
        foot.addWidget(self.hint, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * UNIT, 3 * UNIT, 4 * UNIT, 3 * UNIT)
        layout.setSpacing(2 * UNIT)
        for widget in (self.caption, self.text):
            layout.addWidget(widget)
        layout.addLayout(self._choices)
        layout.addLayout(foot)

    @property
    def is_open(self) -> bool:
        """Whether the question waits for an answer."""
        return self._open

    def ask(self, text: str, answers: Sequence[AnswerText]) -> None:
        """Show a question; nothing tells which of ``answers`` is right."""
        self._show(text, answers)
        self._open = True
        for row in self.rows:
            row.set_open()
        self.reveal_button.show()
        self.hint.setText(f"A … {chr(ord('A') + len(answers) - 1)} or a click chooses, {REVEAL_KEY} shows the answer")

    def show_answered(self, text: str, answers: Sequence[AnswerText], choice: int | None) -> None:
        """Show a question that was answered with ``choice``, or revealed if that is None."""
        self._show(text, answers)
        self._open = False
        for place, (row, answer) in enumerate(zip(self.rows, answers, strict=True)):
            row.set_verdict(answer.right, place == choice)
        self.reveal_button.hide()
        if choice is None:
            self.hint.setText("")
        else:
            self.hint.setText("Right." if answers[choice].right else "Not quite.")
        self.hint.setVisible(bool(self.hint.text()))

    def close_question(self) -> None:
        """Take the question back: nobody waits for an answer any more."""
        self._open = False

    def reveal(self) -> None:
        """Show the answer without choosing one."""
        self._answer(None)

    def choose(self, place: int) -> None:
        """Choose the answer at ``place``."""
        if place < len(self.rows):
            self._answer(place)

    def _clicked(self) -> None:
        self.choose(next(place for place, row in enumerate(self.rows) if row.button is self.sender()))

    def _answer(self, choice: int | None) -> None:
        if self._open:
            self.show_answered(self._text, self._answers, choice)
            self.answered.emit(choice)

    def _show(self, text: str, answers: Sequence[AnswerText]) -> None:
        self._answers = tuple(answers)
        self._text = text
        self.text.setText(
            re.sub(r"\(.*?\)", lambda shape: shape[0].replace(" ", "\u00a0"), text)
        )  # shapes in one piece
        self.setAccessibleName(f"Question: {text}")
        self.hint.show()
        while len(self.rows) < len(answers):
            row = AnswerRow(chr(ord("A") + len(self.rows)))
            row.button.clicked.connect(self._clicked)
            self.rows.append(row)
            self._choices.addWidget(row)
        for row, answer in zip(self.rows, answers, strict=True):
            row.set_answer(answer.text, answer.reason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        places = [event.key() - first for first in _FIRST_KEYS]
        place = next((place for place in places if 0 <= place < len(self.rows)), None)
        if place is None or not self._open or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        else:
            self.choose(place)


def reveal_all(parent: QWidget) -> None:
    """Reveal the answers of all questions in sight below ``parent``."""
    for card in parent.findChildren(QuestionCard):
        if card.isVisible() and card.is_open:
            card.reveal()
