"""What of the text the model sees: the context as a window, what fell out before it, what is still free."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, px, text_font, tone

_BAR = 12  # px
_CAPTION = 18  # px


class CropBar(QWidget):
    """A bar as long as the text, or as the context if that is longer; a line below says what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self._text = self._context = self._new = 0
        self.setAccessibleName("The crop to the context")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_sizes(self, text: int, context: int, computed: int) -> None:
        """Show a text of so many tokens, a context of so many, and how many positions the pass computed at its end."""
        self._text, self._context, self._new = text, context, computed
        self.setAccessibleDescription(self.caption)
        self.update()

    @property
    def caption(self) -> str:
        """What the bar shows, in words."""
        if not self._text:
            return "Nothing was generated yet."
        out = self._text - self._context
        if out > 0:
            tokens = "the first token falls out" if out == 1 else f"the first {out:,} tokens fall out"
            return f"{self._text:,} tokens, cropped to {self._context:,}: {tokens}, and positions start at 0 again."
        return f"{self._text:,} tokens at positions 0 to {self._text - 1:,} of {self._context:,}: nothing is cropped."

    def sizeHint(self) -> QSize:
        return QSize(px(300), px(_BAR + _CAPTION) + UNIT)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(160), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = current()
        track = QRectF(0.5, 0.5, self.width() - 1, px(_BAR))
        whole = max(self._text, self._context, 1)
        out = max(0, self._text - self._context)
        per_token = track.width() / whole
        window = QRectF(out * per_token, track.top(), min(self._context, whole) * per_token, track.height())
        painter.setPen(QPen(color(theme.hairline), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(track, 2, 2)
        if out:
            hatch = QBrush(color(theme.muted), Qt.BrushStyle.BDiagPattern)
            painter.fillRect(QRectF(track.left(), track.top(), window.left(), track.height()), hatch)
        seen = QRectF(window.left(), track.top(), min(self._text, self._context) * per_token, track.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(tone("embedding"), 0.35))
        painter.drawRoundedRect(seen, 2, 2)
        new = min(self._new, self._text) * per_token
        painter.setBrush(color(tone("embedding")))
        painter.drawRoundedRect(QRectF(seen.right() - new, track.top(), new, track.height()), 2, 2)
        painter.setFont(text_font(12))
        painter.setPen(color(theme.muted))
        draw_text(painter, QRectF(0, px(_BAR) + UNIT, self.width(), px(_CAPTION)), self.caption)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
