"""The lab of the feed-forward network: which numbers have to match, and where a mismatch starts."""

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gptviz.labs.feed_forward_sizes import PRESETS, Sizes, State, Verdict
from gptviz.panes.lab_pane import LabPane
from gptviz.panes.lab_question import LabQuestion
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.tour import lab_questions as questions
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.presets import Presets
from gptviz.widgets.shape_chain import Link, ShapeChain
from gptviz.widgets.text import data_size, shape
from gptviz.widgets.theme import UNIT, px

if TYPE_CHECKING:
    from gptviz.labs.feed_forward import FeedForwardRun, Step

_WIDEST = 1640  # px
_LARGEST = 999_999_999
_FIELDS = (  # field, caption, column of the chain, tooltip
    ("batch", "batch", 0, "Texts in the batch"),
    ("tokens", "tokens", 0, "Tokens of each text"),
    ("features", "features", 0, "Features of each token: the width of the residual stream"),
    ("expand_in", "in_features", 1, "What the first layer takes"),
    ("expand_out", "out_features", 1, "What the first layer returns"),
    ("contract_in", "in_features", 3, "What the second layer takes"),
    ("contract_out", "out_features", 3, "What the second layer returns"),
)
_STEPS = {
    "input": ("Batch", "embedding"),
    "expand": ("Linear, expand", "feed-forward"),
    "gelu": ("GELU", "feed-forward"),
    "contract": ("Linear, contract", "feed-forward"),
    "shortcut": ("Shortcut", "shortcut"),
    "next": ("Next block", "norm"),
}
_SIGNS = {
    Verdict.FITS: ("✓", "good"),
    Verdict.BREAKS_INSIDE: ("✗", "bad"),
    Verdict.WRONG_OUTSIDE: ("✗", "bad"),
    Verdict.SILENT: ("!", "odd"),
}


class FeedForwardLabPane(LabPane):
    """Runs the chain after each change, and marks the first place where numbers don't match."""

    name = "lab-feed-forward"
    title = "Feed-forward"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._sizes = Sizes()
        self.header = LabHeader(
            "Where does a wrong size start to hurt?",
            "A batch passes through expand, GELU and contract, then the shortcut and the next block. Change any size: "
            "the run is real, and so is the error.",
        )
        self.header.reset.connect(lambda: self._use(Sizes()))
        self.presets = Presets([(preset.key, preset.title, preset.tip) for preset in PRESETS], "Try")
        self.presets.chosen.connect(self._preset_chosen)
        self.chain = ShapeChain()
        self.chain.setAccessibleName("Chain of shapes")
        rule = NumberRule(whole=True, lowest=1, highest=_LARGEST)
        self.fields = {
            key: NumberField(caption, getattr(self._sizes, key), rule, tip=tip) for key, caption, _, tip in _FIELDS
        }
        for key, caption, column, _ in _FIELDS:
            field = self.fields[key]
            field.edit.setAccessibleName(f"{('Batch', 'First layer', '', 'Second layer')[column]}: {caption}")
            field.changed.connect(self._edited)
        self.verdict = plain_label("verdict", wrap=True, selectable=True)
        self.reason = plain_label("", wrap=True, selectable=True)
        self.error = plain_label("torchError", wrap=True, selectable=True)
        self.remedy = plain_label("", wrap=True, selectable=True)
        self.cost = plain_label("muted", wrap=True, selectable=True)
        self.told = QWidget()
        self.question = LabQuestion(session, (self.chain, self.told), self)
        self._lay_out()
        self.presets.set_choice("chapter")

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(0)
        grid.setVerticalSpacing(2 * UNIT)
        for column in range(len(_STEPS)):
            grid.setColumnStretch(column, 1)
            grid.setColumnMinimumWidth(column, 1)
        grid.addWidget(self.chain, 0, 0, 1, len(_STEPS))
        grid.setRowStretch(0, 1)
        for column in (0, 1, 3):
            box = QVBoxLayout()
            box.setContentsMargins(px(10), 0, 0, 0)
            box.setSpacing(0)
            for key, _, own, _ in _FIELDS:
                if own == column:
                    box.addWidget(self.fields[key])
            box.addStretch()
            grid.addLayout(box, 1, column)
        words = QVBoxLayout(self.told)
        words.setContentsMargins(px(10), 0, 0, 0)
        words.setSpacing(2 * UNIT)
        for widget in (self.verdict, self.error, self.reason, self.remedy, self.cost):
            words.addWidget(widget)
        words.addStretch()
        grid.addWidget(self.told, 1, 4, 1, 2)
        body = QWidget()
        body.setLayout(grid)
        body.setMaximumWidth(px(_WIDEST))
        layout = self.new_layout()
        layout.addWidget(self.presets)
        layout.addWidget(self.question.box)
        layout.addWidget(body, 4)
        layout.addStretch(1)

    def _use(self, sizes: Sizes) -> None:
        self.question.expect()
        self._sizes = sizes
        for field in fields(sizes):
            self.fields[field.name].set_value(getattr(sizes, field.name))
        self.submit()

    def _preset_chosen(self, key: str) -> None:
        self._use(next(preset.sizes for preset in PRESETS if preset.key == key))

    def _edited(self, value: object) -> None:
        self._sizes = Sizes(**{key: int(field.value) for key, field in self.fields.items()})
        self.submit()

    def submit(self) -> None:
        self.presets.set_choice(next((preset.key for preset in PRESETS if preset.sizes == self._sizes), None))
        self.compute(partial(lab_jobs.feed_forward, self._sizes))

    def accept(self) -> None:
        for field in self.fields.values():
            field.accept()

    def refuse(self, field: str | None, reason: str) -> None:
        self.fields[field or "batch"].refuse(reason)

    def show_result(self, run: "FeedForwardRun") -> None:
        self.question.before(partial(questions.feed_forward, run.sizes))
        sign, tone = _SIGNS[run.verdict]
        self.verdict.setText(f"{sign}  {run.headline}")
        self.verdict.setProperty("tone", tone)
        self.verdict.style().polish(self.verdict)
        wrong = run.first_mismatch
        self.error.setText(f"RuntimeError: {wrong.error}" if wrong is not None and wrong.error else "")
        self.error.setVisible(bool(self.error.text()))
        self.reason.setText(run.reason)
        self.remedy.setText(f"→ {run.remedy}" if run.remedy else "")
        self.remedy.setVisible(bool(run.remedy))
        self.cost.setText(f"Both layers: {run.parameters:,} parameters, {data_size(4 * run.parameters)} in fp32.")
        self.chain.set_links([_link(step, run) for step in run.steps], run.headline)


def _link(step: "Step", run: "FeedForwardRun") -> Link:
    title, family = _STEPS[step.key]
    sizes = run.sizes
    widths: dict[str, tuple[int | None, int | None]] = {
        "input": (None, sizes.features),
        "expand": (sizes.expand_in, sizes.expand_out),
        "gelu": (sizes.expand_out, sizes.expand_out),
        "contract": (sizes.contract_in, sizes.contract_out),
        "shortcut": (sizes.features, sizes.features),
        "next": (sizes.features, sizes.features),
    }
    takes, gives = widths[step.key]
    return Link(
        title=title,
        operation=step.operation,
        family=family,
        takes=takes,
        gives=gives,
        arrives=step.takes[-1] if step.takes else None,
        out=shape(step.gives) if step.gives else "",
        reached=step.state is not State.NOT_REACHED,
        wrong=step.state in (State.BROKEN, State.SILENT),
        silent=step.state is State.SILENT,
    )
