"""LayerNorm: one token's features before, normalised, and after scale and shift."""

from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gptviz.analysis.layer_norm import LayerNormView, Moments, layer_norm_view
from gptviz.panes.pane import Pane, differs
from gptviz.session.missing import why_missing
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.colormaps import symmetric_limit
from gptviz.widgets.distribution import Distribution
from gptviz.widgets.figures import Figures
from gptviz.widgets.note import Note
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.readout import Readout
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import number, visible
from gptviz.widgets.theme import UNIT, px

Array = np.ndarray[Any, np.dtype[Any]]


class LayerNormPane(Pane):
    """Three distributions on one axis, so that what each half of the operation does can be seen apart."""

    name = "layer-norm"
    title = "LayerNorm"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.norms = Segmented(
            [
                ("norm1", "norm1", "Before attention"),
                ("norm2", "norm2", "Before the feed-forward network"),
                ("final_norm", "final_norm", "After the last block, before the output head"),
            ],
            "LayerNorm",
        )
        self.norms.chosen.connect(self._norm_chosen)
        self.heading = plain_label("paneHeading")
        self.rows = {
            "before": _Row("Before", "what comes in", "shortcut", explained=True),
            "normalised": _Row("Normalised", "(x − mean) ÷ √(variance + eps)", "norm"),
            "after": _Row("After", "scale · normalised + shift", "norm"),
        }
        moments = self.rows["before"].numbers
        moments.setToolTip("Click mean or variance to see how it was made")
        moments.chosen.connect(self._explain)
        self.scale = Readout()
        self.scale.explain_wanted.connect(self._explain)
        self.missing = Note()
        self.missing.hide()
        self.note = plain_label("muted", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 3 * UNIT)
        layout.setSpacing(3 * UNIT)
        top = QHBoxLayout()
        top.addWidget(self.norms)
        top.addStretch()
        layout.addLayout(top)
        layout.addWidget(self.heading)
        layout.addWidget(self.missing)
        grid = QGridLayout()
        grid.setHorizontalSpacing(4 * UNIT)
        grid.setVerticalSpacing(3 * UNIT)
        grid.setColumnStretch(1, 1)
        for place, row in enumerate(self.rows.values()):
            grid.addWidget(row.left, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(row.plot, place, 1)
            grid.setRowStretch(place, 1)
        layout.addLayout(grid, 1)
        layout.addWidget(self.scale)
        layout.addWidget(self.note)

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if new.trace is None or new.query is None:
            self.heading.setText("")
            self.note.setText("No pass has run on this model yet.")
            for row in self.rows.values():
                row.clear()
            return
        if not differs(old, new, "trace", "selection"):
            return
        norm = new.selection.norm_stage
        self.norms.set_choice(new.selection.norm)
        piece = new.trace_pieces[new.query]
        self.heading.setText(
            f"{norm}  ·  token {new.query} {visible(piece.text)}  ·  {new.trace.config.emb_dim} features"
        )
        view = layer_norm_view(new.trace, norm, new.query, new.selection.row)
        there = view is not None or not new.is_recorded  # else the last one stays until this one is there
        self.missing.setVisible(not there)
        for label in (self.scale, self.note):
            label.setVisible(there)
        for row in self.rows.values():
            row.set_visible(there)
        if view is None:
            for label in (self.missing, self.note):
                label.setText(why_missing(new.trace, norm))
            return
        self.rows["before"].explanation.setText(view.source)
        self._show(view)

    def _show(self, view: LayerNormView) -> None:
        extent = max(symmetric_limit(part) for part in (view.before, view.normalised, view.after)) * 1.04
        for key, values, moments in (
            ("before", view.before, view.moments_before),
            ("normalised", view.normalised, view.moments_normalised),
            ("after", view.after, view.moments_after),
        ):
            self.rows[key].show_values(values, moments, extent)
        self.rows["after"].explanation.setText("scale · normalised + shift" if view.shifts else "scale · normalised")
        shift = f"shift {_range(view.shift)}" if view.shifts else "no shift"
        self.scale.setText(
            f"scale {_range(view.scale)}   {shift}   eps {number(view.eps, 1)}   "
            f"largest difference from the model's output {number(view.error, 2)}"
        )
        if view.shifts and bool((view.scale == 1).all()) and bool((view.shift == 0).all()):
            self.note.setText(
                "scale is 1 and shift is 0 for every feature: nothing was learned yet, so “after” equals “normalised”."
            )
        elif not view.shifts:
            self.note.setText("scale is learned: it gives every feature its own spread again. There is no shift.")
        else:
            self.note.setText("scale and shift are learned: they give every feature its own spread and place again.")

    @property
    def shown_stage(self) -> str:
        """The norm that is shown."""
        return self.session.state.selection.norm_stage

    @Slot()
    def _explain(self) -> None:
        """Explain one feature of the norm that is shown, whatever stage was selected."""
        self.session.select_stage(self.shown_stage)
        self.explain_selected()

    def _norm_chosen(self, norm: str) -> None:
        layer = self.session.state.selection.layer
        self.session.select_stage(norm if norm == "final_norm" else f"trf_blocks.{layer}.{norm}")


class _Row:
    """Words, plot and numbers of one of the three distributions."""

    def __init__(self, title: str, explanation: str, family: str, explained: bool = False) -> None:
        self.explained = explained  # whether its mean and variance are steps of a number's arithmetic
        self.left = QWidget()
        words = QVBoxLayout(self.left)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(UNIT)
        heading = plain_label("rowTitle", title)
        self.explanation = plain_label("muted", explanation, wrap=True)
        self.explanation.setFixedWidth(px(190))
        words.addWidget(heading)
        words.addWidget(self.explanation)
        self.plot = Distribution(family)
        self.plot.setAccessibleName(f"Distribution {title.lower()}")
        self.numbers = Figures(aligned=True)
        self.numbers.setAccessibleName(f"Mean and variance {title.lower()}")
        self.numbers.setFixedWidth(px(190))
        words.addWidget(self.numbers)

    def set_visible(self, visible: bool) -> None:
        for part in (self.left, self.plot):
            part.setVisible(visible)

    def clear(self) -> None:
        self.plot.clear_values()
        self.numbers.set_groups(())

    def show_values(self, values: Array, moments: Moments, extent: float) -> None:
        self.plot.set_values(values, -extent, extent)
        figures = [[("mean", _cleaned(moments.mean))], [("variance", _cleaned(moments.variance))]]
        self.numbers.set_groups(figures, ("mean", "variance") if self.explained else ())


def _cleaned(value: float) -> str:
    return number(0.0 if abs(value) < 1e-12 else value, 4)


def _range(values: Array) -> str:
    low, high = float(values.min()), float(values.max())
    return number(low) if low == high else f"{number(low)} … {number(high)}"
