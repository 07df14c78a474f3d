"""How many positions each step computed: the whole context again, or the one new token."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import color, current, px, text_font, tone


class PositionsChart(QWidget):
    """A column for each step, as high as the positions it computed; the new one on top in full colour."""

    def __init__(self) -> None:
        super().__init__()
        self._computed: Sequence[int] = ()
        self._prompt = 0
        self.setAccessibleName("Positions computed in each step")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_steps(self, computed: Sequence[int], prompt: int) -> None:
        """Show how many positions each step computed; the first one's are the prompt's ``prompt`` tokens."""
        self._computed, self._prompt = computed, prompt
        self.setAccessibleDescription(self.caption)
        self.update()

    @property
    def caption(self) -> str:
        """What the chart shows, in words."""
        if not self._computed:
            return "No positions computed yet"
        total = sum(self._computed)
        needed = self._prompt + len(self._computed) - 1
        again = total - needed
        return f"{total:,} positions computed, {max(again, 0):,} of them again"

    def sizeHint(self) -> QSize:
        return QSize(px(280), px(64))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(180), px(64))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = current()
        painter.setFont(text_font(12))
        painter.setPen(color(theme.muted))
        draw_text(painter, QRectF(0, 0, self.width(), px(18)), self.caption)
        if not self._computed:
            return
        area = QRectF(0, px(22), self.width(), self.height() - px(24))
        steps = len(self._computed)
        width = min(area.width() / steps, float(px(16)))
        gap = 1.0 if width >= 4 else 0.0
        most = max(self._computed)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, computed in enumerate(self._computed):
            height = max(2.0, area.height() * computed / most)
            left = area.left() + index * width
            fresh = computed if index == 0 else 1
            new = min(height, max(2.0, area.height() * fresh / most))
            painter.fillRect(QRectF(left, area.bottom() - height, width - gap, height), color(theme.muted, 0.45))
            painter.fillRect(QRectF(left, area.bottom() - height, width - gap, new), color(tone("embedding")))
