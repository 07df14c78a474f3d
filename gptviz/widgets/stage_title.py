"""The title of a stage, with a mark in the colour of its family."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, px, text_font

_SIZE = 22  # px
_MARK = 5  # px


class StageTitle(QWidget):
    """One line, shortened where there is no room; the first part stands back."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._family = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_title(self, text: str, family: str) -> None:
        """Show ``text`` in the colour of ``family``."""
        if (text, family) != (self.text, self._family):
            self.text, self._family = text, family
            self.setAccessibleName(text)
            self.setToolTip(text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(_SIZE + 8))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(_SIZE + 8))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._family:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().families[self._family]))
        mark = QRectF(0, px(4), px(_MARK), self.height() - px(8))
        painter.drawRoundedRect(mark, mark.width() / 2, mark.width() / 2)
        font = text_font(_SIZE, QFont.Weight.DemiBold)
        painter.setFont(font)
        x = mark.right() + 3 * UNIT
        before, dot, name = self.text.rpartition(" · ")
        for text, tone in ((before + dot, current().muted), (name, current().text)):
            painter.setPen(color(tone))
            draw_text(painter, QRectF(x, 0, self.width() - x, self.height()), text)
            x += QFontMetricsF(font).horizontalAdvance(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
