"""What a normalisation averages over: a small batch with its rows or its columns outlined, and the result below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px, text_font, tone

Array = np.ndarray[Any, np.dtype[Any]]

_ROW, _LINE, _NAMES, _MOMENTS, _WIDEST = 24, 18, 70, 120, 60  # px
_TINT = 0.34
_RIGHT, _MIDDLE = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter


@dataclass(frozen=True)
class NormData:
    """A batch (rows, columns), the same normalised, and mean and variance of each group."""

    batch: Array
    result: Array
    moments: Sequence[tuple[float, float]]
    edited: int | None  # the row that stands out


class NormPicture(QWidget):
    """Draws the groups as outlines: the rows, or the columns."""

    def __init__(self, title: str, over_rows: bool) -> None:
        super().__init__()
        self._title = title
        self._over_rows = over_rows
        self._data: NormData | None = None
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_data(self, data: NormData) -> None:
        """Show another batch."""
        self._data = data
        kind = "row" if self._over_rows else "column"
        moments = [
            f"{kind} {place}: mean {number(mean)}, variance {number(variance)}"
            for place, (mean, variance) in enumerate(data.moments, start=1)
        ]
        results = [
            f"row {place} normalised: {', '.join(short(value) for value in row)}"
            for place, row in enumerate(data.result, start=1)
        ]
        self.setAccessibleDescription("; ".join([*moments, *results]))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows = 2 if self._data is None else len(self._data.batch)
        lines = 1 if self._over_rows else 3
        height = px(_LINE + UNIT) + 2 * rows * px(_ROW) + lines * px(_LINE) + 3 * px(UNIT)
        return QSize(px(_NAMES + 6 * _WIDEST + _MOMENTS), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(_NAMES + 6 * 38 + _MOMENTS), self.sizeHint().height())

    # --- painting ----------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(13, QFont.Weight.DemiBold))
        painter.setPen(color(current().text))
        draw_text(painter, QRectF(0, 0, self.width(), px(_LINE)), self._title)
        data = self._data
        if data is None:
            return
        rows, columns = data.batch.shape
        top = float(px(_LINE + UNIT))
        side = min((self.width() - px(_NAMES + _MOMENTS)) / columns, float(px(_WIDEST)))
        batch = QRectF(px(_NAMES), top, side * columns, rows * px(_ROW))
        self._paint_cells(painter, data.batch, batch)
        self._paint_names(painter, batch, data.edited)
        self._paint_groups(painter, batch, len(data.moments))
        below = self._paint_moments(painter, batch, data.moments)
        result = QRectF(batch.left(), below + px(_LINE), batch.width(), batch.height())
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        draw_text(painter, QRectF(0, below, self.width(), px(_LINE)), "normalised")
        self._paint_cells(painter, data.result, result)
        self._paint_names(painter, result, data.edited)

    def _paint_cells(self, painter: QPainter, values: Array, box: QRectF) -> None:
        rows, columns = values.shape
        width, height = box.width() / columns, box.height() / rows
        finite = np.abs(values[np.isfinite(values)])
        largest = float(finite.max()) if finite.size else 0.0
        painter.setFont(mono_font(11))
        for (row, column), value in np.ndenumerate(values):
            cell = QRectF(box.left() + column * width, box.top() + row * height, width, height)
            if np.isfinite(value) and largest > 0:
                shade = current().diverging[2 if value > 0 else 0]
                inner = cell.adjusted(2, 2, -2, -2)
                painter.fillRect(inner, blend(shade, current().panel, abs(float(value)) / largest * _TINT))
            painter.setPen(color(current().text if np.isfinite(value) else current().error))
            draw_text(painter, cell, short(float(value)), _MIDDLE)

    def _paint_names(self, painter: QPainter, box: QRectF, edited: int | None) -> None:
        rows = round(box.height() / px(_ROW))
        for row in range(rows):
            here = row == edited
            painter.setFont(text_font(11, QFont.Weight.DemiBold if here else QFont.Weight.Normal))
            painter.setPen(color(current().accent if here else current().muted))
            line = QRectF(0, box.top() + row * px(_ROW), box.left() - 2 * UNIT, px(_ROW))
            draw_text(painter, line, f"row {row + 1}", _RIGHT)

    def _paint_groups(self, painter: QPainter, box: QRectF, groups: int) -> None:
        painter.setPen(QPen(color(tone("norm")), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for group in range(groups):
            if self._over_rows:
                height = box.height() / groups
                outline = QRectF(box.left(), box.top() + group * height, box.width(), height)
            else:
                width = box.width() / groups
                outline = QRectF(box.left() + group * width, box.top(), width, box.height())
            painter.drawRoundedRect(outline.adjusted(1, 1, -1, -1), px(4), px(4))

    def _paint_moments(self, painter: QPainter, box: QRectF, moments: Sequence[tuple[float, float]]) -> float:
        """Write mean and variance of each group; return where the next thing can begin."""
        if self._over_rows:
            for row, (mean, variance) in enumerate(moments):
                line = QRectF(box.right() + 2 * UNIT, box.top() + row * px(_ROW), px(_MOMENTS), px(_ROW))
                painter.setFont(mono_font(11))
                painter.setPen(color(tone("norm")))
                draw_text(painter, line, f"μ {short(mean)}  σ² {number(variance, 2)}")
            return box.bottom() + px(UNIT)
        width = box.width() / len(moments)
        for place, name in enumerate(("mean μ", "variance σ²")):
            top = box.bottom() + px(UNIT) / 2 + place * px(_LINE)
            painter.setFont(text_font(11))
            painter.setPen(color(current().muted))
            draw_text(painter, QRectF(0, top, box.left() - 2 * UNIT, px(_LINE)), name, _RIGHT)
            painter.setFont(mono_font(11))
            painter.setPen(color(tone("norm")))
            for column, pair in enumerate(moments):
                cell = QRectF(box.left() + column * width, top, width, px(_LINE))
                draw_text(painter, cell, _small(pair[place]), _MIDDLE)
        return box.bottom() + px(2 * UNIT) + 2 * px(_LINE)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()


def short(value: float) -> str:
    """Write a number with two places, so that a column of them can be compared."""
    if not np.isfinite(value) or abs(value) >= 1000:
        return number(value, 1)
    return f"{0.0 if abs(value) < 5e-3 else value:.2f}".replace("-", "−")


def _small(value: float) -> str:
    """Write a number with three places, or its power of ten where they would all be 0."""
    if not np.isfinite(value) or 0 < abs(value) < 5e-4 or abs(value) >= 100:
        return number(value, 1)
    return f"{value:.3f}".replace("-", "−")
