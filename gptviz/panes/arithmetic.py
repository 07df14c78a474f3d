"""Arithmetic: how the selected number was made, from its true operands, and the way back through them."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gptviz.analysis.arithmetic import Explanation, Operand, Place, explain, snippet
from gptviz.analysis.arithmetic.onward import PROBABILITY
from gptviz.analysis.arithmetic.words import Words
from gptviz.analysis.arithmetic.writing import plain, whole
from gptviz.analysis.formulas import Sizes
from gptviz.analysis.operands import inputs_of, stream_stages
from gptviz.analysis.stage_text import input_title, stage_text
from gptviz.analysis.table import Table
from gptviz.capture.stages import Stage
from gptviz.panes.arithmetic_charts import Charts
from gptviz.panes.arithmetic_words import exact, short_verdict, verdict, working_step
from gptviz.panes.pane import Pane, differs
from gptviz.session.missing import why_missing
from gptviz.session.numbers import selected_place, stage_named
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import operands_table
from gptviz.widgets.crumbs import Crumb, Crumbs
from gptviz.widgets.icons import icon
from gptviz.widgets.number_chips import NumberChip, NumberChips
from gptviz.widgets.number_head import NumberHead
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number, percent, visible
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.working import Working

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_HINT = "Choose a number to see how it was made: a cell of a map, a token, a stage."
_TWO_COLUMNS = 860  # px
_SHARES = (6, 5)  # of the width, for the two columns
_NARROW = 420  # px
_COPIED_MS = 1600


class ArithmeticPane(Pane):
    """Explains ``selected_place``; a click on an operand goes there, and the trail leads back."""

    name = "arithmetic"
    title = "Arithmetic"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.explanation: Explanation | None = None
        self._place: Place | None = None
        self._words = Words((), str, 1)
        self._narrow = False
        self._links: list[Place] = []  # of the chips
        self.back = self._flat("Back to the number before (Alt+←)", "Back")
        self.back.clicked.connect(session.trail.back)
        self.forward = self._flat("Forward again (Alt+→)", "Forward")
        self.forward.clicked.connect(session.trail.forward)
        self.crumbs = Crumbs()
        self.crumbs.chosen.connect(self._crumb_chosen)
        self.copy = QPushButton("Copy as PyTorch")
        self.copy.setObjectName("toggle")
        self.copy.setToolTip("Copy a short program that prints this number (Ctrl+Shift+C)")
        self.copy.setAccessibleName("Copy as PyTorch")
        self.copy.clicked.connect(self._copy)
        QShortcut(QKeySequence("Ctrl+Shift+C"), self, self._copy)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(_COPIED_MS)
        self._copied.timeout.connect(self._name_copy)
        self.head = NumberHead()
        self.sentence = _label("sentence")
        self.working = Working()
        self.onward_title = _label("rowTitle", PROBABILITY)
        self.onward = Working()
        self.made_from = _label("rowTitle", "Made from")
        self.chips = NumberChips()
        self.chips.chosen.connect(self._chip_chosen)
        self.verdict = _label("muted")
        self.parts = QToolButton()
        self.parts.setObjectName("link")
        self.parts.setText("Where from ›")
        self.parts.setToolTip("Show what each part of the model added to this number")
        self.parts.setAccessibleName("Where this number comes from, part by part")
        self.parts.setCursor(Qt.CursorShape.PointingHandCursor)
        self.parts.clicked.connect(self._show_parts)
        self.charts = Charts()
        self.charts.chosen.connect(session.trail.follow)
        self.charts.row_reached.connect(self._show_row)
        self.hint = _label("muted", _HINT)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._apply_theme()

    def _flat(self, tip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tip)
        button.setAccessibleName(name)
        return button

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(2 * UNIT, UNIT, 3 * UNIT, UNIT)
        top.setSpacing(UNIT)
        for widget in (self.back, self.forward):
            top.addWidget(widget)
        top.addWidget(self.crumbs, 1)
        top.addWidget(self.copy)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        parts: tuple[QWidget, ...] = (self.head, self.sentence, self.working, self.made_from, self.chips)
        for part in parts:
            column.addWidget(part)
        last = QHBoxLayout()
        last.setSpacing(2 * UNIT)
        last.addWidget(self.verdict, 1)
        last.addWidget(self.parts, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(last)
        column.addWidget(self.onward_title)
        column.addWidget(self.onward)
        column.setSpacing(2 * UNIT)
        column.addStretch()
        body = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, body)
        self._columns.setContentsMargins(4 * UNIT, UNIT, 4 * UNIT, 3 * UNIT)
        self._columns.addWidget(left, 1, Qt.AlignmentFlag.AlignTop)
        self._columns.addWidget(self.charts, 1, Qt.AlignmentFlag.AlignTop)
        self._columns.addStretch()
        self.area = QScrollArea()
        self.area.setAccessibleName("How the selected number was made")
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(body)
        for ground in (body, self.area.viewport()):
            ground.setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.hint, 1)
        layout.addWidget(self.area, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= px(_TWO_COLUMNS)
        self._columns.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._columns.setSpacing(8 * UNIT if beside else 4 * UNIT)
        for place, share in enumerate(_SHARES):
            self._columns.setStretch(place, share if beside else 0)

        self._narrow = event.size().width() < px(_NARROW)
        self._name_copy()

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "trace", "trace_pieces", "selection", "trail"):
            return
        trace, place = new.trace, selected_place(new.selection, new.trace)
        if differs(old, new, "trace", "trace_pieces", "selection"):
            tokens = [visible(piece.text) for piece in new.trace_pieces]
            self._words = Words(tokens, self._text_of, 1 if trace is None else trace.batch)
        self._show_trail(new)
        if place != self._place:
            self.area.verticalScrollBar().setValue(0)
        self._place = place
        self.explanation = None if trace is None or place is None else explain(trace, place.name, place.index)
        self.area.setVisible(place is not None)
        self.hint.setVisible(place is None)
        model = new.model
        named = model is not None and (model.source != "" or model.seed is not None)  # so that a program can make it
        self.copy.setEnabled(self.explanation is not None and named)
        if trace is None or place is None:
            return
        self._show_head(trace, place)
        self.charts.show_explanation(self.explanation, self._words, self._stage)
        if self.explanation is not None:
            self._show_explanation(self.explanation)

    def _show_trail(self, state: ViewState) -> None:
        trail = state.trail
        self.back.setEnabled(trail.at > 0)
        self.forward.setEnabled(trail.at + 1 < len(trail.places))
        crumbs = []
        for at in trail.way if trail.places else ():
            place = trail.places[at]
            stage = self._stage(place)
            text = f"{input_title(stage)} {self._words.short(stage, place.index)}" if stage else str(place)
            crumbs.append(Crumb(text.rstrip(), str(place)))
        self.crumbs.set_crumbs(crumbs)

    def _show_head(self, trace: "Trace", place: Place) -> None:
        stage = self._stage(place)
        assert stage is not None
        title = stage_text(Sizes(stage, trace.config, trace.batch, trace.tokens)).title
        found = self.explanation
        waiting = "–" if trace.is_recorded else "…"
        value = waiting if found is None else exact(found.captured, found.whole)
        if found is None and trace.has(place.name):
            value = exact(float(trace.array(place.name)[place.index]), place.name in ("ids", "next"))
        where = self._words.coordinates(stage, place.index)
        if found is not None and found.onward:
            where += (("probability", percent(found.onward[-1].value)),)
        self.head.set_number(title, stage.family.value, where, value)
        self.head.setToolTip(str(place))
        shown: tuple[QWidget, ...] = (self.working, self.made_from, self.chips, self.verdict)
        self.parts.setVisible(found is not None and self._question(trace, place) is not None)
        for part in shown:
            part.setVisible(found is not None)
        for part in (self.onward_title, self.onward):
            part.setVisible(found is not None and bool(found.onward))
        if found is None:
            self.sentence.setText(why_missing(trace, place.name, *inputs_of(stage, trace.config)))
            self.head.set_verdict("", wrong=False)

    def _show_explanation(self, found: Explanation) -> None:
        self.head.set_verdict(*short_verdict(found))
        self.sentence.setText(found.sentence)
        self.working.set_steps([working_step(step, found) for step in found.steps])
        self.onward.set_steps([working_step(step, found) for step in found.onward])
        self._show_operands(found)
        self.verdict.setText(verdict(found))
        self.verdict.setProperty("wrong", not found.ok)
        self.verdict.style().polish(self.verdict)

    def _show_operands(self, found: Explanation) -> None:
        self._links = [operand.place for operand in found.operands]
        self.chips.set_chips([self._chip(operand) for operand in found.operands])
        for part in (self.made_from, self.chips):
            part.setVisible(bool(found.operands))

    def _chip(self, operand: Operand) -> NumberChip:
        place, stage = operand.place, None if operand.place.parameter else self._stage(operand.place)
        value = whole(operand.value) if place.name in ("ids", "next") else number(operand.value)
        end = "a weight: it was learned or drawn, and nothing computed it"
        tip = f"{place} = {operand.value:.9g}\n{end if stage is None else 'click to see how it was made'}"
        family = "" if stage is None else stage.family.value
        return NumberChip(
            plain(operand.symbol), self._words.operand(place, stage), value, family, stage is not None, tip
        )

    # --- intents -----------------------------------------------------------------------------------------

    def _crumb_chosen(self, at: int) -> None:
        self.session.trail.go(self.session.state.trail.way[at])

    def _chip_chosen(self, at: int) -> None:
        self.session.trail.follow(self._links[at])

    def _show_row(self, top: int, bottom: int) -> None:
        self.area.ensureVisible(0, self.charts.y() + (top + bottom) // 2, 0, px(40))

    def _question(self, trace: "Trace", place: Place) -> dict[str, Any] | None:
        """Return what to ask about the parts of a number; None of one that is no sum of parts."""
        if place.name in stream_stages(trace.config):
            return {"kind": "stream", "stage": place.name, "feature": place.index[-1]}
        return {"kind": "logit", "token": place.index[-1]} if place.name in ("out_head", "last") else None

    def _show_parts(self) -> None:
        trace, place = self.session.state.trace, self._place
        question = None if trace is None or place is None else self._question(trace, place)
        if question is not None:
            if place is not None and place.name == "last":
                self.session.select(query=-1)
            self.session.attributing.ask(**question)
            self.pane_wanted.emit("where-from")

    def _copy(self) -> None:
        state = self.session.state
        if self.explanation is None or state.trace is None or state.model is None:
            return
        QGuiApplication.clipboard().setText(
            snippet(state.trace, self.explanation, state.model.seed, state.model.source)
        )
        self.copy.setText("Copied")
        self._copied.start()

    @Slot()
    def _name_copy(self) -> None:
        if not self._copied.isActive():
            self.copy.setText("PyTorch" if self._narrow else "Copy as PyTorch")

    def as_table(self) -> Table | None:
        return None if self.explanation is None else operands_table(self.explanation)

    # --- words -------------------------------------------------------------------------------------------

    def _stage(self, place: Place) -> Stage | None:
        trace = self.session.state.trace
        return None if trace is None else stage_named(trace.config, place.name)

    def _text_of(self, token: int) -> str:
        return visible(self.session.token_text(token))

    def _apply_theme(self) -> None:
        for button, name in ((self.back, "previous"), (self.forward, "next")):
            button.setIcon(icon(name))
            button.setIconSize(QSize(px(14), px(14)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "area"):
            self._apply_theme()


def _label(name: str, text: str = "") -> QLabel:
    label = plain_label(name, text, wrap=True)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label
