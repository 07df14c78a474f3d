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

    @property
    def rest(self) -> tuple[str, QRectF] | None:
        """What tells how many chips have no room, and where it stands; None if all have."""
        return self._laid_out()[1]

    def _laid_out(self) -> tuple[list[QRectF], tuple[str, QRectF] | None]:
        """Return the boxes of the chips that have room, and what stands after them."""
        boxes = list(self._places())
        words, gap = QFontMetricsF(text_font(12)), px(3 * UNIT)
        while len(boxes) < len(self._chips):
            text = f"… and {len(self._chips) - len(boxes):,} more"
            width = words.horizontalAdvance(text) + 1
            end = boxes[-1] if boxes else QRectF()
            left = end.right() + gap if boxes else 0.0
            if not boxes or left + width <= self.width():
                return boxes, (text, QRectF(left, end.top(), width, px(_CHIP)))
            boxes.pop()
        return boxes, None

    def _places(self) -> Iterator[QRectF]:
        """Yield the boxes of as many chips as the lines hold that have room, but of one line at least."""
        text, small = QFontMetricsF(mono_font(13)), QFontMetricsF(mono_font(10))
        x, y = 0.0, 0.0
        for label, token in self._chips:
            width = min(text.horizontalAdvance(visible(label)), px(_MOST))
            width += small.horizontalAdvance(str(token)) + px(7 * UNIT)
            if x and x + width > self.width():
                x, y = 0.0, y + px(_LINE)
                if y + px(_CHIP) > self.height():
                    return
            yield QRectF(x, y, width, px(_CHIP))
            x += width + px(2 * UNIT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes, rest = self._laid_out()
        for box, chip in zip(boxes, self._chips, strict=False):
            self._paint_chip(painter, box, *chip)
        if rest is not None:
            painter.setFont(text_font(12))
            painter.setPen(color(current().muted))
            draw_text(painter, rest[1], rest[0])

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
