"""What number it is: the stage, its place, and the value large."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_TITLE, _VALUE, _SMALL = 16, 22, 12  # px
_LINE = 26  # px
_MARK = 5  # px


class NumberHead(QWidget):
    """Two lines: title and value, then where it is and whether the value was confirmed."""

    def __init__(self) -> None:
        super().__init__()
        self._title = self._family = self._value = self._verdict = ""
        self._coordinates: tuple[tuple[str, str], ...] = ()
        self._wrong = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_number(self, title: str, family: str, coordinates: Sequence[tuple[str, str]], value: str) -> None:
        """Show a number; ``coordinates`` are names and values, such as query and 3 ␣am."""
        self._title, self._family, self._value = title, family, value
        self._coordinates = tuple(coordinates)
        self.setAccessibleName(f"{title} {value}")
        self.setAccessibleDescription(self.coordinates)
        self.setToolTip("")
        self.update()

    def set_verdict(self, text: str, wrong: bool) -> None:
        """Say below the value how it compares with the recomputed one."""
        self._verdict, self._wrong = text, wrong
        self.update()

    @property
    def title(self) -> str:
        return self._title

    @property
    def value(self) -> str:
        return self._value

    @property
    def verdict(self) -> str:
        return self._verdict

    @property
    def coordinates(self) -> str:
        """Where the number is, as one line."""
        return ", ".join(f"{name} {value}" for name, value in self._coordinates)

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(2 * _LINE - UNIT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._family:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, line = current(), px(_LINE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(theme.families[self._family]))
        mark = QRectF(0, px(3), px(_MARK), self.height() - px(6))
        painter.drawRoundedRect(mark, mark.width() / 2, mark.width() / 2)
        left = mark.right() + px(3 * UNIT)
        painter.setFont(mono_font(_VALUE))
        painter.setPen(color(theme.error if self._wrong else theme.text))
        width = QFontMetricsF(painter.font()).horizontalAdvance(self._value) + 1
        draw_text(painter, QRectF(self.width() - width, 0, width, line), self._value, Qt.AlignmentFlag.AlignRight)
        self._paint_title(painter, QRectF(left, 0, self.width() - left - width - px(3 * UNIT), line))
        painter.setFont(text_font(_SMALL))
        verdict = QFontMetricsF(painter.font()).horizontalAdvance(self._verdict) + 1
        painter.setPen(color(theme.error if self._wrong else theme.muted))
        below = QRectF(left, line, self.width() - left, self.height() - line)
        draw_text(painter, below, self._verdict, Qt.AlignmentFlag.AlignRight)
        self._paint_coordinates(painter, below.adjusted(0, 0, -verdict - px(3 * UNIT), 0))

    def _paint_title(self, painter: QPainter, box: QRectF) -> None:
        font = text_font(_TITLE, QFont.Weight.DemiBold)
        painter.setFont(font)
        before, dot, name = self._title.rpartition(" · ")
        metrics = QFontMetricsF(font)
        if metrics.horizontalAdvance(self._title) > box.width():
            before, dot = "", ""  # the name alone, where there is no room for where it stands
        x = box.left()
        for text, tone in ((before + dot, current().muted), (name, current().text)):
            painter.setPen(color(tone))
            draw_text(painter, QRectF(x, box.top(), box.right() - x, box.height()), text)
            x += metrics.horizontalAdvance(text)

    def _paint_coordinates(self, painter: QPainter, box: QRectF) -> None:
        names, values = text_font(_SMALL), mono_font(_SMALL)
        x = box.left()
        baseline = box.center().y() + QFontMetricsF(values).capHeight() / 2
        for name, value in self._coordinates:
            needed = (
                QFontMetricsF(names).horizontalAdvance(name)
                + px(UNIT + 1)
                + QFontMetricsF(values).horizontalAdvance(value)
            )
            if x + needed > box.right() and x > box.left():
                return
            painter.setFont(names)
            painter.setPen(color(current().muted))
            painter.drawText(QPointF(x, baseline), name)
            x += QFontMetricsF(names).horizontalAdvance(name) + px(UNIT + 1)
            painter.setFont(values)
            painter.setPen(color(current().text))
            painter.drawText(QPointF(x, baseline), value)
            x += QFontMetricsF(values).horizontalAdvance(value) + px(3 * UNIT)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
