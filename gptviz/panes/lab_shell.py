"""The lab of placeholders: first the wiring, then one real part after another."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QVBoxLayout, QWidget

from gptviz.labs.shell_request import CHAPTER_RUN, CHAPTER_TEXTS, ShellRequest
from gptviz.model.config import GPT2_SMALL, TINY
from gptviz.model.parts import ALL_PARTS, Part
from gptviz.panes.lab_pane import LabPane
from gptviz.panes.lab_question import LabQuestion
from gptviz.panes.lab_shell_words import SHOWN, comparison, drawing, logit_rows, logit_titles, stage_rows, wiring
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.tour.questions import question
from gptviz.tour.sizes import Sizes
from gptviz.widgets.buttons import row_of, text_button
from gptviz.widgets.lab_body import LabBody
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.part_rows import PartRows
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.presets import Presets
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.side_column import SideColumn
from gptviz.widgets.text_field import TextField
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.value_table import Column, ValueTable

if TYPE_CHECKING:
    from gptviz.labs.shell import ShellRun

_SIDE = 304  # px
_WIDE = 1560  # px: from here on the logits stand beside the stages
_WIDEST = 1600  # px
_SIZES = {"tiny": TINY, "gpt2-small": GPT2_SMALL}
_PARTS = (
    (Part.FINAL_NORM, "Final norm", "DummyLayerNorm: returns its input", "LayerNorm after the last block"),
    (Part.BLOCK_NORMS, "Norms in the blocks", "DummyLayerNorm, twice in each block", "LayerNorm before each half"),
    (Part.FEED_FORWARD, "Feed-forward", "DummyFeedForward: returns its input", "Expand, GELU, contract"),
    (Part.SHORTCUTS, "Shortcuts", "Nothing is added", "Each half adds its input to its output"),
    (Part.ATTENTION, "Attention", "DummyAttention: returns its input", "Multi-head attention"),
)
_LARGEST_SEED = 2**63 - 1


class ShellLabPane(LabPane):
    """Runs a shell after each change, and compares it with the run before."""

    name = "lab-shell"
    title = "Shell"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._request = ShellRequest()
        self._run: ShellRun | None = None
        self.header = LabHeader(
            "Is it wired right, before anything is computed right?",
            "A placeholder returns its input. Token IDs go in, logits of the right shape come out. Then make one part "
            "real at a time, and see which stages appear and which numbers change.",
            "Reset to the placeholders",
        )
        self.header.reset.connect(self._reset)
        self._make_controls()
        self._make_results()
        told = (self.wiring, self.comparison, self.drawing, self.stages, self.logits)
        self.question = LabQuestion(session, told, self)
        self._lay_out()
        self._show_request()

    def _make_controls(self) -> None:
        self.parts = PartRows(_PARTS)
        self.parts.changed.connect(self._parts_changed)
        self.next = text_button("Make the next part real", "In the chapter's order")
        self.next.clicked.connect(self._next_part)
        self.presets = Presets(
            [
                ("placeholders", "Placeholders", "All parts return their input"),
                ("finished", "All real", "The finished GPTModel"),
                ("chapter", "The chapter's run", "GPT-2 small, all placeholders, seed 123, dropout on"),
            ],
            "Try",
        )
        self.presets.chosen.connect(self._preset_chosen)
        self.configuration = Segmented(
            [
                ("tiny", "tiny", "2 blocks, 32 features: answers at once"),
                ("gpt2-small", "GPT-2 small", "The chapter's configuration: takes a second or more"),
            ],
            "Configuration",
        )
        self.configuration.chosen.connect(lambda key: self._ask(config=_SIZES[key]))
        self.weights = Segmented(
            [
                (
                    "drawn",
                    "drawn in order",
                    "As the code does: a part that draws weights moves all that are drawn after",
                ),
                ("kept", "kept apart", "Each part has the same weights, whatever else is real"),
            ],
            "Weights",
        )
        self.weights.chosen.connect(lambda key: self._ask(keep_weights=key == "kept"))
        self.dropout = Segmented(
            [("off", "off", "Evaluation mode"), ("on", "on", "Training mode, in which the chapter runs its shell")],
            "Dropout",
        )
        self.dropout.chosen.connect(lambda key: self._ask(dropout=key == "on"))
        self.seed = NumberField(
            "Seed", 123, NumberRule(whole=True, lowest=0, highest=_LARGEST_SEED), tip="Seed of the random weights"
        )
        self.seed.changed.connect(lambda seed: self._ask(seed=int(seed)))
        self.texts = tuple(
            TextField(f"Text {number}", text, f"Row {number} of the batch; the rows need equally many tokens")
            for number, text in enumerate(CHAPTER_TEXTS, start=1)
        )
        for field in self.texts:
            field.changed.connect(self._texts_changed)
        self.busy = _label("muted")

    def _make_results(self) -> None:
        self.problem = _label("fieldMessage")
        self.problem.hide()
        self.wiring = _label("paneHeading")
        self.comparison = _label("")
        self.drawing = _label("muted")
        self.stages = ValueTable(
            "Stages of the shell",
            (
                Column("Stage", 204, most=260, mono=True),
                Column("Operation", 124, most=148),
                Column("Output", 124, figures=True),
                Column("mean", 86, figures=True),
                Column("spread", 80, figures=True),
                Column("Against the run before", 192, most=208, figures=True),
                Column("Weights", 88, figures=True),
            ),
        )
        self.logits = ValueTable(
            "Logits",
            (Column("Logits", 132, mono=True), *[Column("", 68 if k != SHOWN else 28, figures=True) for k in range(7)]),
        )

    def _lay_out(self) -> None:
        side = SideColumn(_SIDE)
        side.add_section("Parts", self.presets, self.parts, row_of(self.next, self.busy))
        side.add_section("Batch", *self.texts)
        rows = (("Configuration", self.configuration), ("Weights", self.weights), ("Dropout", self.dropout))
        side.add_section("Model", _grid(rows), self.seed)
        words = QVBoxLayout()
        words.setSpacing(UNIT)
        for widget in (self.problem, self.question.box, self.wiring, self.comparison, self.drawing):
            words.addWidget(widget)
        self.tables = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.tables.setSpacing(3 * UNIT)
        self.tables.addWidget(self.stages, 5)
        self.tables.addWidget(self.logits, 3)
        body = LabBody(side, (words, self.tables), self.tables, _WIDEST)
        self.new_layout().addWidget(body, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= px(_WIDE)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self.tables.direction() != direction:
            self.tables.setDirection(direction)

    # --- what a person asks for --------------------------------------------------------------------------

    def _ask(self, **what: object) -> None:
        self._request = replace(self._request, **what)  # type: ignore[arg-type]
        self._show_request()
        self.submit()

    def _reset(self) -> None:
        self.question.expect()
        self._request, self._run = ShellRequest(), None
        self._show_request()
        self.submit()

    def _preset_chosen(self, key: str) -> None:
        self.question.expect()
        if key == "chapter":
            self._request = CHAPTER_RUN
        else:
            self._request = replace(self._request, real=ALL_PARTS if key == "finished" else frozenset())
        self._show_request()
        self.submit()

    def _parts_changed(self, real: frozenset[str]) -> None:
        self._ask(real=frozenset(Part(key) for key in real))

    def _next_part(self) -> None:
        missing = [part for part in Part if part not in self._request.real]
        if missing:
            self._ask(real=self._request.real | {missing[0]})

    def _texts_changed(self, text: str) -> None:
        self._request = replace(self._request, texts=tuple(field.text for field in self.texts))
        self.submit()

    def _show_request(self) -> None:
        request = self._request
        self.parts.set_real(frozenset(request.real))
        self.next.setEnabled(request.real != ALL_PARTS)
        self.presets.set_choice(_preset_of(request))
        self.configuration.set_choice(next(key for key, config in _SIZES.items() if config == request.config))
        self.weights.set_choice("kept" if request.keep_weights else "drawn")
        self.dropout.set_choice("on" if request.dropout else "off")
        if self.seed.value != request.seed or self.seed.message:
            self.seed.set_value(request.seed)
        for field, text in zip(self.texts, request.texts, strict=True):
            field.set_text(text)

    # --- the run -----------------------------------------------------------------------------------------

    def submit(self) -> None:
        self.busy.setText("running…")
        self.compute(partial(lab_jobs.shell, self._request, self._run))

    def accept(self) -> None:
        self.busy.setText("")
        self.problem.hide()

    def refuse(self, field: str | None, reason: str) -> None:
        for number, text in enumerate(self.texts, start=1):
            if field == f"text {number}":
                text.refuse(reason)
                return
        self.problem.setText(reason)
        self.problem.show()

    def show_result(self, run: "ShellRun") -> None:
        before, self._run = self._run, run
        self.question.before(partial(question, "logits", Sizes(run.request.config, *run.input_shape)))
        for field, ids in zip(self.texts, run.ids, strict=True):
            field.accept("  ".join(str(token) for token in ids))
        self.wiring.setText(wiring(run))
        self.comparison.setText(comparison(run, before))
        self.drawing.setText(drawing(run, before))
        self.stages.set_rows(stage_rows(run))
        self.logits.set_titles(logit_titles(run))
        self.logits.set_rows(logit_rows(run))


def _grid(rows: Sequence[tuple[str, QWidget]]) -> QWidget:
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(UNIT)
    grid.setColumnStretch(0, 1)
    for place, (name, widget) in enumerate(rows):
        label = plain_label("", name)
        grid.addWidget(label, place, 0)
        grid.addWidget(widget, place, 1)
    return box


def _preset_of(request: ShellRequest) -> str | None:
    if request == CHAPTER_RUN:
        return "chapter"
    return "finished" if request.real == ALL_PARTS else None if request.real else "placeholders"


def _label(name: str) -> QLabel:
    return plain_label(name, wrap=True, selectable=True)
