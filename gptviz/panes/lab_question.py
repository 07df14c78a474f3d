"""Predict first in a lab: a question stands where its result will be, until it is answered."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.tour.question import Question
from gptviz.widgets.question_card import QuestionCard

Ask = Callable[[int], Question]  # with the seed of the order of the answers


class LabQuestion(QObject):
    """Asks when a lab opens, and after each change of which the lab says ``expect``.

    ``hidden`` are the widgets that would tell the answer. In the tour a lab does not ask: there the tour does.
    """

    def __init__(self, session: Session, hidden: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._hidden = tuple(hidden)
        self._due = True
        self._asked = 0
        self.card = QuestionCard()
        self.box = QWidget()  # for the lab's layout; where the card stands alone, the rest stays empty
        column = QVBoxLayout(self.box)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.card)
        column.addStretch()
        self.box.hide()
        self.card.answered.connect(self._reveal)
        session.changed.connect(self._state_changed)

    def expect(self) -> None:
        """Ask before the next result is shown."""
        self._due = True

    def before(self, ask: Ask) -> None:
        """Ask about the result that is about to be shown, if the person wants that and it is time for it."""
        if not self._is_wanted(self._session.state):
            self.box.hide()
            self._show_result(True)
        elif self._due or self.card.is_open:
            self._due = False
            self._asked += 1
            question = ask(self._session.state.tour.seed + self._asked)
            self.card.ask(question.text, question.answers)
            self.box.show()
            self._show_result(False)
            if self.card.isVisible() and not isinstance(QApplication.focusWidget(), QLineEdit):
                self.card.setFocus()
        else:
            self.box.hide()  # it was about other numbers

    @staticmethod
    def _is_wanted(state: ViewState) -> bool:
        return state.options.predict_first and not state.tour.on

    @Slot(object)
    def _reveal(self, choice: object) -> None:
        self._show_result(True)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if self._is_wanted(old) and not self._is_wanted(new):
            self.card.close_question()
            self.box.hide()
            self._show_result(True)
            self._due = True

    def _show_result(self, shown: bool) -> None:
        for widget in self._hidden:
            widget.setVisible(shown)
