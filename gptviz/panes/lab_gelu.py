"""GELU and ReLU: curves, slopes and values at a point that is moved by hand."""

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gptviz.panes.lab_pane import LabPane
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.widgets.curve_legend import CurveLegend
from gptviz.widgets.curve_plot import CurvePlot, CurveStyle
from gptviz.widgets.formula import Formula
from gptviz.widgets.lab_columns import LabColumns
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.math_number import set_number
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule, write
from gptviz.widgets.number_table import NumberTable
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number

if TYPE_CHECKING:
    from gptviz.labs.gelu import ActivationRow, Curves, GeluResult

_START = 1.0
_TENTHS = 1e4  # the gap is drawn in units of 1e-4
_NEXT_TO_NOTHING = 1e-4
_GELU = CurveStyle("GELU", "feed-forward")
_RELU = CurveStyle("ReLU", "muted", dashed=True)
_GAP = CurveStyle("tanh form − exact form", "accent")
_X = NumberRule(
    lowest=-1e6, highest=1e6, lowest_reason="the curves are straight lines by then", highest_reason="GELU is x by then"
)


class GeluLabPane(LabPane):
    """What one number becomes, and how much of an error signal comes back through it."""

    name = "lab-gelu"
    title = "GELU and ReLU"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.header = LabHeader(
            "What does an activation let through?",
            "Move the point: type x, drag in a plot, or use the arrow keys. The upper curves are what comes out; the "
            "lower ones are the slopes, the share of the gradient that gets back.",
        )
        self.header.reset.connect(self._reset)
        self.point = NumberField("x", _START, _X, tip="Where the point is", step=0.05)
        self.point.changed.connect(self.submit)
        self.formulas = {key: Formula(14) for key in ("relu", "inner", "gelu", "exact")}
        for key, formula in self.formulas.items():
            formula.setAccessibleName(f"Formula of {key}")
        self.meaning = plain_label("muted", "Loading PyTorch…", wrap=True)
        self.values = CurvePlot("GELU and ReLU", (_GELU, _RELU))
        self.slopes = CurvePlot("Slopes of GELU and ReLU", (_GELU, _RELU))
        self.gap = CurvePlot("Difference between the two forms of GELU", (_GAP,))
        self.values_legend = CurveLegend("Output", (_GELU, _RELU))
        self.slopes_legend = CurveLegend("Slope", (_GELU, _RELU))
        self.gap_legend = CurveLegend("Two forms of GELU", (_GAP,))
        self.table = NumberTable(
            "GELU and ReLU at chosen points",
            ("x", "ReLU", "GELU", "exact", "tanh − exact", "GELU slope"),
            (
                "the input",
                "max(0, x)",
                "0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))): what the model computes",
                "x · Φ(x), with the error function",
                "what the tanh form leaves out",
                "the derivative of GELU, by autograd",
            ),
        )
        self.gap_note = plain_label("muted", wrap=True)
        self._drawn: Curves | None = None
        for plot in (self.values, self.slopes, self.gap):
            plot.moved.connect(self._moved)
        self._lay_out()

    def _lay_out(self) -> None:
        columns = LabColumns(
            [
                ([self.point, *self.formulas.values(), self.meaning, 1], 232, 232),
                ([self.values_legend, self.values, self.slopes_legend, self.slopes], 320, 800),
                ([plain_label("rowTitle", "Values"), self.table, self.gap_legend, self.gap, self.gap_note], 480, 640),
            ]
        )
        self.new_layout(side=5, top=4).addWidget(columns, 1)

    # --- asking ------------------------------------------------------------------------------------------

    def submit(self, *_: object) -> None:
        self.compute(partial(lab_jobs.gelu, float(self.point.value)))

    def _moved(self, x: float) -> None:
        self.point.set_value(float(x))
        self.submit()

    def _reset(self) -> None:
        self.point.set_value(_START)
        self.submit()

    # --- showing -----------------------------------------------------------------------------------------

    def refuse(self, field: str | None, reason: str) -> None:
        self.point.refuse(reason)

    def show_result(self, result: "GeluResult") -> None:
        if self._drawn is not result.curves:
            self._drawn = result.curves
            self._draw_curves(result.curves)
        here = result.point
        self.values.set_point(here.x, (here.gelu, here.relu))
        self.slopes.set_point(here.x, (here.gelu_slope, here.relu_slope))
        self.gap.set_point(here.x, (here.gap * _TENTHS,))
        self.values_legend.set_values((number(here.gelu), number(here.relu)))
        self.slopes_legend.set_values((number(here.gelu_slope), number(here.relu_slope)))
        self.gap_legend.set_values((number(here.gap, 2),))
        rows = [*(_written(row) for row in result.table), _written(here, "▸ ")]
        self.table.set_rows(rows, marked=len(rows) - 1)
        for key, markup in _formulas(here).items():
            self.formulas[key].set_markup(markup)
        self.meaning.setText(_meaning(here, result.curves))

    def _draw_curves(self, curves: "Curves") -> None:
        span = (float(curves.x[0]), float(curves.x[-1]))
        self.values.set_range(span, (-0.6, span[1] * 1.02))
        self.slopes.set_range(span, (-0.25, 1.25))
        self.gap.set_range(span, (-6.4, 6.4))
        self.values.set_curve(0, curves.x, curves.gelu)
        self.values.set_curve(1, curves.x, curves.relu)
        self.slopes.set_curve(0, curves.x, curves.gelu_slope)
        jump = len(curves.x) // 2 + 1  # ReLU's slope jumps at 0: no line between both sides
        self.slopes.set_curve(1, np.insert(curves.x, jump, 0.0), np.insert(curves.relu_slope, jump, np.nan))
        self.gap.set_curve(0, curves.x, curves.gap * _TENTHS)
        left, right = curves.largest_gap_at
        height = curves.largest_gap * _TENTHS
        sides = [(x, np.sign(np.interp(x, curves.x, curves.gap)) * height) for x in (left, right)]
        self.gap.set_marks([(x, y, number(y / _TENTHS, 2)) for x, y in sides])
        self.gap_note.setText(
            f"In 10⁻⁴. The model uses the tanh form, as GPT-2 did; the largest difference from the exact x · Φ(x) is "
            f"{number(curves.largest_gap, 3)}, at x = {number(left, 3)} and {number(right, 3)}."
        )


