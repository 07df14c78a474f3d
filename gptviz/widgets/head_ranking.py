"""Heads in an order, each with a bar, and one line across all bars for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen

from gptviz.widgets.rows_area import RowsArea
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW = 20  # px
_HEADER = 22
_NAME = "block.head"
_MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


@dataclass(frozen=True)
class RankedHead:
    """One row: a head, its bar from 0 to 1, and its written number."""

    layer: int
    head: int
    fraction: float
    value: str


class HeadRanking(RowsArea):
    """Draws the rows in sight only; click or ↑ and ↓ choose a head."""

    chosen = Signal(int, int)  # layer, head
    opened = Signal()  # a double click or Enter on the chosen head

    def __init__(self) -> None:
        super().__init__(_ROW, _HEADER)
        self._rows: Sequence[RankedHead] = ()
        self._reference: tuple[float, str] | None = None
        self._selected = (0, 0)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Heads by score")

    def set_rows(self, rows: Sequence[RankedHead], reference: tuple[float, str] | None) -> None:
        """Show ``rows`` from the top; ``reference`` is the place of the line from 0 to 1, and its label."""
        self._rows, self._reference = rows, reference
        spoken = "; ".join(f"block {row.layer + 1} head {row.head + 1} {row.value}" for row in rows[:10])
        self.setAccessibleDescription(f"{spoken}; {reference[1]}" if reference else spoken)
        self.set_count(len(rows))
        self.verticalScrollBar().setValue(0)

    def set_selected(self, layer: int, head: int) -> None:
        """Mark a head's row, and scroll to it."""
        if (layer, head) != self._selected:
            self._selected = (layer, head)
            self._show_selected()

    def sizeHint(self) -> QSize:
        return QSize(px(220), px(_HEADER + 4 * _ROW))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(150), px(_HEADER + 3 * _ROW))

    # --- inside ------------------------------------------------------------------------------------------

    def _place(self) -> int | None:
        """Return the place of the chosen head."""
        for place, row in enumerate(self._rows):
            if (row.layer, row.head) == self._selected:
                return place
        return None

    def _show_selected(self) -> None:
        place = self._place()
        if place is not None:
            self.bring_into_sight(place)
        self.viewport().update()

    def _columns(self) -> tuple[float, float, float]:
        """Right edge of the name, left and right edge of the bars."""
        digit = QFontMetricsF(mono_font(11)).horizontalAdvance("0")
        name, value = max(6 * digit, QFontMetricsF(text_font(11)).horizontalAdvance(_NAME) + UNIT), 6 * digit
        return name, name + 2 * UNIT, self.viewport().width() - value - 2 * UNIT

    def _choose(self, layer: int, head: int) -> None:
        self.set_selected(layer, head)  # at once: the next key goes on from here
        self.chosen.emit(layer, head)

    # --- events ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _, left, right = self._columns()
        painter.save()
        self.keep_off_the_header(painter)
        for place in self.in_sight:
            self._paint_row(painter, self._rows[place], self.row_box(place))
        painter.restore()
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        draw_text(painter, QRectF(UNIT, 0, left, px(_HEADER) - 4), _NAME)
        if self._reference is not None and self._rows:
            share, label = self._reference
            x = left + (right - left) * share
            bottom = min(self.row_box(len(self._rows) - 1).bottom(), self.viewport().height())
            painter.setPen(QPen(color(current().warning), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, px(_HEADER) - 4), QPointF(x, bottom))
            width = QFontMetricsF(painter.font()).horizontalAdvance(label) + 2
            start = min(max(x - width / 2, left + UNIT), self.viewport().width() - width)
            painter.setPen(color(current().warning))
            draw_text(painter, QRectF(start, 0, width, px(_HEADER) - 4), label)

    def _paint_row(self, painter: QPainter, row: RankedHead, box: QRectF) -> None:
        name, left, right = self._columns()
        selected = (row.layer, row.head) == self._selected
        if selected:
            painter.fillRect(box, color(current().accent, 0.14))
        painter.setFont(mono_font(11))
        painter.setPen(color(current().text))
        draw_text(painter, box.adjusted(UNIT, 0, name - box.width(), 0), f"{row.layer + 1}.{row.head + 1}")
        draw_text(painter, box.adjusted(right + UNIT, 0, -UNIT, 0), row.value, Qt.AlignmentFlag.AlignRight)
        thick = px(6)
        track = QRectF(left, box.center().y() - thick / 2, right - left, thick)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(track, thick / 2, thick / 2)
        if row.fraction > 0:
            painter.setBrush(color(current().families["attention"]))
            width = max(float(thick), track.width() * min(1.0, row.fraction))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), width, thick), thick / 2, thick / 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.row_at(event.position())
        if place is not None:
            self._choose(self._rows[place].layer, self._rows[place].head)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.row_at(event.position()) is not None:
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, place = Qt.Key(event.key()), self._place()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._rows:
            self.opened.emit()
        elif key in _MOVES and place is not None:
            row = self._rows[min(max(place + _MOVES[key], 0), len(self._rows) - 1)]
            self._choose(row.layer, row.head)
        else:
            super().keyPressEvent(event)
