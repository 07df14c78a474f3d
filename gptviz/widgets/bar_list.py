"""A ranking: one row for each item, with a bar as long as its value."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent

from gptviz.widgets.rows_area import RowsArea
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW = 24  # px


@dataclass(frozen=True)
class BarRow:
    """One row: a label, a small note beside it, a bar from 0 to 1, and two written values."""

    label: str
    note: str
    fraction: float
    value: str
    second_value: str


class BarList(RowsArea):
    """Draws only the rows in sight, so that a ranking of the whole vocabulary costs nothing.

    A click chooses a row; ↑, ↓ and Enter do too.
    """

    chosen = Signal(int)

    def __init__(self, value_title: str, second_title: str) -> None:
        super().__init__(_ROW, _ROW)
        self._titles = (value_title, second_title)
        self._row: Callable[[int], BarRow] | None = None
        self._hovered: int | None = None
        self._current = 0
        self.viewport().setMouseTracking(True)

    def set_rows(self, count: int, row: Callable[[int], BarRow]) -> None:
        """Show ``count`` rows; ``row(i)`` is asked for those in sight."""
        self._row = row
        self._current = min(self._current, max(0, count - 1))
        spoken = [row(i) for i in range(min(count, 10))]
        self.setAccessibleDescription("; ".join(f"{r.label} {r.value}" for r in spoken))
        self.set_count(count)

    def row(self, index: int) -> BarRow:
        """Return what a row shows."""
        assert self._row is not None
        return self._row(index)

    def sizeHint(self) -> QSize:
        return QSize(px(280), px(_ROW * 11))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), px(_ROW * 2))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is None:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, width = px(_ROW), self.viewport().width()
        columns = self._columns(width)
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        for title, left, size in ((self._titles[0], *columns[2]), (self._titles[1], *columns[3])):
            draw_text(painter, QRectF(left, 0, size, height), title, Qt.AlignmentFlag.AlignRight)
        self.keep_off_the_header(painter)
        for index in self.in_sight:
            box = self.row_box(index)
            if index == self._hovered or (self.hasFocus() and index == self._current):
                painter.fillRect(box, color(current().text, 0.06))
            self._paint_row(painter, self._row(index), box.top(), columns, first_row=index == 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hovered(self.row_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)

    def _set_hovered(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            shape = Qt.CursorShape.ArrowCursor if index is None else Qt.CursorShape.PointingHandCursor
            self.viewport().setCursor(shape)
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.row_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._current = index
            self.chosen.emit(index)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.count:
            self.chosen.emit(self._current)
        elif event.key() in moves and self.count:
            self._current = min(max(self._current + moves[Qt.Key(event.key())], 0), self.count - 1)
            self.bring_into_sight(self._current)
            self.viewport().update()
        else:
            super().keyPressEvent(event)

    def _columns(self, width: int) -> list[tuple[float, float]]:
        """Left edge and width of label, bar, value, second value."""
        digit = QFontMetricsF(mono_font(12)).horizontalAdvance("0")
        value, second, gap = 9 * digit, 6 * digit, 2 * UNIT
        label = min(max(width * 0.38, 12 * digit), 26 * digit)
        bar = max(0.0, width - label - value - second - 3 * gap)
        lefts = [0.0, label + gap, label + bar + 2 * gap, label + bar + value + 3 * gap]
        return list(zip(lefts, (label, bar, value, second - 1), strict=True))

    def _paint_row(
        self, painter: QPainter, row: BarRow, top: float, columns: list[tuple[float, float]], first_row: bool
    ) -> None:
        height = px(_ROW)
        boxes = [QRectF(left, top, size, height) for left, size in columns]
        painter.setFont(mono_font(12))
        painter.setPen(color(current().text))
        label_width = QFontMetricsF(painter.font()).horizontalAdvance(row.label)
        draw_text(painter, boxes[0], row.label)
        painter.setFont(mono_font(10))
        painter.setPen(color(current().muted))
        note = boxes[0].adjusted(label_width + 2 * UNIT, 1, 0, 0)
        if note.width() > QFontMetricsF(painter.font()).horizontalAdvance(row.note):
            draw_text(painter, note, row.note)
        head = current().families["head"]
        track = QRectF(boxes[1].left(), top + height / 2 - 3, boxes[1].width(), 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(track, 3, 3)
        painter.setBrush(color(head, 1.0 if first_row else 0.6))
        if row.fraction > 0:
            painter.drawRoundedRect(QRectF(track.left(), track.top(), max(3.0, track.width() * row.fraction), 6), 3, 3)
        painter.setFont(mono_font(12))
        painter.setPen(color(current().text))
        draw_text(painter, boxes[2], row.value, Qt.AlignmentFlag.AlignRight)
        painter.setPen(color(current().muted))
        draw_text(painter, boxes[3], row.second_value, Qt.AlignmentFlag.AlignRight)
