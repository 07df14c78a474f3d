"""Rows of numbers as dots on one axis, each with its mean and one standard deviation to each side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import color, current, mono_font, px, text_font, tone

Array = np.ndarray[Any, np.dtype[Any]]

_NAMES, _ROW, _AXIS, _DOT = 88, 32, 20, 9  # px
_MANY = 200  # numbers
_MARGIN = 1.12  # of the largest number


class NumberLine(QWidget):
    """Makes visible what a table of numbers only says: where they are and how far apart."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._rows: Sequence[tuple[str, Array]] = ()
        self._marked = 0
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_rows(self, rows: Sequence[tuple[str, Array]], marked: int) -> None:
        """Show rows, each its name and its numbers; the number at ``marked`` stands out in all of them."""
        self._rows, self._marked = rows, marked if marked < len(rows[0][1]) else 0
        self.setAccessibleDescription(
            "; ".join(f"{name}: from {number(float(v.min()))} to {number(float(v.max()))}" for name, v in rows)
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(480), max(1, len(self._rows)) * px(_ROW) + px(_AXIS))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        parts = [np.abs(values[np.isfinite(values)]).astype(np.float64) for _, values in self._rows]
        known = np.concatenate(parts) if parts else np.zeros(0)
        if not known.size:
            return
        extent = max(float(known.max()), 1e-12) * _MARGIN
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        field = QRectF(px(_NAMES), 0, self.width() - px(_NAMES), len(self._rows) * px(_ROW))
        self._paint_axis(painter, field, extent)
        for place, (name, values) in enumerate(self._rows):
            line = QRectF(field.left(), place * px(_ROW), field.width(), px(_ROW))
            painter.setFont(text_font(12))
            painter.setPen(color(current().muted))
            draw_text(painter, QRectF(0, line.top(), px(_NAMES), line.height()), name)
            if np.isfinite(values).all():
                self._paint_row(painter, line, values.astype(np.float64), extent)

    def _x(self, box: QRectF, value: float, extent: float) -> float:
        return box.center().x() + value / extent * box.width() / 2

    def _paint_axis(self, painter: QPainter, box: QRectF, extent: float) -> None:
        step = _round_step(extent)
        painter.setFont(mono_font(10))
        for tick in range(-int(extent / step), int(extent / step) + 1):
            x = self._x(box, tick * step, extent)
            painter.setPen(QPen(color(current().hairline if tick else current().muted, 0.9), 1))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.setPen(color(current().muted))
            text = f"{tick * step:g}".replace("-", "−")
            label = QRectF(x - px(30), box.bottom(), px(60), px(_AXIS))
            draw_text(painter, label, text, Qt.AlignmentFlag.AlignHCenter)

    def _paint_row(self, painter: QPainter, line: QRectF, values: Array, extent: float) -> None:
        mean, deviation = float(values.mean()), float(values.std())
        y = line.center().y()
        left, right = (self._x(line, mean + side * deviation, extent) for side in (-1, 1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().muted, 0.14))
        painter.drawRoundedRect(QRectF(left, y - px(11), right - left, px(22)), px(3), px(3))
        painter.setPen(QPen(color(current().text), 1.5))
        middle = self._x(line, mean, extent)
        painter.drawLine(QPointF(middle, y - px(11)), QPointF(middle, y + px(11)))
        painter.setPen(QPen(color(current().panel), 1))
        painter.setBrush(color(tone("norm"), 0.75))
        places = line.center().x() + np.delete(values, self._marked) / extent * line.width() / 2
        for x in np.unique(places.round(1 if len(places) < _MANY else 0)):  # of a long row, one dot a pixel
            painter.drawEllipse(QPointF(x, y), px(_DOT) / 2, px(_DOT) / 2)
        painter.setBrush(color(current().accent))
        here = self._x(line, float(values[self._marked]), extent)
        painter.drawEllipse(QPointF(here, y), px(_DOT + 2) / 2, px(_DOT + 2) / 2)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()


def _round_step(extent: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten, of which two to five reach to ``extent``."""
    power = 10.0 ** np.floor(np.log10(extent / 2))
    return next(float(factor * power) for factor in (5, 2, 1) if factor * power <= extent / 2)
