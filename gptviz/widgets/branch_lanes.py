"""A branch as a lane in time: where it left another one, how long it is, which step is on screen."""

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gptviz.widgets.theme import color, current, px

LANE = int(Qt.ItemDataRole.UserRole) + 1
_MOST_DOTS = 60
_GAP = 24  # px that two steps are apart at most


@dataclass(frozen=True)
class Lane:
    """Steps ``first`` to ``last`` (not included) of ``longest``; ``shown`` is on screen.

    ``passing`` are the forks of branches below whose line comes through, ``leaving`` those that begin here.
    """

    first: int
    last: int
    longest: int
    present: bool
    shown: int | None
    passing: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    forked: bool = False  # whether it left a branch above


class LaneDelegate(QStyledItemDelegate):
    """Draws the cells that have a ``Lane`` as data of the role ``LANE``."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        lane = index.data(LANE)
        if not isinstance(lane, Lane) or not lane.last:
            return
        box = QRectF(option.rect).adjusted(px(8), 0, -px(8), 0)
        step = min(box.width() / max(1, lane.longest), float(px(_GAP)))
        theme = current()
        shade = color(theme.families["head"] if lane.present else theme.muted)
        middle = box.center().y()

        def x(place: float) -> float:
            return box.left() + place * step

        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color(theme.muted, 0.6), 1.5))
        for fork in lane.passing:
            painter.drawLine(QPointF(x(fork), box.top()), QPointF(x(fork), box.bottom()))
        for fork in lane.leaving:
            painter.drawLine(QPointF(x(fork), middle), QPointF(x(fork), box.bottom()))
        if lane.forked:
            painter.drawLine(QPointF(x(lane.first), box.top()), QPointF(x(lane.first), middle))
        painter.setPen(QPen(shade, 2))
        painter.drawLine(QPointF(x(lane.first), middle), QPointF(x(lane.last), middle))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shade)
        if lane.last - lane.first <= _MOST_DOTS and step > px(5):
            for place in range(lane.first, lane.last):
                painter.drawEllipse(QPointF(x(place + 1), middle), 2.5, 2.5)
        else:
            painter.drawEllipse(QPointF(x(lane.last), middle), 2.5, 2.5)
        if lane.shown is not None and lane.shown < lane.last:
            painter.setBrush(color(theme.panel))
            painter.setPen(QPen(color(theme.accent), 2))
            painter.drawEllipse(QPointF(x(lane.shown + 1), middle), 5, 5)
        painter.restore()
