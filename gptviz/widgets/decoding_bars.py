"""The distribution before and after decoding, side by side: what is cut, and how the rest grows to fill its place."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)

from gptviz.widgets.rows_area import RowsArea
from gptviz.widgets.text import draw_text, percent
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW = 22  # px
_BAR = 8  # px


@dataclass(frozen=True)
class DecodedRow:
    """One token: its probability before and after decoding; ``cut`` says what cut it, empty if it stays."""

    text: str
    before: float
    after: float
    cut: str
    chosen: bool


class DecodingBars(RowsArea):
    """Both columns have the same scale, unless what was before would be too small to see: then it is written there.

    Enter or a double click picks the marked token.
    """

    keeps_arrows = True

    marked = Signal(int)
    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__(_ROW, _ROW)
        self._row: Callable[[int], DecodedRow] | None = None
        self._scales = (1.0, 1.0)
        self._magnified = 1
        self._marked = 0
        self.setAccessibleName("Probabilities before and after decoding")
        self.setToolTip(
            "A double click or Enter picks a token, and goes on from it on a branch of its own. Both columns have one "
            "scale; bars that would be too small to see are drawn larger, as the title says"
        )

    def set_rows(self, count: int, row: Callable[[int], DecodedRow], before: float, after: float) -> None:
        """Show ``count`` rows; ``row(i)`` is asked for those in sight; the largest are ``before`` and ``after``."""
        self._row = row
        self._magnified = 10 ** max(0, int(math.log10(after / before))) if before > 0 else 1
        largest = max(before * self._magnified, after, 1e-300)
        self._scales = largest / self._magnified, largest
        self._marked = min(self._marked, max(0, count - 1))
        spoken = [row(i) for i in range(min(count, 8))]
        self.setAccessibleDescription(
            "; ".join(
                f"{r.text} {percent(r.before)} to {r.cut or percent(r.after)}{', chosen' if r.chosen else ''}"
                for r in spoken
            )
        )
        self.set_count(count)

    @property
    def mark(self) -> int:
        """The row that is marked."""
        return self._marked

    def set_mark(self, index: int) -> None:
        """Mark a row and bring it into sight."""
        if not self.count:
            return
        self._marked = min(max(index, 0), self.count - 1)
        self.bring_into_sight(self._marked)
        self.viewport().update()
        self.marked.emit(self._marked)

    def sizeHint(self) -> QSize:
        return QSize(px(280), px(_ROW * 7))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(220), px(_ROW * 4))

    # --- inside ------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[QRectF, QRectF, QRectF]:
        """Return the places of label, before and after in the first row's height."""
        width, gap = float(self.viewport().width()), 3 * UNIT
        label = min(max(width * 0.26, px(84)), px(170))
        side = (width - label - 2 * gap - UNIT) / 2
        return (
            QRectF(2 * UNIT, 0, label - 2 * UNIT, px(_ROW)),
            QRectF(label + gap, 0, side, px(_ROW)),
            QRectF(label + 2 * gap + side, 0, side, px(_ROW)),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is None:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        _, before, after = self._columns()
        draw_text(painter, before, "before" if self._magnified == 1 else f"before, × {self._magnified:,}")
        draw_text(painter, after, "after")
        self.keep_off_the_header(painter)
        for index in self.in_sight:
            self._paint_row(painter, self._row(index), index)

    def _paint_row(self, painter: QPainter, row: DecodedRow, index: int) -> None:
        theme, box = current(), self.row_box(index)
        label, before, after = (column.translated(0, box.top()) for column in self._columns())
        if index == self._marked and self.hasFocus():
            painter.setPen(QPen(color(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 1.5, -0.5, -1.5), UNIT, UNIT)
        if row.chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(theme.families["head"], 0.14))
            painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), UNIT, UNIT)
            painter.setBrush(color(theme.families["head"]))
            painter.drawRoundedRect(QRectF(box.left(), box.top() + 5, 3, box.height() - 10), 1.5, 1.5)
        painter.setFont(mono_font(12))
        painter.setPen(color(theme.muted if row.cut else theme.text))
        draw_text(painter, label, row.text)
        self._paint_bar(painter, before, row.before, self._scales[0], cut=bool(row.cut))
        if row.cut:
            painter.setFont(text_font(11))
            painter.setPen(color(theme.muted))
            draw_text(painter, after, f"cut by {row.cut}")
        else:
            self._paint_bar(painter, after, row.after, self._scales[1], cut=False)

    def _paint_bar(self, painter: QPainter, box: QRectF, value: float, largest: float, cut: bool) -> None:
        theme = current()
        painter.setFont(mono_font(11))
        figure = QFontMetricsF(painter.font()).horizontalAdvance("0.00000 %")
        room = max(0.0, box.width() - figure - UNIT)
        bar = QRectF(box.left(), box.center().y() - px(_BAR) / 2, max(1.5, room * value / largest), px(_BAR))
        head = color(theme.families["head"])
        if cut and bar.width() < px(_BAR):  # too short for a hatch to be seen as one
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(theme.muted, 0.7))
        elif cut:
            painter.setPen(QPen(color(theme.muted), 1))
            painter.setBrush(QBrush(color(theme.muted), Qt.BrushStyle.BDiagPattern))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(head)
        if value > 0:
            painter.drawRoundedRect(bar, 1.5, 1.5)
        painter.setPen(color(theme.muted if cut else theme.text))
        draw_text(painter, box.adjusted(box.width() - figure, 0, 0, 0), percent(value), Qt.AlignmentFlag.AlignRight)

    # --- events ------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.row_at(event.position())
        if index is not None:
            self.set_mark(index)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.row_at(event.position())
        if index is not None:
            self.picked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = max(1, self.verticalScrollBar().pageStep() // px(_ROW))
        moves = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Home: -self.count,
            Qt.Key.Key_End: self.count,
        }
        key = Qt.Key(event.key())
        if key in moves:
            self.set_mark(self._marked + moves[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.count:
            self.picked.emit(self._marked)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
