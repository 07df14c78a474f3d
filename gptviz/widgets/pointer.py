"""A frame around what is spoken of. It lies over the window, lets clicks through and follows its target."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gptviz.widgets.theme import color, current, px

Spot = tuple[QWidget, QRect]  # a widget, and the part of it that is meant
_MARGIN, _RADIUS, _LINE, _ARROW = 4, 7, 2, 9  # px
_GLOW = 5  # px
_EVENTS = frozenset(
    {
        QEvent.Type.Resize,
        QEvent.Type.Move,
        QEvent.Type.Show,
        QEvent.Type.Hide,
        QEvent.Type.LayoutRequest,
        QEvent.Type.ParentChange,
        QEvent.Type.ZOrderChange,
        QEvent.Type.Paint,  # what is meant may have moved inside its widget
    }
)


class Pointer(QWidget):
    """Shows nothing while its target is out of sight."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("pointer")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._find: Callable[[], Spot | None] | None = None
        self._watched: list[QObject] = []
        self._framed = QRect()  # in this widget
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.follow)
        self.hide()

    @property
    def target(self) -> QRect:
        """What is framed, in the window's pixels; empty while nothing is."""
        return self._framed.translated(self.pos()) if self.isVisible() else QRect()

    def point_at(self, find: Callable[[], Spot | None] | None) -> None:
        """Frame what ``find`` finds; it is asked again whenever something moves. None frames nothing."""
        self._find = find
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Go to where the target is now."""
        spot = self._find() if self._find is not None else None
        self._watch(spot[0] if spot is not None else None)
        box = _visible_part(*spot) if spot is not None else QRect()
        if box.isEmpty() or spot is None:
            self.hide()
            return
        window = spot[0].window()
        if self.parentWidget() is not window:
            self.setParent(window)
        around = px(_MARGIN)
        framed = box.adjusted(-around, -around, around, around).intersected(window.rect().adjusted(1, 1, -1, -1))
        room = px(_GLOW) + px(_ARROW)
        geometry = framed.adjusted(-room, -room, room, room)
        if geometry != self.geometry() or not self.isVisible():
            self.setGeometry(geometry)
            self._framed = framed.translated(-geometry.topLeft())
            self.show()
            self.raise_()
            self.update()

    def _watch(self, target: QWidget | None) -> None:
        wanted: list[QObject] = []
        widget = target
        while widget is not None:
            wanted.append(widget)
            widget = None if widget.isWindow() else widget.parentWidget()
        if wanted == self._watched:
            return
        for one in self._watched:
            if isValid(one):
                one.removeEventFilter(self)
        self._watched = wanted
        for one in wanted:
            one.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _EVENTS and not self._timer.isActive():
            is_target = bool(self._watched) and watched is self._watched[0]
            if event.type() != QEvent.Type.Paint or is_target:
                self._timer.start()
        return False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent = current().accent
        frame = QRectF(self._framed).adjusted(1, 1, -1, -1)
        radius = px(_RADIUS)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for step in range(px(_GLOW), 0, -1):
            painter.setPen(QPen(color(accent, 0.22 * (1 - step / (px(_GLOW) + 1))), 2))
            painter.drawRoundedRect(frame.adjusted(-step, -step, step, step), radius + step, radius + step)
        painter.setPen(QPen(color(accent), px(_LINE)))
        painter.drawRoundedRect(frame, radius, radius)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(accent))
        painter.drawPolygon(self._arrow(frame))

    def _arrow(self, frame: QRectF) -> QPolygonF:
        """A tip at the left edge of the frame; at the right one where the window ends on the left."""
        size, middle = px(_ARROW), min(frame.center().y(), frame.top() + px(40))
        if self.x() + frame.left() >= size + 2:
            tip, back = frame.left() - 1, frame.left() - 1 - size
        else:
            tip, back = frame.right() + 1, frame.right() + 1 + size
        return QPolygonF([QPointF(tip, middle), QPointF(back, middle - size * 0.7), QPointF(back, middle + size * 0.7)])


def _visible_part(widget: QWidget, part: QRect) -> QRect:
    """Return the part of ``part`` that no ancestor cuts off, in the window's pixels; empty if it can't be seen."""
    if not isValid(widget) or not widget.isVisible():
        return QRect()
    box = part.intersected(widget.rect())
    while not widget.isWindow():
        box = box.translated(widget.pos())
        widget = widget.parentWidget() or widget.window()
        box = box.intersected(widget.rect())
    return box
