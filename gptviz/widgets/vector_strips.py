"""Rows of numbers above each other as colours, so that the same place in each stands in one column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px

Array = np.ndarray[Any, np.dtype[Any]]

_ROW, _GAP = 20, 3  # px
_MOST_LABEL = 0.3  # of the width
_LEAST_CELL = 2.0  # px


@dataclass(frozen=True)
class StripRow:
    """Numbers (n,), the same n in each row; ``link`` says that they can be followed, ``mark`` outlines one."""

    label: str
    values: Array
    link: bool
    mark: int | None = None


class VectorStrips(QWidget):
    """Each row is coloured on its own scale, symmetric around zero. Narrow cells show the strongest of several."""

    pointed = Signal(object)  # the place along the rows, or None
    chosen = Signal(int, int)  # row, place

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[StripRow, ...] = ()
        self._pointed: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName("Rows of numbers")

    def set_rows(self, rows: Sequence[StripRow]) -> None:
        """Show ``rows``."""
        self._rows, self._pointed = tuple(rows), None
        self.setAccessibleDescription("; ".join(f"{row.label}, {len(row.values)} numbers" for row in rows))
        self.updateGeometry()
        self.update()

    @property
    def rows(self) -> tuple[StripRow, ...]:
        return self._rows

    @property
    def step(self) -> int:
        """How many numbers one drawn cell stands for."""
        count = len(self._rows[0].values) if self._rows else 1
        return max(1, int(np.ceil(count * _LEAST_CELL / max(1.0, self._strip_width()))))

    def cell_box(self, row: int, place: int) -> QRectF:
        """Return where the cell is drawn that holds the number ``place`` of ``row``."""
        cell = self._cell_width()
        return QRectF(self._left() + place // self.step * cell, row * px(_ROW + _GAP), cell, px(_ROW))

    def sizeHint(self) -> QSize:
        return QSize(px(320), max(0, len(self._rows) * px(_ROW + _GAP) - px(_GAP)) + 1)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), self.sizeHint().height())

    # --- inside ------------------------------------------------------------------------------------------

    def _left(self) -> float:
        metrics = QFontMetricsF(mono_font(11))
        widest = max((metrics.horizontalAdvance(row.label) for row in self._rows), default=0.0)
        return float(np.ceil(min(widest, _MOST_LABEL * self.width()))) + 2 + px(2 * UNIT)

    def _strip_width(self) -> float:
        return max(1.0, self.width() - self._left() - 1)

    def _cell_width(self) -> float:
        cells = -(-len(self._rows[0].values) // self.step)
        return self._strip_width() / cells

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        painter = QPainter(self)
        painter.setFont(mono_font(11))
        left, width = self._left(), self._strip_width()
        for place, row in enumerate(self._rows):
            top = place * px(_ROW + _GAP)
            painter.setPen(color(current().muted))
            draw_text(painter, QRectF(0, top, left - px(2 * UNIT), px(_ROW)), row.label)
            strip = QRectF(left, top, width, px(_ROW))
            painter.fillRect(strip, colormaps.hatch())
            painter.drawImage(strip, _image(row.values, self.step))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, row in enumerate(self._rows):
            if row.mark is not None:
                self._outline(painter, self.cell_box(place, row.mark), current().accent)
            if self._pointed is not None:
                self._outline(painter, self.cell_box(place, self._pointed), current().text)

    def _outline(self, painter: QPainter, box: QRectF, tone: str) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color(tone), 1.5))
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        """Return the row at ``point`` and the place along it; of several numbers in a cell the strongest."""
        row, across = int(point.y() // px(_ROW + _GAP)), point.x() - self._left()
        if not self._rows or not 0 <= row < len(self._rows) or not 0 <= across < self._strip_width():
            return None
        first = int(across / self._cell_width()) * self.step
        part = self._rows[row].values[first : first + self.step]
        sizes = np.where(np.isfinite(part), np.abs(part), -1.0)
        return row, first + int(sizes.argmax())

    # --- events ------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if at and self._rows[at[0]].link else Qt.CursorShape.ArrowCursor
        )
        self._point_at(None if at is None else at[1])

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, place: int | None) -> None:
        if place != self._pointed:
            self._pointed = place
            self.pointed.emit(place)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or at is None or not self._rows[at[0]].link:
            event.ignore()
            return
        self.chosen.emit(*at)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()


def _image(values: Array, step: int) -> Any:
    limit = colormaps.symmetric_limit(values)
    shown = values if step == 1 else _strongest(values, step)
    return colormaps.indexed_image(colormaps.indices(shown[None], -limit, limit), colormaps.diverging(current()))


def _strongest(values: Array, step: int) -> Array:
    """Return of each ``step`` values the finite one that is furthest from zero."""
    padded = np.full(-(-len(values) // step) * step, np.nan)
    padded[: len(values)] = values
    tiles = padded.reshape(-1, step)
    sizes = np.where(np.isfinite(tiles), np.abs(tiles), -1.0)
    result: Array = tiles[np.arange(len(tiles)), sizes.argmax(axis=1)]
    return result
