"""The legend of a heatmap: its colours and what they stand for."""

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_BAR_WIDTH, _BAR_HEIGHT = 128, 10
_NONE_WIDTH = 18


class Legend(QWidget):
    """A horizontal bar from ``low`` to ``high``, and a hatched field for cells without a number."""

    def __init__(self) -> None:
        super().__init__()
        self._range: tuple[float, float] | None = None
        self._signed = False
        self._none_text = ""
        self._badge = ""
        self.setAccessibleName("Colour legend")

    def set_range(self, low: float, high: float, signed: bool, none_text: str = "", badge: str = "") -> None:
        """Show the colours between ``low`` and ``high``; ``badge`` warns when the colours are no plain values."""
        self._range, self._signed, self._none_text, self._badge = (low, high), signed, none_text, badge
        self.setAccessibleDescription(f"from {number(low)} to {number(high)} {badge}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(_BAR_WIDTH + 180), px(_BAR_HEIGHT) + px(18))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(_BAR_WIDTH), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._range is None:
            return
        painter = QPainter(self)
        low, high = self._range
        table = colormaps.diverging(current()) if self._signed else colormaps.sequential()
        index = np.arange(colormaps.NO_NUMBER, dtype=np.uint8).reshape(1, -1)
        bar = QRectF(0.5, 0.5, px(_BAR_WIDTH), px(_BAR_HEIGHT))
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
        painter.drawImage(bar, colormaps.indexed_image(index, table))
        painter.setPen(QPen(color(current().hairline)))
        painter.drawRect(bar)
        painter.setFont(mono_font(11))
        painter.setPen(color(current().muted))
        labels = QRectF(bar.left(), bar.bottom() + 2, bar.width(), px(15))
        draw_text(painter, labels, number(low, 3))
        draw_text(painter, labels, number(high, 3), Qt.AlignmentFlag.AlignRight)
        if self._signed:
            draw_text(painter, labels, "0", Qt.AlignmentFlag.AlignHCenter)
        painter.setFont(text_font(11))
        left = bar.right() + 4 * UNIT
        if self._none_text:
            field = QRectF(left, bar.top(), px(_NONE_WIDTH), bar.height())
            painter.fillRect(field, colormaps.hatch())
            painter.setPen(QPen(color(current().hairline)))
            painter.drawRect(field)
            painter.setPen(color(current().muted))
            text = QRectF(field.right() + 2 * UNIT, 0, self.width() - field.right() - 2 * UNIT, px(_BAR_HEIGHT) + 2)
            draw_text(painter, text, self._none_text)
        if self._badge:
            painter.setPen(color(current().warning))
            draw_text(painter, QRectF(left, labels.top(), self.width() - left, labels.height()), self._badge)
