"""Shortcuts and gradients: how much of the error reaches the first layer, with a way around each layer and without."""

import math
from functools import partial
from typing import TYPE_CHECKING

from gptviz.panes.lab_pane import LabPane
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.widgets.curve_legend import CurveLegend
from gptviz.widgets.curve_plot import CurveStyle
from gptviz.widgets.figures import Figures
from gptviz.widgets.formula import Formula
from gptviz.widgets.lab_columns import LabColumns
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.layer_plot import LayerPlot
from gptviz.widgets.network_picture import NetworkPicture
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.number_table import NumberTable
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number

if TYPE_CHECKING:
    from gptviz.labs.gradients import Flow, GradientFlow

_CHAPTER = {"seed": 123, "depth": 5, "width": 3}
_LARGEST_SEED = 2**63 - 1
_MOST_LAYERS = 500
_WIDEST_LAYER = 999_999_999
_PLAIN = CurveStyle("without shortcuts", "muted", dashed=True)
_SHORTCUT = CurveStyle("with shortcuts", "accent")
_RULES = {
    "seed": NumberRule(whole=True, lowest=0, highest=_LARGEST_SEED, lowest_reason="seeds count from 0"),
    "depth": NumberRule(
        whole=True,
        lowest=1,
        highest=_MOST_LAYERS,
        lowest_reason="there is no network without a layer",
        highest_reason="more layers would not answer at once",
    ),
    "width": NumberRule(
        whole=True,
        lowest=1,
        highest=_WIDEST_LAYER,
        lowest_reason="a layer needs an input",
        highest_reason="no memory holds a wider layer",
    ),
}
_TIPS = {
    "seed": ("Seed", "Where the random weights start from", "of the weights"),
    "depth": ("Depth", "The number of layers", "layers"),
    "width": ("Width", "The number of features of every layer but the last, which has 1", "features"),
}


