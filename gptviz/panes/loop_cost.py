"""What the steps cost, in the loop pane: time, positions computed again, and the key/value cache."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout

from gptviz.panes.pane import differs
from gptviz.session.costs import Costs
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.curve_legend import CurveLegend
from gptviz.widgets.curve_plot import CurvePlot, CurveStyle
from gptviz.widgets.note import Note
from gptviz.widgets.positions_chart import PositionsChart
from gptviz.widgets.text import data_size, number, shape
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.two_columns import TwoColumns

_TAKEN = CurveStyle("as run", "muted", dashed=True)
_PLAIN = CurveStyle("no cache", "attention")
_CACHED = CurveStyle("cache", "feed-forward")
_ROOMY = 400  # px, from which on the legend has room for figures
_STYLES = (_TAKEN, _PLAIN, _CACHED)

_LEAST = 400  # px that both columns need side by side


class CostView(TwoColumns):
    """Milliseconds for each step; "as run" includes what watching the pass costs, the other two do not."""

    def __init__(self, session: Session) -> None:
        super().__init__(_LEAST)
        self._session = session
        self.legend = CurveLegend("ms", _STYLES)
        self.plot = CurvePlot("Milliseconds of each step", _STYLES, step=1)
        self.plot.moved.connect(self._go_to)
        self.positions = PositionsChart()
        self.cache = QPushButton("Key/value cache")
        self.cache.setObjectName("toggle")
        self.cache.setCheckable(True)
        self.cache.setToolTip("Keep keys and values of the tokens before, and compute the new position alone")
        self.cache.setAccessibleName("Key/value cache")
        self.cache.clicked.connect(session.loop.set_caching)
        self.holds = Note()
        self.measure = QPushButton("Measure both ways")
        self.measure.setToolTip("Compute every step again, without and with the cache, and compare (Esc stops)")
        self.measure.setAccessibleName("Measure both ways")
        self.measure.clicked.connect(session.costing.measure)
        self.found = Note()
        left = QVBoxLayout()
        left.setSpacing(UNIT)
        left.addWidget(self.legend)
        left.addWidget(self.plot, 1)
        left.addWidget(self.positions)
        right = QVBoxLayout()
        right.setSpacing(UNIT)
        right.addWidget(self.cache, 0, Qt.AlignmentFlag.AlignLeft)
        right.addWidget(self.holds)
        right.addSpacing(2 * UNIT)
        right.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignLeft)
        right.addWidget(self.found)
        right.addStretch()
        self.columns.addLayout(left, 5)
        self.columns.addLayout(right, 3)

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "generation", "costs", "caching", "loop", "activity", "model"):
            return
        self.cache.setChecked(new.caching)
        self.measure.setEnabled(bool(new.generation.steps) and new.activity is None)
        self.holds.setText(_holds(new))
        if differs(old, new, "costs", "generation"):
            self.found.setText(_found(new.costs, len(new.generation.steps)))
            self._draw(new)

    def _go_to(self, step: float) -> None:
        """Show the step nearest to a place of the curve, which has half a step of room at both ends."""
        steps = len(self._session.state.generation.steps)
        if steps:
            self._session.travel.show(min(max(round(step), 1), steps) - 1)

    def _draw(self, state: ViewState) -> None:
        steps, rows = state.generation.steps, state.costs.rows
        taken = np.array([step.ms for step in steps], dtype=np.float64)
        plain = np.array([row.plain_ms for row in rows], dtype=np.float64)
        cached = np.array([row.cached_ms for row in rows], dtype=np.float64)
        highest = max((float(values.max()) for values in (taken, plain, cached) if values.size), default=1.0)
        self.plot.set_range((0.5, max(1.5, len(steps) + 0.5)), (0, 1.1 * highest))
        for index, values in enumerate((taken, plain, cached)):
            self.plot.set_curve(index, np.arange(1, values.size + 1), values)
        shown = state.generation.shown
        heights = [float(v[shown]) if shown is not None and shown < v.size else np.nan for v in (taken, plain, cached)]
        self.plot.set_point(0 if shown is None else shown + 1, heights)
        roomy = self.legend.width() >= px(_ROOMY)
        self.legend.set_values([number(height, 3) if roomy and not np.isnan(height) else "" for height in heights])
        self.positions.set_steps([step.computed for step in steps], len(state.generation.prompt))


def _holds(state: ViewState) -> str:
    if not state.caching:
        return "Off: each step computes the keys and values of the whole context again."
    lines = state.loop
    if not lines.cache_shape:
        return "On, and empty: the next step fills it with the whole context."
    held = f"Keys {shape(lines.cache_shape)} and as many values: {data_size(lines.cache_bytes)}."
    if state.model is not None and lines.text_tokens > state.model.config.context_length:
        return (
            f"{held} The context is full: each new token moves all others to another position, and it is filled anew."
        )
    return held


def _found(costs: Costs, steps: int) -> str:
    rows = costs.rows
    if not rows:
        return "Not measured for this text yet."
    agree = sum(row.agrees for row in rows)
    largest = float(np.max([row.difference for row in rows]))  # NaN if one is, which max() could miss
    plain, cached = (sum(values) for values in zip(*((row.plain_ms, row.cached_ms) for row in rows), strict=True))
    same = f"The same token in {f'all {agree}' if agree == len(rows) else f'{agree} of {len(rows)}'} steps"
    differ = f"logits differ by {number(largest, 2)} at most (rounding)" if largest else "the same logits bit for bit"
    measured = "" if costs.complete and len(rows) == steps else f"{len(rows)} of {steps} steps measured. "
    return (
        f"{measured}{same}; {differ}. {number(plain, 3)} ms without, {number(cached, 3)} ms with the cache: "
        f"{number(plain / cached, 2)} times. It holds {data_size(costs.nbytes)} of {data_size(costs.allocated)}."
    )
