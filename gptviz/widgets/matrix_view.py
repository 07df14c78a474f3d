"""A heatmap with its caption, its legend, and the rule by which cells were put together."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.heatmap import Heatmap, HeatmapData
from gptviz.widgets.legend import Legend
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, mono_font, px

_LEGEND_WIDTH = 132  # px
_WIDE = 400  # px, from which on the legend stands beside the caption
_HIGHEST_ROW = 44  # px
_SHORTEST, _SHORTEST_SQUARE, _COMPACT_SQUARE, _HIGH = 58, 132, 96, 96  # px of a map


class MatrixView(QWidget):
    """Shows one matrix, or a note in its place. ``hovered`` tells a cell or None."""

    hovered = Signal(object)
    clicked = Signal(int, int)
    opened = Signal(int, int)

    def __init__(self, name: str, compact: bool = False) -> None:
        """Make the view; a ``compact`` one tells the rule in the tooltip of its caption alone."""
        super().__init__()
        self._compact = compact
        self._none_text = ""
        self._legend_beside = _WIDE, False  # the caption, from this width (px) on; of square maps too
        self._noun = "columns"
        self._square = False
        self.map = _Map(_COMPACT_SQUARE if compact else _SHORTEST_SQUARE)
        self.map.setAccessibleName(f"{name} heatmap")
        self.map.cell_hovered.connect(self.hovered)
        self.map.cell_clicked.connect(self.clicked)
        self.map.offer_explanations()
        self.map.cell_opened.connect(self.opened)
        self.map.view.sigRangeChanged.connect(self._tell_rule)
        self.caption = _label("rowTitle")
        self.rule = _label("muted")
        self.note = _label("muted")
        self.note.setWordWrap(True)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.legend = Legend()
        self._top, self._bottom = QHBoxLayout(), QHBoxLayout()
        for line in (self._top, self._bottom):
            line.setSpacing(3 * UNIT)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.caption)
        words.addWidget(self.rule)
        words.addStretch()
        self._top.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addLayout(self._top)
        column.addWidget(self.map, 100)
        column.addWidget(self.note, 100)
        column.addLayout(self._bottom)
        column.addStretch(1)
        self._bottom.addWidget(self.legend)
        self._bottom.addStretch()
        self.note.hide()

    def show_matrix(self, caption: str, data: HeatmapData, noun: str, square: bool, none_text: str = "") -> None:
        """Show ``data`` with square cells or with wide ones.

        ``noun`` is what its columns are; ``none_text`` says what hatched cells mean.
        """
        self._noun = noun
        self._show_parts(matrix=True)
        self._square = square
        self.map.set_square(square)
        self.caption.setText(caption)
        self._none_text = none_text
        self.map.set_data(data)
        self.legend.set_range(data.low, data.high, data.signed)
        self._fit()

    def keep_legend_beside(self, least: int) -> None:
        """Have the legend beside the caption, above square maps too, wherever there are ``least`` px of width."""
        self._legend_beside = least, True

    def show_note(self, caption: str, note: str) -> None:
        """Show words in place of a matrix."""
        self._show_parts(matrix=False)
        self.caption.setText(caption)
        self.note.setText(note)
        self.map.set_data(None)

    def catch_up(self) -> None:
        """Draw what was not drawn while updates were disabled."""
        self.map.catch_up()
        self._tell_rule()

    @property
    def rule_text(self) -> str:
        """How cells were put together, and what hatched ones mean."""
        return self.rule.text()

    # --- inside ------------------------------------------------------------------------------------------

    def _show_parts(self, matrix: bool) -> None:
        for part in (self.map, self.legend):
            part.setVisible(matrix)
        self.rule.setVisible(matrix and not self._compact)
        self.note.setVisible(not matrix)

    def _tell_rule(self, *_: object) -> None:
        rows, columns = self.map.pooled_cells
        if rows == columns == 1:
            parts = ["every value drawn"]
        else:
            tile = f"{columns} {self._noun}" if rows == 1 else f"{rows} tokens"
            tile = tile if min(rows, columns) == 1 else f"{rows} × {columns}"
            parts = [f"each dot: the strongest of {tile}"]
        if self._none_text:
            parts.append(f"hatched: {self._none_text}")
        text = " · ".join(parts) if self.map.data is not None else ""
        if text != self.rule.text():
            self.rule.setText(text)
            for label in (self.rule, self.caption):
                label.setToolTip(text)

    def _fit(self) -> None:
        """Limit the map's height to what its rows can use, and place the legend."""
        data = self.map.data
        if data is None:
            return
        if self._square:
            self.map.setMaximumHeight(max(px(_SHORTEST_SQUARE), Heatmap.heightForWidth(self.map, self.width())))
        else:
            self.map.setMaximumHeight(max(px(_SHORTEST), px(_HIGHEST_ROW) * len(data.values)))
        least, also_square = self._legend_beside
        beside = self.width() >= px(least) and (also_square or not self._square)
        wanted = self._top if beside else self._bottom
        if wanted.indexOf(self.legend) < 0:
            other = self._bottom if wanted is self._top else self._top
            other.removeWidget(self.legend)
            wanted.insertWidget(1 if wanted is self._top else 0, self.legend, 0, Qt.AlignmentFlag.AlignTop)
        self.legend.setFixedSize(px(_LEGEND_WIDTH), self.legend.sizeHint().height())
        self._tell_rule()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "legend"):
            self._fit()


class _Map(Heatmap):
    """A heatmap that takes the height that it is given."""

    def __init__(self, shortest: int) -> None:
        """Make the map; square cells need a height of ``shortest`` px at least."""
        super().__init__(square_cells=False)
        self._shortest = shortest
        self._is_square = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_square(self, square: bool) -> None:
        self._is_square = square
        self.set_square_cells(square)

    def sizeHint(self) -> QSize:
        if self._is_square:
            return QSize(px(140), px(self._shortest))
        rows = 1 if self.data is None else len(self.data.values)
        line = QFontMetricsF(mono_font(11)).height()
        return QSize(px(200), round(min(max(rows * line, px(_SHORTEST)), px(_HIGH))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(80), self.sizeHint().height())


def _label(name: str) -> QLabel:
    label = plain_label(name)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label
