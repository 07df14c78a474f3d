"""How far the tour has come: a bar with a piece for each step."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.theme import color, current, px

_HEIGHT, _GAP = 4, 2  # px


class TourProgress(QWidget):
    """Pieces up to the present one are filled; the present one in the colour of its family."""

    def __init__(self) -> None:
        super().__init__()
        self._place, self._count, self._family = 0, 0, ""
        self.setAccessibleName("Progress of the tour")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_place(self, place: int, count: int, family: str) -> None:
        """Show that the step at ``place``, of ``count``, is the present one."""
        self._place, self._count, self._family = place, count, family
        self.setAccessibleDescription(f"step {place + 1} of {count}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(80), px(_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._count:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        theme, gap = current(), px(_GAP)
        width = (self.width() + gap) / self._count - gap
        for place in range(self._count):
            if place == self._place:
                tone = color(theme.families.get(self._family, theme.accent))
            else:
                tone = color(theme.muted, 0.55) if place < self._place else color(theme.raised)
            painter.setBrush(tone)
            painter.drawRoundedRect(QRectF(place * (width + gap), 0, width, self.height()), 2, 2)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
