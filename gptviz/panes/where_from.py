"""Where from: what each earlier part added to a value of the residual stream, or to a logit."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from gptviz.analysis.attribution_answer import Answer, answer
from gptviz.analysis.attribution_question import token_named
from gptviz.analysis.table import Table
from gptviz.capture.errors import NotRecordedError
from gptviz.panes.pane import Pane, differs
from gptviz.panes.where_from_parts import Ask, Outcome
from gptviz.panes.where_from_rows import figures_of, note_of, parts_by_key, problem_of, rows_of
from gptviz.session.missing import not_recorded
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import attribution_table
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import visible
from gptviz.widgets.theme import UNIT
from gptviz.widgets.waterfall import Waterfall

if TYPE_CHECKING:
    from gptviz.analysis.attribution import Part

_KINDS = [
    ("stream", "Stream value", "What was added up to one value of the residual stream"),
    ("logit", "Logit", "What every part contributed to the logit of a token"),
    ("lead", "Logit lead", "Why this token and not that one: the difference of two logits"),
]
_ORDERS = [
    ("execution", "In order", "In the order of execution: each bar begins where the one before ended"),
    ("size", "By size", "The largest contributions first"),
]
_PATIENCE_MS = 200  # a shorter wait is not worth a word


class WhereFromPane(Pane):
    """Bars that end at the true value. A click on a part goes to the number that it is, or was made from.

    What a part added to the stream is a number of a stage; what a head added is a part of its attention's sum, and
    what went into a logit is a sum over all features: these lead to their stage.
    """

    name = "where-from"
    title = "Where from"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.kinds = Segmented(_KINDS, "What is taken apart")
        self.orders = Segmented(_ORDERS, "Order of the parts")
        self.orders.set_choice("execution")
        self.ask = Ask()
        self.bars = Waterfall(("part", "contribution", "value"))
        self.bars.setAccessibleName("Parts that add up to the value")
        self.outcome = Outcome()
        self._order = "execution"
        self._answer: Answer | None = None
        self._parts: dict[str, Part] = {}
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._show_progress)
        self._connect()
        top = QHBoxLayout()
        top.addWidget(self.kinds)
        top.addStretch()
        top.addWidget(self.orders)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 3 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(top)
        layout.addWidget(self.ask)
        layout.addWidget(self.bars, 1)
        layout.addWidget(self.outcome)

    def _connect(self) -> None:
        attributing = self.session.attributing
        self.kinds.chosen.connect(self._kind_chosen)
        self.orders.chosen.connect(self._order_chosen)
        self.ask.stage_chosen.connect(self.session.select_stage)
        self.ask.feature_chosen.connect(self._feature_chosen)
        self.ask.token_picked.connect(self._token_picked)
        self.ask.token_typed.connect(self._token_typed)
        self.bars.chosen.connect(self._part_chosen)
        self.bars.opened.connect(self._part_opened)
        self.outcome.stopped.connect(attributing.stop)
        self.outcome.resumed.connect(attributing.go_on)

    # --- state -------------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "trace", "where_from", "options"):
            return
        self.kinds.set_choice(new.where_from.question.kind)
        if new.trace is None or not new.trace.complete:
            missing = (
                "No pass has run on this model yet." if new.trace is None else "The pass has not come to its end yet."
            )
            self._show_nothing(missing)
            return
        parts = new.where_from.parts
        try:
            found = None if parts is None else answer(new.trace, parts, new.where_from.question)
        except NotRecordedError as error:
            self._show_nothing(not_recorded(str(error)))
            return
        if found is None:
            self._wait(new)
            return
        self._patience.stop()
        self._answer, self._parts = found, parts_by_key(found.attribution)
        self.ask.show_question(new, found.question, self.session.token_text)
        self._show(found)

    def _show(self, found: Answer) -> None:
        parts = self.session.state.where_from.parts
        self.bars.set_stale(False)
        self.bars.set_rows(rows_of(found, self._title(found), self._order), joined=self._order == "execution")
        attribution = found.attribution
        note = note_of(attribution)
        if parts is not None and parts.lacks:
            note += " " + not_recorded(parts.lacks, "Not told apart further:")
        self.outcome.show_sum(figures_of(attribution), note, problem_of(attribution))

    def as_table(self) -> Table | None:
        """All parts, also those that are folded."""
        return None if self._answer is None else attribution_table(self._answer.attribution)

    def _title(self, found: Answer) -> str:
        question = found.question
        if question.kind == "stream":
            return f"feature {question.feature}"
        return "logit" if question.kind == "logit" else "lead"

    def _show_nothing(self, why: str) -> None:
        self._patience.stop()
        self._answer, self._parts = None, {}
        self.bars.set_rows((), joined=True)
        self.ask.show_nothing()
        self.outcome.show_words(why)

    def _wait(self, state: ViewState) -> None:
        """Keep the last answer, faintly, until this one is there."""
        self.bars.set_stale(True)
        view = state.where_from
        if view.problem:
            self.outcome.show_words(view.problem, broken=True)
        elif view.stopped or self.outcome.shows_progress:
            self._show_progress()
        elif not self._patience.isActive():
            self._patience.start()

    @Slot()
    def _show_progress(self) -> None:
        state = self.session.state
        if state.trace is not None:
            view = state.where_from
            done = 0 if view.parts is None else view.parts.blocks
            self.outcome.show_progress(done, state.trace.config.n_layers, view.stopped)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.attributing.watch(self._in_sight)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._patience.stop()
        self.session.attributing.watch(False)

    @Slot(bool)
    def set_in_sight(self, in_sight: bool) -> None:
        super().set_in_sight(in_sight)
        self.session.attributing.watch(in_sight and self.isVisible())

    # --- intents -----------------------------------------------------------------------------------------

    def _kind_chosen(self, kind: str) -> None:
        self.ask.show_problem("")
        self.session.attributing.ask(kind=kind)

    def _order_chosen(self, order: str) -> None:
        self._order = order
        if self._answer is not None:
            self._show(self._answer)

    def _feature_chosen(self, feature: int) -> None:
        self.session.attributing.ask(feature=feature)

    def _token_picked(self, place: str, token: int | None) -> None:
        self.ask.show_problem("")
        what: dict[str, Any] = {place: token}
        self.session.attributing.ask(**what)

    def _token_typed(self, place: str, text: str) -> None:
        trace, found = self.session.state.trace, self._answer
        if trace is None or found is None:
            return
        try:
            token = token_named(text, self.session.ids_of, trace.config.vocab_size)
        except ValueError as error:
            self.ask.show_problem(str(error))
            return
        other = {"token": found.question.minus, "minus": found.question.token}[place]
        if token == other and found.question.kind == "lead":
            self.ask.show_problem(
                f"“{visible(self.session.token_text(token))}” stands on both sides: give another token"
            )
            return
        self._token_picked(place, token)
        self.ask.accept_typed()

    def _part_chosen(self, key: str) -> None:
        if self._answer is None:
            return
        question, part = self._answer.question, self._parts.get(key)
        what: dict[str, Any] = {"feature": question.feature} if question.kind == "stream" else {}
        if part is None:
            stage = question.stage
            if question.kind != "stream":
                stage, what = "out_head", {"token": question.token}
        elif part.head is not None:
            stage, what = part.stage, {"head": part.head}
        else:
            stage = part.stage
        if stage is not None:
            self.session.select_stage(stage, **what)

    def _part_opened(self, key: str) -> None:
        if self._answer is None:
            return
        question, part = self._answer.question, self._parts.get(key)
        if part is not None and part.head is not None and question.kind == "stream":
            self.session.select_stage(f"trf_blocks.{part.layer}.att.out_proj", head=part.head, feature=question.feature)
        else:
            self._part_chosen(key)
        if part is None or question.kind == "stream":
            self.explain_selected()
        else:
            self.pane_wanted.emit("stage")  # no one number of the stage is what went into the logit
