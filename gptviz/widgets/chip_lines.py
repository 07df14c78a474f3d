"""Tokens as chips in as many lines as there is room for; what does not fit is counted."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text, visible
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_CHIP, _LINE, _MOST = 26, 32, 240  # px: height of a chip and of a line, largest width of a text


class ChipLines(QWidget):
    """Each chip has a text and an ID."""

    def __init__(self) -> None:
        super().__init__()
        self._chips: Sequence[tuple[str, int]] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_chips(self, chips: Sequence[tuple[str, int]]) -> None:
        """Show texts with their IDs."""
        self._chips = chips
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(2 * _LINE))

    def _places(self) -> Iterator[tuple[int, QRectF]]:
        """Yield the chips that have room, with the box of each."""
        text, small = QFontMetricsF(mono_font(13)), QFontMetricsF(mono_font(10))
        x, y = 0.0, 0.0
        for place, (label, token) in enumerate(self._chips):
            width = min(text.horizontalAdvance(visible(label)), px(_MOST))
            width += small.horizontalAdvance(str(token)) + px(7 * UNIT)
            if x and x + width > self.width():
                x, y = 0.0, y + px(_LINE)
            if y + 2 * px(_LINE) > self.height() and place + 1 < len(self._chips) and x + 2 * width > self.width():
                return  # the last line has to tell how many more there are
            yield place, QRectF(x, y, width, px(_CHIP))
            x += width + px(2 * UNIT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shown, last = 0, QRectF()
        for place, box in self._places():
            self._paint_chip(painter, box, *self._chips[place])
            shown, last = place + 1, box
        if shown < len(self._chips):
            painter.setFont(text_font(12))
            painter.setPen(color(current().muted))
            left = last.right() + px(3 * UNIT) if shown else 0.0
            rest = QRectF(left, last.top(), self.width() - left, px(_CHIP))
            draw_text(painter, rest, f"… and {len(self._chips) - shown:,} more")

    def _paint_chip(self, painter: QPainter, box: QRectF, text: str, token: int) -> None:
        painter.setPen(QPen(color(current().hairline), 1))
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), px(UNIT), px(UNIT))
        inner = box.adjusted(px(2 * UNIT), 0, -px(2 * UNIT), 0)
        number = QFontMetricsF(mono_font(10)).horizontalAdvance(str(token)) + 1
        painter.setFont(mono_font(13))
        painter.setPen(color(current().text))
        draw_text(painter, inner.adjusted(0, 0, -number - px(UNIT), 0), visible(text))
        painter.setFont(mono_font(10))
        painter.setPen(color(current().muted))
        draw_text(painter, inner.adjusted(inner.width() - number, 1, 1, 0), str(token))
