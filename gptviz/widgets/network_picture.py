"""A chain of layers as boxes, with arcs where a shortcut leads around one."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px, text_font, tone

_MOST = 7  # layers that are drawn; of more, the first and the last ones
_BOX, _ARC, _NAME, _HEAD = 28, 26, 18, 5  # px
_WIDEST = 62  # px from one box to the next
_MIDDLE = Qt.AlignmentFlag.AlignHCenter


class NetworkPicture(QWidget):
    """Each box has its layer's number below it and its width in it; what goes in is at the left."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._sizes: Sequence[int] = ()
        self._shortcuts: Sequence[bool] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_network(self, sizes: Sequence[int], shortcuts: Sequence[bool]) -> None:
        """Show a network: the width of its input and of each layer, and around which layers a shortcut leads."""
        self._sizes, self._shortcuts = sizes, shortcuts
        around = [str(layer) for layer, there in enumerate(shortcuts, start=1) if there]
        self.setAccessibleDescription(
            f"{len(shortcuts)} layers; shortcuts around {', '.join(around) if around else 'none'}"
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(_WIDEST * (_MOST + 2)), px(_ARC + _BOX + _NAME + UNIT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), self.sizeHint().height())

    def _drawn(self) -> list[int | None]:
        """Return the places that are drawn, 0 for the input; None stands for those left out."""
        count = len(self._sizes)
        if count <= _MOST + 1:
            return list(range(count))
        return [0, 1, 2, 3, None, count - 3, count - 2, count - 1]

    def paintEvent(self, event: QPaintEvent) -> None:
        places = self._drawn()
        if not places:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pitch = min(float(px(_WIDEST)), self.width() / len(places))
        side = min(float(px(_BOX + 8)), pitch - px(14))
        boxes = [
            QRectF(spot * pitch + (pitch - side) / 2 - (pitch - side) / 2 + 1, px(_ARC), side, px(_BOX))
            for spot in range(len(places))
        ]
        for spot, place in enumerate(places):
            if spot:
                self._paint_link(painter, boxes[spot - 1], boxes[spot])
            if place and places[spot - 1] is not None and self._shortcuts[place - 1]:
                self._paint_arc(painter, boxes[spot - 1], boxes[spot])
            self._paint_box(painter, boxes[spot], place)

    def _paint_box(self, painter: QPainter, box: QRectF, place: int | None) -> None:
        theme = current()
        name = QRectF(box.center().x() - px(_WIDEST) / 2, box.bottom(), px(_WIDEST), px(_NAME))
        if place is None:
            painter.setPen(color(theme.muted))
            painter.setFont(text_font(13))
            draw_text(painter, box, "…", _MIDDLE)
            return
        if place:
            painter.setPen(QPen(color(tone("feed-forward")), 1.2))
            painter.setBrush(blend(tone("feed-forward"), theme.panel, 0.12))
            painter.drawRoundedRect(box, px(4), px(4))
        painter.setFont(mono_font(11))
        painter.setPen(color(theme.text))
        draw_text(painter, box, f"{self._sizes[place]}", _MIDDLE)
        painter.setFont(text_font(11))
        painter.setPen(color(theme.muted))
        draw_text(painter, name, str(place) if place else "input", _MIDDLE)

    def _paint_link(self, painter: QPainter, left: QRectF, right: QRectF) -> None:
        y = left.center().y()
        self._paint_arrow(painter, QPointF(left.right() + 2, y), QPointF(right.left() - 2, y))

    def _paint_arrow(self, painter: QPainter, start: QPointF, end: QPointF) -> None:
        painter.setPen(QPen(color(current().muted), 1.2))
        painter.drawLine(start, end)
        self._paint_head(painter, end, down=False)

    def _paint_head(self, painter: QPainter, tip: QPointF, down: bool) -> None:
        size = px(_HEAD) * 0.8
        for side in (-1, 1):
            back = QPointF(side * size * 0.7, -size) if down else QPointF(-size, side * size * 0.7)
            painter.drawLine(tip, tip + back)

    def _paint_arc(self, painter: QPainter, left: QRectF, right: QRectF) -> None:
        """Draw the way around the layer ``right``: from before it to behind it."""
        start = QPointF((left.right() + right.left()) / 2 - 1, left.center().y())
        end = QPointF(right.right() + (right.left() - left.right()) / 2 - 3, start.y() - 1)
        top = float(px(4))
        path = QPainterPath(start)
        path.cubicTo(QPointF(start.x(), top), QPointF(end.x(), top), end)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color(current().accent), 1.6))
        painter.drawPath(path)
        self._paint_head(painter, end, down=True)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
