"""LayerNorm by hand: a row of numbers, every step on it with the numbers filled in, and BatchNorm beside it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout

from gptviz.panes.lab_layer_norm_text import explanation, formulas, measured
from gptviz.panes.lab_pane import LabPane
from gptviz.panes.lab_question import LabQuestion
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.tour.lab_questions import Spread, variance_after
from gptviz.widgets.figures import Figures
from gptviz.widgets.formula import Formula
from gptviz.widgets.lab_columns import LabColumns, Part
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.norm_picture import NormData, NormPicture
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_line import NumberLine
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.row_table import RowTable
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import number
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.value_slider import ValueSlider

if TYPE_CHECKING:
    from gptviz.labs.layer_norm import LayerNormResult

_EPS = 1e-5
_LONGEST = 10_000
_CONSTANT = 0.5
_TALL = 675  # px
_ROW_RULE = NumberRule(
    lowest=-1e15,
    highest=1e15,
    lowest_reason="its square would leave single precision",
    highest_reason="its square would leave single precision",
)
_LENGTH_RULE = NumberRule(
    whole=True,
    lowest=1,
    highest=_LONGEST,
    lowest_reason="a row can't be empty",
    highest_reason="a longer row can't be shown",
)
_EPS_RULE = NumberRule(lowest=0.0, highest=1e6, lowest_reason="the root of a negative number is none")


class LayerNormLabPane(LabPane):
    """The row is edited in the table; everything else follows from it."""

    name = "lab-layer-norm"
    title = "LayerNorm"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.header = LabHeader(
            "What does LayerNorm do to a row of numbers?",
            "Change a number: type into the first row, or paste a list. It starts as six activations that a real "
            "Linear(5, 6) with ReLU made from random input, seed 123.",
        )
        self.header.reset.connect(self._reset)
        self.rows = Segmented(
            [
                ("0", "Row 1", "The first row of the chapter's batch"),
                ("1", "Row 2", "The second row of the chapter's batch"),
                ("constant", "Constant", "All numbers equal: their variance is 0"),
            ],
            "Row of numbers",
        )
        self.length = NumberField("Length", 6, _LENGTH_RULE, tip="How many numbers the row has", hint="numbers")
        self.divisor = Segmented(
            [
                ("population", "÷ n", "Population variance, as GPT-2 and the chapter have it"),
                ("sample", "÷ (n − 1)", "Sample variance, as torch's var has it by default"),
            ],
            "Variance",
        )
        self.eps_switch = Segmented(
            [("on", "1e-5", "The eps of GPT-2"), ("off", "0", "Nothing that prevents a division by zero")], "eps"
        )
        self.eps = NumberField("eps", _EPS, _EPS_RULE, tip="What is added to the variance under the root", step=1e-5)
        self.eps.put_beside(self.eps_switch)
        self.scale = ValueSlider("scale", (-3.0, 3.0), 1.0, tip="What every normalised number is multiplied by")
        self.shift = ValueSlider("shift", (-3.0, 3.0), 0.0, tip="What is added then")
        self.table = RowTable("Row of numbers", "x", _ROW_RULE, _LONGEST)
        self.formulas = {key: Formula(15) for key in ("mean", "variance", "normalised", "output", "after")}
        for key, formula in self.formulas.items():
            formula.setAccessibleName(f"Formula of {key}")
        self.line = NumberLine("The row before, normalised, and after scale and shift")
        self.measured = Figures()
        self.measured.setAccessibleName("Measured after normalising")
        self.explanation = plain_label("muted", "Loading PyTorch…", wrap=True)
        self.by_row = NormPicture("LayerNorm averages over each row", over_rows=True)
        self.by_column = NormPicture("BatchNorm would average over each column", over_rows=False)
        self.difference = plain_label("muted", wrap=True)
        self.result: LayerNormResult | None = None
        self._place = 0  # the row of the chapter's batch that the edited one stands for
        told = (self.formulas["after"], self.measured, self.explanation)
        self.question = LabQuestion(session, told, self)
        self._connect()
        self._lay_out()
        self._show_settings()

    def _connect(self) -> None:
        self.rows.chosen.connect(self._row_chosen)
        self.length.changed.connect(self._length_changed)
        self.divisor.chosen.connect(self.submit)
        self.eps_switch.chosen.connect(self._eps_chosen)
        self.eps.changed.connect(self._eps_typed)
        self.table.changed.connect(self._row_edited)
        self.table.chosen.connect(self._show_formulas)
        for slider in (self.scale, self.shift):
            slider.changed.connect(self.submit)

    def _lay_out(self) -> None:
        settings: list[Part] = [
            _named("Numbers", self.rows),
            self.length,
            _named("Variance", self.divisor),
            self.eps,
            self.scale,
            self.shift,
            1,
        ]
        steps: list[Part] = [self.question.box, self.table, *self.formulas.values()]
        steps += [self.measured, self.explanation, self.line, 1]
        columns = LabColumns(
            [
                (settings, 216, 216),
                (steps, 490, 800),
                ([self.by_row, self.by_column, self.difference, 1], 430, 600),
            ]
        )
        self.new_layout(side=5, top=4).addWidget(columns, 1)

    # --- asking ------------------------------------------------------------------------------------------

    def submit(self, *_: object) -> None:
        self._ask_for(self.table.values or None)

    def _ask_for(self, values: Sequence[float] | None) -> None:
        """Ask for everything on ``values``; None stands for a row of the chapter."""
        sample = self.divisor.button("sample").isChecked()
        settings = (sample, float(self.eps.value), self.scale.value, self.shift.value)
        self.compute(partial(lab_jobs.layer_norm, values, self._place, settings))

    def _row_chosen(self, key: str) -> None:
        self.question.expect()
        if key == "constant":
            self.table.set_values([_CONSTANT] * max(1, len(self.table.values)))
            self.submit()
        else:
            self._place = int(key)
            self._ask_for(None)

    def _row_edited(self) -> None:
        self.length.set_value(len(self.table.values))
        self.submit()

    def _length_changed(self, length: int) -> None:
        self.table.set_length(int(length))

    def _eps_chosen(self, key: str) -> None:
        self.eps.set_value(_EPS if key == "on" else 0.0)
        self.submit()

    def _eps_typed(self, eps: float) -> None:
        self.eps_switch.set_choice("off" if eps == 0 else "on")
        self.submit()

    def _reset(self) -> None:
        self.question.expect()
        self._place = 0
        self._show_settings()
        self._ask_for(None)

    def _show_settings(self) -> None:
        """Show the chapter's settings."""
        self.rows.set_choice("0")
        self.divisor.set_choice("population")
        self.eps_switch.set_choice("on")
        self.eps.set_value(_EPS)
        self.scale.set_value(1.0)
        self.shift.set_value(0.0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.line.setVisible(event.size().height() >= px(_TALL))  # where there is room for it

    # --- showing -----------------------------------------------------------------------------------------

    def refuse(self, field: str | None, reason: str) -> None:
        self.length.refuse(reason)

    def show_result(self, result: "LayerNormResult") -> None:
        self.result = result
        steps, both = result.steps, result.both
        if len(steps.row) != len(self.table.values) or not self._shows(steps.row.tolist()):
            self.table.set_values(steps.row.tolist())
            self.length.set_value(len(steps.row))
        self.table.set_computed(
            [
                ("x − mean", steps.centred),
                ("normalised", steps.normalised),
                ("scale, shift", steps.output),
            ]
        )
        spread = Spread(len(steps.row), steps.before.variance, steps.root, steps.settings.eps, steps.after.variance)
        self.question.before(partial(variance_after, spread, _five))
        self._show_formulas()
        self.measured.set_groups([measured(steps)])
        self.explanation.setText(explanation(steps))
        edited = self._place if result.replaced else None
        rows, columns = ([(m.mean, m.variance) for m in moments] for moments in (both.rows, both.columns))
        self.by_row.set_data(NormData(both.batch, both.by_row, rows, edited))
        self.by_column.set_data(NormData(both.batch, both.by_column, columns, edited))
        self.difference.setText(_difference(result.replaced, self._place))

    def _shows(self, row: list[float]) -> bool:
        """Tell whether the table has these numbers, up to single precision."""
        return bool((np.array(self.table.values, dtype=np.float32) == np.array(row, dtype=np.float32)).all())

    def _show_formulas(self, *_: object) -> None:
        if self.result is None:
            return
        steps = self.result.steps
        written = formulas(steps, min(self.table.place, len(steps.row) - 1))
        for key, formula in self.formulas.items():
            formula.set_markup(written[key])
        rows = [("x", steps.row), ("normalised", steps.normalised), ("scale, shift", steps.output)]
        self.line.set_rows(rows, self.table.place)


def _five(value: float) -> str:
    """Write a number as the measured variance is."""
    return number(value, 5)


def _difference(replaced: bool, place: int) -> str:
    if not replaced:
        return (
            "The chapter's batch as it was, as your row has another length. BatchNorm needs the other rows of the "
            "batch; LayerNorm needs none."
        )
    other = 2 - place
    return (
        f"Change a number of row {place + 1}: LayerNorm leaves row {other} alone, BatchNorm moves it. With LayerNorm a "
        f"token's result never depends on what else is in the batch, nor on how long the batch is."
    )


def _named(name: str, switch: Segmented) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(UNIT)
    column.addWidget(plain_label("caption", name))
    column.addWidget(switch, 0, Qt.AlignmentFlag.AlignLeft)
    return column