def _formulas(here: "ActivationRow") -> dict[str, str]:
    tanh = math.tanh(here.inner)
    factor = rf"\paren{{1 {'−' if tanh < 0 else '+'} {set_number(abs(tanh))}}}"
    return {
        "relu": rf"\word{{ReLU}} = \word{{max}}\paren{{0, x}} = {set_number(here.relu)}",
        "inner": rf"u = \root{{\frac{{2}}{{π}}}} \paren{{x + 0.044715 x^{{3}}}} = {set_number(here.inner)}",
        "gelu": rf"\word{{GELU}} = \frac{{x}}{{2}} \paren{{1 + \word{{tanh}}\paren{{u}}}}   "
        rf"\word{{}} = \frac{{{set_number(here.x)}}}{{2}} {factor} = {set_number(here.gelu)}",
        "exact": rf"\word{{exact}} = x · Φ\paren{{x}} = {set_number(here.exact)}",
    }


def _written(row: "ActivationRow", mark: str = "") -> tuple[str, ...]:
    return (
        f"{mark}{write(row.x)}",
        number(row.relu),
        number(row.gelu),
        number(row.exact),
        number(row.gap, 2),
        number(row.gelu_slope),
    )


def _meaning(here: "ActivationRow", curves: "Curves") -> str:
    where, low = curves.lowest
    if np.float32(here.x) == 0:  # as the model has it
        return (
            "At 0 both give 0. GELU is smooth here, with slope ½; ReLU has a corner, and PyTorch takes 0 for its slope."
        )
    if here.x > 0:
        if here.gelu == here.relu:
            return "ReLU hands x on as it is, and so does GELU: this far to the right nothing is left of the bend."
        return (
            f"ReLU hands x on as it is. GELU gives {number(100 * here.gelu / here.relu, 3)} % of it, and more of x the "
            f"larger x gets."
        )
    lowest = f"GELU's lowest value is {number(low, 3)}, at x = {number(where, 3)}."
    if here.x < where and abs(here.gelu) < _NEXT_TO_NOTHING:
        return f"Far to the left both give next to nothing, and next to no gradient comes back. {lowest}"
    return (
        f"ReLU gives 0 with slope 0: a unit that is always here never learns. GELU still gives {number(here.gelu, 3)} "
        f"and a slope of {number(here.gelu_slope, 3)}. {lowest}"
    )
