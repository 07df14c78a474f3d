"""A drop-down list that looks like one."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox

from gptviz.widgets.theme import color, current, px


class ChoiceBox(QComboBox):
    """Draws its own arrow: the style sheet can't tint one."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(color(current().muted))
        pen.setWidthF(px(3) / 2)
        painter.setPen(pen)
        right, middle, half = self.width() - px(14), self.height() / 2, px(4)
        points = [QPointF(right - half, middle - half / 2), QPointF(right, middle + half / 2)]
        painter.drawPolyline([*points, QPointF(right + half, middle - half / 2)])
