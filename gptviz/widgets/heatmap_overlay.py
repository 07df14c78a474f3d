"""What lies over a heatmap's colours: token labels, outlines, and the digits of large cells."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import UNIT, color, current, mono_font, px

if TYPE_CHECKING:
    from gptviz.widgets.heatmap import Heatmap

_DIGITS_WIDTH, DIGITS_HEIGHT = 46, 18  # px of a cell that has room for its value


class HeatmapOverlay(QGraphicsItem):
    """Drawn in pixels of the heatmap, above everything else."""

    def __init__(self, heatmap: "Heatmap") -> None:
        super().__init__()
        self._heatmap = heatmap
        self._box = QRectF()
        self.setZValue(1000)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def set_box(self, box: QRectF) -> None:
        """Cover ``box``."""
        self.prepareGeometryChange()
        self._box = box

    def boundingRect(self) -> QRectF:
        return self._box

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        heatmap = self._heatmap
        if heatmap.data is None:
            return
        view = heatmap.view.sceneBoundingRect()
        painter.setFont(mono_font(11))
        self._draw_row_labels(painter, view)
        self._draw_column_labels(painter, view)
        painter.setClipRect(view)
        self._draw_digits(painter)
        if heatmap.hovered is not None:
            self._outline(painter, heatmap.hovered, color(current().text, 0.65), 1)
        if heatmap.selected is not None:
            self._outline(painter, heatmap.selected, color(current().panel), 4)
            self._outline(painter, heatmap.selected, color(current().accent), 2)
        painter.setClipping(False)
        painter.setPen(QPen(color(current().accent if heatmap.hasFocus() else current().hairline), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(view)

    def _visible(self) -> tuple[range, range]:
        assert self._heatmap.data is not None
        rows, columns = self._heatmap.data.values.shape
        (x0, x1), (y0, y1) = self._heatmap.view.viewRange()
        return (
            range(max(0, int(y0)), min(rows, int(np.ceil(y1)))),
            range(max(0, int(x0)), min(columns, int(np.ceil(x1)))),
        )

    def _active(self, axis: int) -> set[int]:
        cells = (self._heatmap.hovered, self._heatmap.selected)
        return {cell[axis] for cell in cells if cell is not None}

    def _draw_row_labels(self, painter: QPainter, view: QRectF) -> None:
        data = self._heatmap.data
        assert data is not None
        rows, columns = self._visible()
        if not data.row_labels or not rows or not columns:
            return
        height = QFontMetricsF(painter.font()).height()
        cell = self._heatmap.cell_box(rows[0], columns[0]).height()
        step = max(1, int(np.ceil(height / cell)))
        active = self._active(0)
        free = 0.0  # where the label before ends: those at the edges are moved into sight
        for row in rows:
            if row % step and row not in active:
                continue
            if row not in active and any(abs(row - other) < step for other in active):
                continue
            middle = self._heatmap.cell_box(row, columns[0]).center().y()
            if not view.top() <= middle <= view.bottom():
                continue
            painter.setPen(color(current().text if row in active else current().muted))
            top = min(max(0.0, middle - height / 2), self._box.height() - height)
            if row not in active and top < free - 1:
                continue
            free = top + height
            box = QRectF(0, top, view.left() - 2 * UNIT, height)
            draw_text(painter, box, data.row_labels[row], Qt.AlignmentFlag.AlignRight)

    def _draw_column_labels(self, painter: QPainter, view: QRectF) -> None:
        data = self._heatmap.data
        assert data is not None
        rows, columns = self._visible()
        if not data.column_labels or not rows or not columns:
            return
        metrics = QFontMetricsF(painter.font())
        cell = self._heatmap.cell_box(rows[0], columns[0]).width()
        longest = max(metrics.horizontalAdvance(data.column_labels[column]) for column in columns)
        flat = longest + 2 * UNIT <= cell
        step = 1 if flat else max(1, int(np.ceil(metrics.height() / cell)))
        active = self._active(1)
        for column in columns:
            if column % step and column not in active:
                continue
            if column not in active and any(abs(column - other) < step for other in active):
                continue
            middle = self._heatmap.cell_box(rows[0], column).center().x()
            if not view.left() <= middle <= view.right():
                continue
            painter.setPen(color(current().text if column in active else current().muted))
            text = data.column_labels[column]
            if flat:
                box = QRectF(middle - cell / 2, view.top() - metrics.height() - UNIT, cell, metrics.height())
                draw_text(painter, box, text, Qt.AlignmentFlag.AlignHCenter)
            else:
                painter.save()
                painter.translate(middle, view.top() - 2 * UNIT)
                painter.rotate(-90)
                draw_text(painter, QRectF(0, -metrics.height() / 2, view.top() - 2 * UNIT, metrics.height()), text)
                painter.restore()

    def _draw_digits(self, painter: QPainter) -> None:
        data = self._heatmap.data
        assert data is not None
        rows, columns = self._visible()
        if not rows or not columns:
            return
        box = self._heatmap.cell_box(rows[0], columns[0])
        if box.width() < px(_DIGITS_WIDTH) or box.height() < px(DIGITS_HEIGHT):
            return
        table = colormaps.diverging(current()) if data.signed else colormaps.sequential()
        index = colormaps.indices(
            data.coloured[rows.start : rows.stop, columns.start : columns.stop], data.low, data.high
        )
        for row in rows:
            for column in columns:
                value = float(data.values[row, column])
                entry = index[row - rows.start, column - columns.start]
                ink = current().muted if entry == colormaps.NO_NUMBER else _ink_on(QColor(*table[entry].tolist()))
                if np.isnan(value):
                    continue
                painter.setPen(color(ink))
                draw_text(painter, self._heatmap.cell_box(row, column), number(value, 3), Qt.AlignmentFlag.AlignHCenter)

    def _outline(self, painter: QPainter, cell: tuple[int, int], pen_color: QColor, width: int) -> None:
        assert self._heatmap.data is not None
        rows, columns = self._heatmap.data.values.shape
        if cell[0] >= rows or cell[1] >= columns:
            return
        box = self._heatmap.cell_box(*cell)
        if box.width() < 2 * UNIT:
            box = box.adjusted(-UNIT / 2, -UNIT / 2, UNIT / 2, UNIT / 2)
        painter.setPen(QPen(pen_color, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)


def _ink_on(ground: QColor) -> str:
    """Return black or white, whichever reads better on ``ground``."""
    return "#000000" if ground.lightnessF() > 0.52 or ground.greenF() > 0.6 else "#FFFFFF"
