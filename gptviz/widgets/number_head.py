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
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_number(self, title: str, family: str, coordinates: Sequence[tuple[str, str]], value: str) -> None:
        """Show a number; ``coordinates`` are names and values, such as query and 3 ␣am."""
        self._title, self._family, self._value = title, family, value
        self._coordinates = tuple(coordinates)
        self.setAccessibleName(f"{title} {value}")
        self.setAccessibleDescription(self.coordinates)
        self.updateGeometry()
        self.update()

    def set_verdict(self, text: str, wrong: bool) -> None:
        """Say below the value how it compares with the recomputed one."""
        self._verdict, self._wrong = text, wrong
        self.updateGeometry()
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

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return px((3 if self._crowded(width) else 2) * _LINE - (2 if self._crowded(width) else 1) * UNIT)

    def sizeHint(self) -> QSize:
        width = max(self.width(), px(320))
        return QSize(px(320), self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), px(2 * _LINE - UNIT))

    # --- inside ------------------------------------------------------------------------------------------

    def _crowded(self, width: float) -> bool:
        """Tell whether coordinates and verdict need a line each."""
        verdict = QFontMetricsF(text_font(_SMALL)).horizontalAdvance(self._verdict)
        return px(_MARK + 3 * UNIT) + self._coordinates_width() + px(3 * UNIT) + verdict > width

    def _coordinates_width(self) -> float:
        return sum(name + value for name, value in map(self._widths, self._coordinates))

    def _widths(self, coordinate: tuple[str, str]) -> tuple[float, float]:
        """Return what name and value take, with the room behind them."""
        name, value = coordinate
        names, values = QFontMetricsF(text_font(_SMALL)), QFontMetricsF(mono_font(_SMALL))
        return names.horizontalAdvance(name) + px(UNIT + 1), values.horizontalAdvance(value) + px(3 * UNIT)

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
        below = QRectF(left, line, self.width() - left, line - px(UNIT))
        self._paint_coordinates(painter, below)
        painter.setFont(text_font(_SMALL))
        painter.setPen(color(theme.error if self._wrong else theme.muted))
        crowded = self._crowded(self.width())
        align = Qt.AlignmentFlag.AlignLeft if crowded else Qt.AlignmentFlag.AlignRight
        draw_text(painter, below.translated(0, below.height() if crowded else 0), self._verdict, align)

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
        x = box.left()
        baseline = box.center().y() + QFontMetricsF(mono_font(_SMALL)).capHeight() / 2
        for coordinate in self._coordinates:
            name_width, value_width = self._widths(coordinate)
            painter.setFont(text_font(_SMALL))
            painter.setPen(color(current().muted))
            painter.drawText(QPointF(x, baseline), coordinate[0])
            painter.setFont(mono_font(_SMALL))
            painter.setPen(color(current().text))
            painter.drawText(QPointF(x + name_width, baseline), coordinate[1])
            x += name_width + value_width

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
