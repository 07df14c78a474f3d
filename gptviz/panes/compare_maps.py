"""One head of two runs, and the difference of its maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gptviz.analysis.attention import without_future
from gptviz.analysis.compared_tokens import map_difference
from gptviz.analysis.comparison import ROUNDING, first_tokens
from gptviz.widgets.colormaps import symmetric_limit
from gptviz.widgets.heatmap import HeatmapData
from gptviz.widgets.matrix_view import MatrixView
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number
from gptviz.widgets.theme import UNIT, px

Array = np.ndarray[Any, np.dtype[Any]]
_LABELLED = 900  # px, from which on there is room for the tokens' names
_FEW = 32  # tokens, up to which they are named


@dataclass(frozen=True)
class HeadOfRun:
    """A head's map (T, T), or None and why there is none; and its tokens as they are written."""

    values: Array | None
    why: str
    tokens: Sequence[str]


class CompareMaps(QWidget):
    """A, B, and B - A over the tokens that both have. Pointing at a cell reads it in all three."""

    chosen = Signal(int, int)  # query, key

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.difference = (MatrixView(name, compact=True) for name in ("Run A", "Run B", "B minus A"))
        self.readout = plain_label("readout")
        self._heads: tuple[HeadOfRun, HeadOfRun] | None = None
        self._view = "weights"
        self._selected: tuple[int, int] | None = None
        maps = QHBoxLayout()
        maps.setSpacing(4 * UNIT)
        for matrix in self._matrices:
            maps.addWidget(matrix, 1)
            matrix.hovered.connect(self._show_readout)
            matrix.clicked.connect(self.chosen)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(UNIT)
        layout.addLayout(maps, 1)
        layout.addWidget(self.readout)

    @property
    def _matrices(self) -> tuple[MatrixView, MatrixView, MatrixView]:
        return self.a, self.b, self.difference

    def show_heads(self, a: HeadOfRun, b: HeadOfRun, view: str) -> None:
        """Show the chosen head of both runs, as ``view``: scores, scaled, masked or weights."""
        self._heads, self._view = (a, b), view
        known = [head.values for head in (a, b) if head.values is not None]
        high = 1.0 if view == "weights" or not known else max(map(symmetric_limit, known))
        for matrix, letter, head in ((self.a, "A", a), (self.b, "B", b)):
            if head.values is None:
                matrix.show_note(letter, head.why)
                continue
            values = without_future(head.values) if view == "weights" else head.values
            self._show(matrix, f"{letter} · {view}", self._data(values, high, head.tokens, view != "weights"))
        self._show_difference(a, b, high)
        self.set_selected(self._selected)

    def _show_difference(self, a: HeadOfRun, b: HeadOfRun, scale: float) -> None:
        if a.values is None or b.values is None:
            self.difference.show_note("B − A", "There is nothing to compare.")
            return
        values = map_difference(a.values, b.values)
        if self._view == "weights":
            values = without_future(values)
        whole = len(a.values) == len(b.values)
        caption = "B − A" if whole else f"B − A · {first_tokens(len(values))}"
        tokens = [one if one == other else "≠" for one, other in zip(a.tokens, b.tokens, strict=False)]
        high = max(symmetric_limit(values), ROUNDING * scale)  # rounding is not to look like a difference
        self._show(self.difference, caption, self._data(values, high, tokens, signed=True))

    def _data(self, values: Array, high: float, tokens: Sequence[str], signed: bool) -> HeatmapData:
        labels = list(tokens) if self.width() >= px(_LABELLED) and len(tokens) <= _FEW else []
        return HeatmapData(values, -high if signed else 0.0, high, signed, labels, labels)

    def _show(self, matrix: MatrixView, caption: str, data: HeatmapData) -> None:
        none_text = "" if np.isfinite(data.values).all() else "the future"
        matrix.show_matrix(caption, data, "keys", square=True, none_text=none_text)

    def show_nothing(self, why: str) -> None:
        """Say why there are no maps."""
        self._heads = None
        for matrix, letter in zip(self._matrices, ("A", "B", "B − A"), strict=True):
            matrix.show_note(letter, why)
        self.readout.setText("")

    def set_selected(self, cell: tuple[int, int] | None) -> None:
        """Outline a cell, where a map has it."""
        self._selected = cell
        for matrix in self._matrices:
            data = matrix.map.data
            there = cell is not None and data is not None and max(cell) < len(data.values)
            matrix.map.set_selected(cell if there else None)
        self._show_readout(None)

    def _show_readout(self, cell: object) -> None:
        place = cell if isinstance(cell, tuple) else self._selected
        if self._heads is None or place is None:
            self.readout.setText("Point at a cell to read it in both runs" if self._heads is not None else "")
            return
        query, key = place
        parts = []
        for letter, head in zip("AB", self._heads, strict=True):
            if head.values is not None and query < len(head.values) and key < len(head.values):
                where = f"{head.tokens[query]} → {head.tokens[key]}"
                parts.append(f"{letter} {where} {self._written(float(head.values[query, key]), query, key)}")
        data = self.difference.map.data
        if data is not None and max(place) < len(data.values) and np.isfinite(data.values[place]):
            parts.append(f"B − A {number(float(data.values[place]))}")
        self.readout.setText("   ".join(parts))

    def _written(self, value: float, query: int, key: int) -> str:
        return "masked" if self._view == "weights" and key > query else number(value)
