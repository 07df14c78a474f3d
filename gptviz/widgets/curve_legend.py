"""The names of a plot's curves, each with a piece of its line and its value at the point."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.curve_plot import CurveStyle
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font, tone

_LINE = 18  # px


class CurveLegend(QWidget):
    """One line: — GELU 0.8412  --- ReLU 1"""

    def __init__(self, title: str, styles: Sequence[CurveStyle]) -> None:
        super().__init__()
        self._title = title
        self._styles = styles
        self._values: tuple[str, ...] = ("",) * len(styles)
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_values(self, values: Sequence[str]) -> None:
        """Show the curves' values at the point."""
        self._values = tuple(values)
        pairs = zip(self._styles, values, strict=True)
        self.setAccessibleDescription(", ".join(f"{style.name} {value}".strip() for style, value in pairs))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(300), px(20))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        title, text, figures = text_font(13, text_font(13).Weight.DemiBold), text_font(12), mono_font(12)
        middle = self.height() / 2
        baseline = middle + (QFontMetricsF(text).ascent() - QFontMetricsF(text).descent()) / 2
        painter.setFont(title)
        painter.setPen(color(current().text))
        painter.drawText(QPointF(0, baseline), self._title)
        x = QFontMetricsF(title).horizontalAdvance(self._title) + 5 * UNIT
        for style, value in zip(self._styles, self._values, strict=True):
            pen = QPen(color(tone(style.tone)), 2)
            if style.dashed:
                pen.setDashPattern([4.0, 3.0])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(x, middle), QPointF(x + px(_LINE), middle))
            x += px(_LINE) + 1.5 * UNIT
            for font, words, shade in ((text, style.name, current().muted), (figures, value, current().text)):
                painter.setFont(font)
                painter.setPen(color(shade))
                painter.drawText(QPointF(x, baseline), words)
                x += QFontMetricsF(font).horizontalAdvance(words) + 1.5 * UNIT
            x += 2 * UNIT

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