class GradientsLabPane(LabPane):
    """One deep network, its initial weights kept, run backwards twice."""

    name = "lab-gradients"
    title = "Shortcuts and gradients"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.header = LabHeader(
            "Why do the first layers learn?",
            "A network of Linear and GELU layers with the same initial weights, run backwards twice: without "
            "shortcuts, and with each layer's input added to its output.",
        )
        self.header.reset.connect(self._reset)
        self.fields: dict[str, NumberField] = {}
        for key, (name, tip, hint) in _TIPS.items():
            field = self.fields[key] = NumberField(name, _CHAPTER[key], _RULES[key], tip=tip, hint=hint)
            field.changed.connect(self.submit)
        self.facts = Figures()
        self.facts.setAccessibleName("The network")
        self.note = plain_label("notice", wrap=True)
        self.legend = CurveLegend("Mean absolute gradient", (_PLAIN, _SHORTCUT))
        self.plot = LayerPlot("Gradients of the weights, layer by layer", (_PLAIN, _SHORTCUT), "layer")
        self.table = NumberTable(
            "Gradients of the weights, layer by layer",
            ("layer", "weights", "without", "with", "with ÷ without"),
            (
                "the first layer is the one at the input",
                "outputs × inputs",
                "mean |gradient| without shortcuts",
                "mean |gradient| with shortcuts",
            ),
        )
        self.ratios = Figures()
        self.ratios.setAccessibleName("First layer over last layer")
        self.reading = plain_label("muted", wrap=True)
        self.picture = NetworkPicture("The network and its shortcuts")
        self.formula = Formula(15)
        self.why = plain_label("muted", "Loading PyTorch…", wrap=True)
        self.result: GradientFlow | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        columns = LabColumns(
            [
                ([*self.fields.values(), self.facts, self.note, 1], 216, 216),
                ([self.legend, self.plot, self.formula, self.why], 340, 860),
                (
                    [
                        plain_label("rowTitle", "Layer by layer"),
                        self.table,
                        plain_label("rowTitle", "First layer ÷ last layer"),
                        self.ratios,
                        self.reading,
                        plain_label("rowTitle", "The network"),
                        self.picture,
                        1,
                    ],
                    430,
                    520,
                ),
            ]
        )
        self.new_layout(side=5, top=4).addWidget(columns, 1)

    # --- asking ------------------------------------------------------------------------------------------

    def submit(self, *_: object) -> None:
        seed, depth, width = (int(self.fields[key].value) for key in ("seed", "depth", "width"))
        self.compute(partial(lab_jobs.gradient_flow, seed, depth, width))

    def _reset(self) -> None:
        for key, value in _CHAPTER.items():
            self.fields[key].set_value(value)
        self.submit()

    def accept(self) -> None:
        for field in self.fields.values():
            field.accept()

    def refuse(self, field: str | None, reason: str) -> None:
        self.fields[field or "depth"].refuse(reason)

    # --- showing -----------------------------------------------------------------------------------------

    def show_result(self, result: "GradientFlow") -> None:
        self.result = result
        plain, shortcut = result.plain, result.with_shortcuts
        self.plot.set_series((plain.gradients, shortcut.gradients))
        pairs = list(zip(plain.gradients, shortcut.gradients, strict=True))
        self.table.set_rows(
            [
                (
                    str(layer),
                    f"{result.sizes[layer]} × {result.sizes[layer - 1]}",
                    _gradient(without),
                    _gradient(with_shortcut),
                    f"{number(with_shortcut / without, 3)} ×" if without else "–",
                )
                for layer, (without, with_shortcut) in enumerate(pairs, start=1)
            ]
        )
        self.ratios.set_groups([[("without", number(plain.ratio, 3))], [("with", number(shortcut.ratio, 3))]])
        self.reading.setText(f"{_reading('Without shortcuts', plain)}\n{_reading('With them', shortcut)}")
        self.facts.set_groups(
            [
                [("input", _shortened(result.inputs))],
                [("target", "0"), ("loss", "squared error")],
                [("weights and biases", f"{result.parameters:,}")],
                [("output without", number(plain.output))],
                [("output with", number(shortcut.output))],
                [("loss without", number(plain.loss))],
                [("loss with", number(shortcut.loss))],
            ]
        )
        self.note.setText(_caution(result))
        self.picture.set_network(result.sizes, result.shortcuts)
        self.formula.set_markup(
            r"\under{\frac{∂\word{layer}(x)}{∂x} = f′(x)}{without}   "
            r"\under{\frac{∂(x + \word{layer}(x))}{∂x} = 1 + f′(x)}{with a shortcut}"
        )
        self.why.setText(
            f"Without a shortcut, the gradient of the first layer is a product with a factor f′ of every later layer, "
            f"and small factors make it vanish. With one, each factor has a 1 in it. Here {sum(result.shortcuts)} of "
            f"{len(result.shortcuts)} layers have a shortcut: it needs an input and an output of the same shape."
        )


def _gradient(value: float) -> str:
    """Write a gradient with eight places, so that those of a column can be compared at a glance."""
    return f"{value:.8f}" if 1e-5 <= value < 10 else number(value, 5)


def _reading(which: str, flow: "Flow") -> str:
    ratio = flow.ratio
    if not math.isfinite(ratio):
        return f"{which}, there is nothing to compare: the last layer's gradient is {number(flow.gradients[-1])}."
    if ratio == 0:
        return f"{which}, the first layer's gradient is 0 in single precision: this layer does not learn."
    if ratio < 1:
        return f"{which}, the first layer's gradient is {number(1 / ratio, 3)} times smaller than the last one's."
    return f"{which}, the first layer's gradient is {number(ratio, 3)} times as large as the last one's."


def _caution(result: "GradientFlow") -> str:
    """Say what the plot can't show."""
    gradients = (*result.plain.gradients, *result.with_shortcuts.gradients)
    parts = []
    if any(gradient == 0 for gradient in gradients):
        parts.append("At the lower edge: gradients that are 0 in single precision.")
    if not all(math.isfinite(gradient) for gradient in gradients):
        parts.append("Gradients beyond single precision (∞ or NaN) are in the table alone.")
    return " ".join(parts)


def _shortened(values: tuple[float, ...]) -> str:
    written = [number(value, 2).removesuffix(".0") for value in values]
    return f"[{', '.join(written if len(written) <= 4 else [*written[:2], '…', written[-1]])}]"
