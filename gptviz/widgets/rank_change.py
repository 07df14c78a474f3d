"""Two rankings side by side, with a line from each item to its place in the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen

from gptviz.widgets.rows_area import RowsArea
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW, _HEADER, _GAP = 24, 22, 68  # px
_BAR = 3  # px


@dataclass(frozen=True)
class RankedItem:
    """An item of a ranking: its name and value, a bar from 0 to 1, where it is in the other one, and the change.

    ``other_rank`` counts from 1 and is None where the other ranking does not know the item.
    """

    label: str
    value: str
    fraction: float
    other_rank: int | None
    change: str


class RankChange(RowsArea):
    """The left ranking is A, the right one B; beside B stands what has changed since A."""

    def __init__(self, name: str) -> None:
        super().__init__(_ROW, _HEADER)
        self._a: Sequence[RankedItem] = ()
        self._b: Sequence[RankedItem] = ()
        self.setAccessibleName(name)

    def set_rankings(self, a: Sequence[RankedItem], b: Sequence[RankedItem]) -> None:
        """Show two rankings, the first item of each on top."""
        self._a, self._b = a, b
        described = [
            f"{letter}: " + ", ".join(_spoken(item, place) for place, item in enumerate(items[:10], 1))
            for letter, items in (("A", a), ("B", b))
        ]
        self.setAccessibleDescription("; ".join(described))
        self.set_count(max(len(a), len(b)))

    @property
    def rankings(self) -> tuple[tuple[RankedItem, ...], tuple[RankedItem, ...]]:
        return tuple(self._a), tuple(self._b)

    def sizeHint(self) -> QSize:
        return QSize(px(440), px(_HEADER) + 8 * px(_ROW))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(320), px(_HEADER) + 3 * px(_ROW))

    # --- inside ------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[QRectF, QRectF, QRectF, QRectF]:
        """Return where A, the lines, B and the changes are, with the height of a row."""
        digit = QFontMetricsF(mono_font(11)).horizontalAdvance("0")
        changes = 18 * digit
        side = max(10 * digit, (self.viewport().width() - px(_GAP) - changes) / 2)
        height = float(px(_ROW))
        return (
            QRectF(0, 0, side, height),
            QRectF(side, 0, px(_GAP), height),
            QRectF(side + px(_GAP), 0, side, height),
            QRectF(2 * side + px(_GAP), 0, changes, height),
        )

    def _top(self, rank: int) -> float:
        """Return the upper edge of the row of ``rank``, from 1."""
        return self.row_box(rank - 1).top()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        a, lines, b, changes = self._columns()
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        for box, title, align in (
            (a, "A, pinned", Qt.AlignmentFlag.AlignLeft),
            (b, "B, on screen", Qt.AlignmentFlag.AlignLeft),
            (changes, "rank · B − A", Qt.AlignmentFlag.AlignRight),
        ):
            draw_text(painter, QRectF(box.left(), 0, box.width(), px(_HEADER)), title, align)
        self.keep_off_the_header(painter)
        for place, item in enumerate(self._a, start=1):
            self._paint_item(painter, a, place, item)
            self._paint_line(painter, lines, place, item)
        for place, item in enumerate(self._a, start=1):
            self._paint_far(painter, lines, place, item)
        for place, item in enumerate(self._b, start=1):
            self._paint_item(painter, b, place, item)
            self._paint_change(painter, changes, place, item)

    def _paint_item(self, painter: QPainter, column: QRectF, place: int, item: RankedItem) -> None:
        box = column.translated(0, self._top(place)).adjusted(0, 0, 0, -_BAR - 2)
        if box.bottom() < 0 or box.top() > self.viewport().height():
            return
        small = mono_font(10)
        value = QFontMetricsF(small).horizontalAdvance(item.value)
        rank = QFontMetricsF(small).horizontalAdvance("00") + UNIT
        painter.setFont(small)
        painter.setPen(color(current().muted))
        draw_text(painter, box, str(place))
        draw_text(painter, box, item.value, Qt.AlignmentFlag.AlignRight)
        painter.setFont(mono_font(12))
        painter.setPen(color(current().text))
        draw_text(painter, box.adjusted(rank, 0, -value - UNIT, 0), item.label)
        track = QRectF(box.left() + rank, box.bottom(), box.width() - rank, _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(track, _BAR / 2, _BAR / 2)
        painter.setBrush(color(current().families["head"], 1.0 if place == 1 else 0.6))
        length = max(float(_BAR), track.width() * item.fraction) if item.fraction > 0 else 0.0
        painter.drawRoundedRect(QRectF(track.left(), track.top(), length, _BAR), _BAR / 2, _BAR / 2)

    def _paint_line(self, painter: QPainter, column: QRectF, place: int, item: RankedItem) -> None:
        """Lead from an item of A to its place in B."""
        if item.other_rank is None or item.other_rank > len(self._b):
            return
        moved = item.other_rank != place
        start, end = (
            QPointF(x, self._top(rank) + px(_ROW) / 2)
            for x, rank in ((column.left() + 2 * UNIT, place), (column.right() - 2 * UNIT, item.other_rank))
        )
        path = QPainterPath(start)
        middle = column.center().x()
        path.cubicTo(QPointF(middle, start.y()), QPointF(middle, end.y()), end)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color(current().accent if moved else current().muted, 0.9 if moved else 0.5), 1.5))
        painter.drawPath(path)

    def _paint_far(self, painter: QPainter, column: QRectF, place: int, item: RankedItem) -> None:
        """Tell the rank in B of an item that is not among those in sight."""
        if item.other_rank is None or item.other_rank <= len(self._b):
            return
        painter.setFont(mono_font(10))
        text = f"→ {item.other_rank:,}"
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + UNIT
        box = QRectF(column.left() + 2 * UNIT, self._top(place) + UNIT, width, px(_ROW) - 2 * UNIT)
        painter.fillRect(box, color(current().panel))
        painter.setPen(color(current().muted))
        draw_text(painter, box, text, elide=Qt.TextElideMode.ElideNone)

    def _paint_change(self, painter: QPainter, column: QRectF, place: int, item: RankedItem) -> None:
        box = column.translated(0, self._top(place)).adjusted(2 * UNIT, 0, 0, 0)
        painter.setFont(mono_font(10))
        painter.setPen(color(current().text if item.other_rank != place else current().muted))
        draw_text(painter, box, rank_change(item, place))
        painter.setPen(color(current().muted))
        draw_text(painter, box, item.change, Qt.AlignmentFlag.AlignRight)


def rank_change(item: RankedItem, place: int) -> str:
    """Write by how many ranks an item at ``place`` of B has moved since A."""
    if item.other_rank is None:
        return "new"
    moved = item.other_rank - place
    return "=" if moved == 0 else f"▲ {moved:,}" if moved > 0 else f"▼ {-moved:,}"


def _spoken(item: RankedItem, place: int) -> str:
    other = "not in the other" if item.other_rank is None else f"rank {item.other_rank} in the other"
    return f"{place} {item.label} {item.value}, {other}"
