"""Guided tour: what the present step says, and its question."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QToolButton, QVBoxLayout, QWidget

from gptviz.panes.pane import Pane, differs
from gptviz.panes.tour_words import NEEDS, situation_of, written
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.tour.facts import fact
from gptviz.tour.text import fill
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.question_card import QuestionCard
from gptviz.widgets.reading import Reading, Run
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.tour_progress import TourProgress

_WIDEST, _HIGHEST = 640, 520  # px, of a column that can be read well


class TourPane(Pane):
    """Page down and page up go on and back while the pane has the keyboard."""

    name = "tour"
    title = "Tour"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._shown: tuple[int, bool] | None = None  # the step on screen, and whether it asks
        self.place = plain_label("count")
        self.leave = QToolButton()
        self.leave.setObjectName("flat")
        self.leave.setText("Leave")
        self.leave.setToolTip("Leave the tour; it goes on here next time (F3)")
        self.leave.setAccessibleName("Leave the tour")
        self.progress = TourProgress()
        self.heading = plain_label("tourHeading", wrap=True)
        self.reading = Reading()
        self.notice = plain_label("callout", wrap=True)
        self.card = QuestionCard()
        self.back = QPushButton("Back")
        self.back.setToolTip("The step before (Alt+Page up; in this pane Page up alone)")
        self.forward = QPushButton("Next")
        self.forward.setObjectName("primary")
        self.forward.setToolTip("The next step (Alt+Page down; in this pane Page down alone)")
        for button in (self.back, self.forward):
            button.setAccessibleName(f"{button.text()} step")
        self.setFocusProxy(self.forward)
        self._lay_out()
        tour = session.tour
        self.leave.clicked.connect(tour.leave)
        self.back.clicked.connect(tour.back)
        self.forward.clicked.connect(tour.forward)
        self.card.answered.connect(tour.answer)

    def _lay_out(self) -> None:
        self._column = QWidget()
        column = QVBoxLayout(self._column)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * UNIT)
        for widget in (self.heading, self.card, self.reading, self.notice):
            column.addWidget(widget)
        column.addStretch()
        self.area = QScrollArea()
        self.area.setAccessibleName("The present step")
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(self._column)
        for part in (self._column, self.area.viewport()):
            part.setAutoFillBackground(False)
        head = QHBoxLayout()
        head.addWidget(self.place)
        head.addStretch()
        head.addWidget(self.leave)
        foot = QHBoxLayout()
        foot.setSpacing(2 * UNIT)
        foot.addWidget(self.back)
        foot.addWidget(self.forward, 1)
        self._layout = QVBoxLayout(self)
        self._layout.setSpacing(2 * UNIT)
        self._layout.addLayout(head)
        self._layout.addWidget(self.progress)
        self._layout.addSpacing(2 * UNIT)
        self._layout.addWidget(self.area, 1)
        self._layout.addSpacing(UNIT)
        self._layout.addLayout(foot)
        self._set_margins()

    def _set_margins(self) -> None:
        side = max(4 * UNIT, (self.width() - px(_WIDEST)) // 2)
        spare = max(0, self.height() - px(_HIGHEST)) if side > 4 * UNIT else 0  # a question alone stands in the middle
        self._layout.setContentsMargins(side, 3 * UNIT + spare // 3, side, 4 * UNIT + spare * 2 // 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_margins()

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not new.tour.on or not differs(
            old, new, "tour", "trace", "trace_rows", "selection", "options", "model", "generation"
        ):
            return
        tour = self.session.tour
        has_keyboard = self.isAncestorOf(self.window().focusWidget() or self.window())
        step, place, count = tour.step, new.tour.place, len(tour.steps)
        self.place.setText(f"Step {place + 1} / {count}")
        self.progress.set_place(place, count, step.family)
        self.heading.setText(step.title)
        self.back.setEnabled(place > 0)
        self.forward.setText("Next" if place + 1 < count else "Finish")
        turned = self._shown != (place, tour.asking)
        self._shown = place, tour.asking
        self._show_question(new)
        self._show_text()
        if turned:
            self.area.verticalScrollBar().setValue(0)
            if has_keyboard:
                (self.card if tour.asking else self.forward).setFocus()

    def _show_question(self, state: ViewState) -> None:
        tour = self.session.tour
        question = tour.question
        self.card.setVisible(question is not None)
        if question is None:
            return
        if tour.asking:
            self.card.ask(question.text, question.answers)
        else:
            self.card.show_answered(question.text, question.answers, state.tour.answers[state.tour.place])

    def _show_text(self) -> None:
        tour = self.session.tour
        situation = situation_of(self.session)
        blocks = () if tour.asking else fill(tour.step.paragraphs, lambda name: fact(name, situation), written)
        shown = [(block.item, [Run(*span) for span in block.spans]) for block in blocks if block.need is None]
        self.reading.set_paragraphs(shown)
        self.reading.setVisible(bool(shown))
        needs = dict.fromkeys(NEEDS[block.need] for block in blocks if block.need is not None)
        self.notice.setText("\n".join(needs))
        self.notice.setVisible(bool(needs))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_PageDown:
            self.session.tour.forward()
        elif event.key() == Qt.Key.Key_PageUp:
            self.session.tour.back()
        else:
            super().keyPressEvent(event)
