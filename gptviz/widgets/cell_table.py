"""A table of words on coloured cells, whose headers stay in sight, and whose last row does too."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px, text_font

_LOWEST, _HIGHEST, _HEADER = 22, 30, 22  # px, of rows and the header
_LEAST, _MOST = 80, 168  # px of a column
_ROOMY = 108  # px of a column that has room for a second word
_MARK = 6  # px
_KEYS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
Place = tuple[int, int]  # row, column


@dataclass(frozen=True)
class Cell:
    """A word, a smaller one beside it, and the value from which the colour is made; ``marked`` cells have a dot."""

    text: str
    note: str
    value: float
    marked: bool = False


@dataclass(frozen=True)
class Column:
    """The header of a column: its name, and a small note beside it."""

    title: str
    note: str


class CellTable(QAbstractScrollArea):
    """Only cells in sight are asked for. Hover and click name a cell, so do the arrow keys."""

    keeps_arrows = True

    hovered_changed = Signal(object)  # (row, column), or None
    chosen = Signal(int, int)
    moved = Signal()  # other columns are in sight

    def __init__(self, name: str) -> None:
        super().__init__()
        self.hovered: Place | None = None
        self.selected: Place | None = None
        self._column: int | None = None
        self._rows: Sequence[str] = ()
        self._columns: Sequence[Column] = ()
        self._cell: Callable[[int, int], Cell | None] = lambda row, column: None
        self._high = 1.0
        self._names = 0.0  # px, the width of the rows' names
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(name)
        self.horizontalScrollBar().valueChanged.connect(self.moved)

    # --- what is shown -----------------------------------------------------------------------------------

    def set_table(
        self, rows: Sequence[str], columns: Sequence[Column], cell: Callable[[int, int], Cell | None], high: float
    ) -> None:
        """Show cells, coloured from 0 to ``high``; ``cell`` returns None where there is nothing yet."""
        other_rows = list(rows) != list(self._rows)
        other = other_rows or columns is not self._columns
        self._rows, self._columns, self._cell, self._high = rows, columns, cell, high
        if other:
            self.hovered = None
            self._measure()
        if other_rows:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self.viewport().update()

    def set_selected(self, place: Place | None, column: int | None) -> None:
        """Outline a cell and name a column, and scroll to them."""
        if (place, column) != (self.selected, self._column):
            self.selected, self._column = place, column
            self._scroll_to_selected()
            self.viewport().update()
        self._describe()

    @property
    def row_titles(self) -> tuple[str, ...]:
        return tuple(self._rows)

    @property
    def columns_in_sight(self) -> range:
        """The columns of which at least a part is seen."""
        width, left = self._column_width(), self.horizontalScrollBar().value()
        first = int(left // width)
        last = int((left + self.viewport().width() - self._names - 1) // width)
        return range(first, min(len(self._columns), last + 1))

    def cell_at(self, row: int, column: int) -> Cell | None:
        """Return what a cell shows."""
        return self._cell(row, column)

    def cell_box(self, row: int, column: int) -> QRectF:
        """Return where a cell is drawn, in pixels of the viewport; headers cover it where it is scrolled away."""
        width, height = self._column_width(), self._row_height()
        x = self._names + column * width - self.horizontalScrollBar().value()
        if row == len(self._rows) - 1:
            return QRectF(x, self._last_top(), width, height)
        return QRectF(x, px(_HEADER) + row * height - self.verticalScrollBar().value(), width, height)

    def sizeHint(self) -> QSize:
        return QSize(px(480), px(_HEADER) + px(_LOWEST) * min(14, len(self._rows) + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), px(_HEADER) + 4 * px(_LOWEST) + UNIT)

    # --- measures ----------------------------------------------------------------------------------------

    def _row_height(self) -> int:
        """Return the height of a row: rows share out the room, but are no flatter than can be read."""
        room = (self.viewport().height() - px(_HEADER) - UNIT - 1) / max(1, len(self._rows))
        return int(min(max(room, px(_LOWEST)), px(_HIGHEST)))

    def _column_width(self) -> float:
        room = (self.viewport().width() - self._names) / max(1, len(self._columns))
        return float(int(min(max(room, px(_LEAST)), px(_MOST))))

    def _last_top(self) -> float:
        """Return the top of the last row: below the others, or at the bottom where there is no room for all."""
        all_shown = px(_HEADER) + (len(self._rows) - 1) * self._row_height() + UNIT
        return float(min(all_shown, self.viewport().height() - self._row_height() - 1))

    def _measure(self) -> None:
        metrics = QFontMetricsF(text_font(12))
        self._names = max((metrics.horizontalAdvance(row) for row in self._rows), default=0.0) + 4 * UNIT
        width, height = self.viewport().width(), self.viewport().height()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setRange(0, max(0, int(self._names + len(self._columns) * self._column_width() - width)))
        across.setPageStep(max(1, int(width - self._names)))
        across.setSingleStep(int(self._column_width()))
        seen = height - px(_HEADER) - self._row_height() - UNIT - 1
        down.setRange(0, max(0, (len(self._rows) - 1) * self._row_height() - seen))
        down.setPageStep(max(1, seen))
        down.setSingleStep(self._row_height())
        self.viewport().update()
        self.moved.emit()

    def _scroll_to_selected(self) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        if self._column is not None:
            box = self.cell_box(0, self._column)
            if box.left() < self._names:
                across.setValue(int(across.value() + box.left() - self._names))
            elif box.right() > self.viewport().width():
                across.setValue(int(across.value() + box.right() - self.viewport().width()))
        if self.selected is not None and self.selected[0] < len(self._rows) - 1:
            box = self.cell_box(*self.selected)
            if box.top() < px(_HEADER):
                down.setValue(int(down.value() + box.top() - px(_HEADER)))
            elif box.bottom() > self._last_top() - UNIT:
                down.setValue(int(down.value() + box.bottom() - self._last_top() + UNIT))

    def _place_at(self, point: QPointF) -> Place | None:
        column = int((point.x() - self._names + self.horizontalScrollBar().value()) // self._column_width())
        if point.x() < self._names or column >= len(self._columns) or point.y() < px(_HEADER):
            return None
        last = len(self._rows) - 1
        if point.y() >= self._last_top():
            return (last, column) if point.y() < self._last_top() + self._row_height() else None
        row = int((point.y() - px(_HEADER) + self.verticalScrollBar().value()) // self._row_height())
        return (row, column) if row < last else None

    # --- painting ----------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows or not self._columns:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, last = self.viewport().width(), len(self._rows) - 1
        names, top = self._names, self._last_top()
        first_row = self.verticalScrollBar().value() // self._row_height()
        rows = range(first_row, min(last, first_row + int((top - px(_HEADER)) // self._row_height()) + 2))
        painter.setClipRect(QRectF(0, px(_HEADER), width, top - UNIT - px(_HEADER)))
        self._paint_names(painter, rows)
        painter.setClipRect(QRectF(names, px(_HEADER), width - names, top - UNIT - px(_HEADER)))
        self._paint_cells(painter, rows)
        painter.setClipping(False)
        self._paint_names(painter, range(last, last + 1))
        painter.setClipRect(QRectF(names, top, width - names, self._row_height() + 1))
        self._paint_cells(painter, range(last, last + 1))
        painter.setClipRect(QRectF(names, 0, width - names, px(_HEADER)))
        self._paint_header(painter)
        painter.setClipping(False)
        if self.verticalScrollBar().maximum():
            painter.setPen(QPen(color(current().muted, 0.5), 1))
            painter.drawLine(QPointF(0, top - UNIT / 2), QPointF(width, top - UNIT / 2))
        if self.hasFocus():
            painter.setPen(QPen(color(current().accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_names(self, painter: QPainter, rows: range) -> None:
        painter.setFont(text_font(12))
        for row in rows:
            box = self.cell_box(row, 0)
            chosen = self.selected is not None and self.selected[0] == row
            painter.setPen(color(current().accent if chosen else current().muted))
            draw_text(painter, QRectF(UNIT, box.top(), self._names - 2 * UNIT, box.height()), self._rows[row])

    def _paint_header(self, painter: QPainter) -> None:
        small = mono_font(10)
        for column in self.columns_in_sight:
            header, box = self._columns[column], self.cell_box(0, column)
            inner = QRectF(box.left() + 1.5 * UNIT, 0, box.width() - 3 * UNIT, px(_HEADER) - 2)
            chosen = column == self._column
            note = QFontMetricsF(small).horizontalAdvance(header.note)
            painter.setFont(mono_font(11))
            painter.setPen(color(current().accent if chosen else current().text))
            draw_text(painter, inner.adjusted(0, 0, -note - UNIT, 0), header.title)
            painter.setFont(small)
            painter.setPen(color(current().muted))
            draw_text(painter, inner, header.note, Qt.AlignmentFlag.AlignRight)

    def _paint_cells(self, painter: QPainter, rows: range) -> None:
        for row in rows:
            for column in self.columns_in_sight:
                box = self.cell_box(row, column).adjusted(1, 1, -1, -1)
                cell = self._cell(row, column)
                if cell is None:
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(color(current().raised))
                    painter.drawRoundedRect(box, px(3), px(3))
                else:
                    self._paint_cell(painter, box, cell)
                if (row, column) in (self.selected, self.hovered):
                    self._outline(painter, box, (row, column) == self.selected)

    def _paint_cell(self, painter: QPainter, box: QRectF, cell: Cell) -> None:
        ground = _colour(cell.value, self._high)
        ink = _ink(ground)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, px(3), px(3))
        inner = box.adjusted(1.5 * UNIT, 0, -1.5 * UNIT, 0)
        if cell.marked:
            painter.setBrush(ink)
            size = px(_MARK)
            painter.drawEllipse(QRectF(inner.right() - size + 1, box.center().y() - size / 2, size, size))
            inner.adjust(0, 0, -size - UNIT, 0)
        painter.setFont(mono_font(11))
        painter.setPen(ink)
        if box.width() < px(_ROOMY):
            draw_text(painter, inner, cell.text)
            return
        small = mono_font(10)
        note = QFontMetricsF(small).horizontalAdvance(cell.note)
        draw_text(painter, inner.adjusted(0, 0, -note - UNIT, 0), cell.text)
        painter.setFont(small)
        draw_text(painter, inner, cell.note, Qt.AlignmentFlag.AlignRight)

    def _outline(self, painter: QPainter, box: QRectF, selected: bool) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if selected:
            painter.setPen(QPen(color(current().panel), 4))
            painter.drawRoundedRect(box, px(3), px(3))
        painter.setPen(QPen(color(current().accent if selected else current().text), 2 if selected else 1))
        painter.drawRoundedRect(box, px(3), px(3))

    # --- events ------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        if self.selected is None or not self._rows:
            return
        row, column = self.selected
        if row < len(self._rows) and column < len(self._columns):
            cell, header = self._cell(row, column), self._columns[column]
            said = "not read yet" if cell is None else f"{cell.text} {cell.note}"
            self.setAccessibleDescription(f"{self._rows[row]}, {header.title} {header.note}: {said}")

    def _hover(self, place: Place | None) -> None:
        if place != self.hovered:
            self.hovered = place
            self.viewport().update()
            self.hovered_changed.emit(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._place_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(*place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._rows or not self._columns or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        last_row, last_column = len(self._rows) - 1, len(self._columns) - 1
        row, column = self.selected if self.selected is not None else (last_row, last_column)
        page = max(1, self.verticalScrollBar().pageStep() // self._row_height())
        jumps = {
            Qt.Key.Key_Home: (row, 0),
            Qt.Key.Key_End: (row, last_column),
            Qt.Key.Key_PageUp: (row - page, column),
            Qt.Key.Key_PageDown: (row + page, column),
        }
        key = Qt.Key(event.key())
        if key in _KEYS:
            row, column = row + _KEYS[key][0], column + _KEYS[key][1]
        elif key in jumps:
            row, column = jumps[key]
        else:
            super().keyPressEvent(event)
            return
        self.chosen.emit(min(max(row, 0), last_row), min(max(column, 0), last_column))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll across where there is nothing to scroll down."""
        if self.verticalScrollBar().maximum() or event.angleDelta().x():
            super().wheelEvent(event)
        else:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - event.angleDelta().y())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "selected"):
            self._measure()


def _colour(value: float, high: float) -> QColor:
    """Return the sequential map's colour of ``value`` between 0 and ``high``; a neutral one where it is no number."""
    if not math.isfinite(value):
        return blend(current().muted, current().panel, 0.2)
    last = colormaps.NO_NUMBER - 1
    return _sequential(int(min(max(value / high, 0.0), 1.0) * last))


@cache
def _sequential(index: int) -> QColor:
    return QColor(*(int(part) for part in colormaps.sequential()[index]))


def _ink(ground: QColor) -> QColor:
    """Return black or white, whichever can be read better on ``ground``."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in ground.getRgbF()[:3]]  # type: ignore[index]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return QColor("#FFFFFF") if luminance < 0.179 else QColor("#101216")
