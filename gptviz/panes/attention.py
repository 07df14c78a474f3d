"""Attention: all heads as small maps, the chosen one large."""

from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from gptviz.analysis.attention import head_map, layer_previews, without_future
from gptviz.panes.pane import Pane, differs
from gptviz.session.missing import why_missing
from gptviz.session.numbers import ATTENTION_VIEWS
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.colormaps import symmetric_limit
from gptviz.widgets.head_grid import HeadGrid
from gptviz.widgets.heatmap import Heatmap, HeatmapData
from gptviz.widgets.legend import Legend
from gptviz.widgets.note import Note
from gptviz.widgets.readout import Readout
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.text import number, visible
from gptviz.widgets.theme import UNIT, px

Array = np.ndarray[Any, np.dtype[Any]]

_VIEW_TIPS = {
    "scores": "queries · keysᵀ: how well each query fits each key, the future included",
    "scaled": "scores ÷ √D",
    "masked": "−∞ above the diagonal: a query may not look at later keys",
    "weights": "softmax over the keys: every row sums to 1",
}
_MAP_SHARE = 0.6  # of the pane, for the large map
_MAP_MARGIN, _MAP_FRAME = 80, 180  # px beside the map for labels; above and below it for controls and legend


class AttentionPane(Pane):
    """Rows are queries, columns are keys, origin top left."""

    name = "attention"
    title = "Attention"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.views = Segmented([(view, view.capitalize(), _VIEW_TIPS[view]) for view in ATTENTION_VIEWS], "Show")
        self.views.chosen.connect(self._view_chosen)
        self.block = Stepper("Block", "The block that is shown", "Block ")
        self.head = Stepper("Head", "The head that is shown", "Head ")
        for stepper in (self.block, self.head):
            stepper.changed.connect(self._stepped)
        self.rescale = QPushButton("Rescale rows")
        self.rescale.setObjectName("toggle")
        self.rescale.setCheckable(True)
        self.rescale.setToolTip("Colour each row relative to its own largest weight; the numbers stay as they are")
        self.rescale.toggled.connect(self._rescale_toggled)
        self.map = Heatmap()
        self.map.setAccessibleName("Attention map of the chosen head")
        self.map.cell_hovered.connect(self._show_readout)
        self.map.cell_clicked.connect(self._cell_clicked)
        self.legend = Legend()
        self.map.offer_explanations()
        self.map.cell_opened.connect(self._cell_opened)
        self.readout = Readout()
        self.readout.explain_wanted.connect(self._explain)
        self.grid = HeadGrid()
        self.grid.chosen.connect(self._head_chosen)
        self.scope = Segmented(
            [
                ("block", "This block", "All heads of the chosen block"),
                ("all", "All blocks", "All heads of all blocks: one row for each block"),
            ],
            "Heads shown",
        )
        self.scope.set_choice("block")
        self.scope.chosen.connect(self._scope_chosen)
        self.missing = Note()
        self.missing.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(2 * UNIT)
        controls.addWidget(self.views)
        controls.addStretch()
        controls.addWidget(self.block)
        controls.addWidget(self.head)
        large = QWidget()
        column = QVBoxLayout(large)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * UNIT)
        column.addWidget(self.map)
        column.addWidget(self.missing)
        column.addStretch()
        small = QWidget()
        column = QVBoxLayout(small)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * UNIT)
        top = QHBoxLayout()
        top.setSpacing(2 * UNIT)
        top.addWidget(self.scope)
        top.addStretch()
        column.addLayout(top)
        column.addWidget(self.grid, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.addWidget(large)
        self._splitter.addWidget(small)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        self._splitter.setSizes([600, 400])
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(4 * UNIT)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 2 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(controls)
        layout.addWidget(self._splitter, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.readout, 1)
        foot.addWidget(self.rescale)
        layout.addLayout(foot)
        layout.addWidget(self.legend)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width, height = event.size().width() - px(_MAP_MARGIN), event.size().height() - px(_MAP_FRAME)
        beside, above = min(_MAP_SHARE * width, height), min(width, _MAP_SHARE * height)
        wanted = Qt.Orientation.Horizontal if beside > above else Qt.Orientation.Vertical
        if self._splitter.orientation() != wanted:
            self._splitter.setOrientation(wanted)

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if new.trace is None:
            self.map.set_data(None)
            self.grid.set_maps((), 0)
            self.readout.setText("")
            return
        if not differs(old, new, "trace", "selection", "options"):
            return
        config, selection, options = new.trace.config, new.selection, new.options
        self.views.set_choice(options.attention_view)
        self.block.set_value(selection.layer + 1, config.n_layers)
        self.head.set_value(selection.head + 1, config.n_heads)
        self.rescale.setChecked(options.rescale_rows)
        self.rescale.setVisible(options.attention_view == "weights")
        row_changed = old is None or old.selection.row != selection.row
        if row_changed or differs(old, new, "trace", "options"):
            maps = [layer_previews(new.trace, layer, selection.row) for layer in range(config.n_layers)]
            self.grid.set_maps(maps, config.n_heads, options.rescale_rows)
        self.grid.set_selected(selection.layer, selection.head)
        self._show_map(new)
        self.map.set_selected(None if selection.key is None or new.query is None else (new.query, selection.key))
        if self.map.data is not None:
            self._show_readout(self.map.hovered)

    def _show_map(self, state: ViewState) -> None:
        assert state.trace is not None
        selection, view = state.selection, state.options.attention_view
        values = head_map(state.trace, selection.layer, selection.head, view, selection.row)
        never = values is None and state.is_recorded
        for widget in (self.map, self.readout, self.legend):
            widget.setVisible(not never)
        self.missing.setVisible(never)
        if values is None:
            self.map.set_data(None)
            why = why_missing(state.trace, self.shown_stage)
            self.missing.setText(why)
            self.readout.setText("" if state.is_recorded else why)
            return
        labels = [visible(piece.text) for piece in state.trace_pieces]
        rescaled = view == "weights" and state.options.rescale_rows
        if view == "weights":
            values = without_future(values)
            low, high = 0.0, 1.0
        else:
            high = symmetric_limit(values)
            low = -high
        colours = values / np.nanmax(values, axis=-1, keepdims=True) if rescaled else None
        self.map.set_data(HeatmapData(values, low, high, view != "weights", labels, labels, colours))
        masked = "masked: the future" if view in ("masked", "weights") else ""
        badge = "each row rescaled to its own maximum" if rescaled else ""
        if self.map.pooled > 1 and not badge:
            badge = f"each dot: the strongest of {self.map.pooled} × {self.map.pooled}"
        self.legend.set_range(low, high, view != "weights", masked, badge)

    def _show_readout(self, cell: object) -> None:
        state = self.session.state
        data = self.map.data
        if cell is None:
            cell = self.map.selected
        if data is None or cell is None:
            self.readout.setText("Point at a cell to read it · click selects, double click explains")
            return
        assert isinstance(cell, tuple)
        row, column = cell
        if row >= len(data.row_labels) or column >= len(data.column_labels):
            return
        value = data.values[row, column]
        written = number(float(value)) if not np.isnan(value) else "masked (0)"
        self.readout.setText(
            f"query {row} {data.row_labels[row]}  →  key {column} {data.column_labels[column]}   "
            f"{state.options.attention_view} {written}"
        )

    # --- intents -----------------------------------------------------------------------------------------

    def _view_chosen(self, view: str) -> None:
        self.session.select_stage(f"trf_blocks.{self.session.state.selection.layer}.att.{view}")

    def _scope_chosen(self, scope: str) -> None:
        self.grid.set_all_layers(scope == "all")

    def _stepped(self) -> None:
        self._head_chosen(self.block.value - 1, self.head.value - 1)

    def _head_chosen(self, layer: int, head: int) -> None:
        self.session.select(layer=layer, head=head)

    def _cell_clicked(self, row: int, column: int) -> None:
        self.session.select_stage(self.shown_stage, query=row, key=column)

    def _cell_opened(self, row: int, column: int) -> None:
        self._cell_clicked(row, column)
        self.explain_selected()

    def _explain(self) -> None:
        """Explain the cell of the map that is shown, whatever stage was selected."""
        self.session.select_stage(self.shown_stage)
        self.explain_selected()

    @property
    def shown_stage(self) -> str:
        """The stage that the map shows."""
        state = self.session.state
        return f"trf_blocks.{state.selection.layer}.att.{state.options.attention_view}"

    def _rescale_toggled(self, checked: bool) -> None:
        self.session.set_option(rescale_rows=checked)
