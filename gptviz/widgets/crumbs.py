"""The way that led to here, as words in one line, each of which goes back to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gptviz.widgets.text import as_tip, draw_text
from gptviz.widgets.theme import UNIT, color, current, px, text_font

_SIZE, _HEIGHT = 12, 24  # px
_BETWEEN, _LEFT_OUT = "›", "…"


@dataclass(frozen=True)
class Crumb:
    """One step of the way."""

    text: str
    tip: str


class Crumbs(QWidget):
    """The last one is where we are. Where there is no room for all, the first ones are left out."""

    chosen = Signal(int)

    keeps_arrows = True

    def __init__(self) -> None:
        super().__init__()
        self._crumbs: tuple[Crumb, ...] = ()
        self._hovered: int | None = None
        self._current = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("The way here")

    def set_crumbs(self, crumbs: Sequence[Crumb]) -> None:
        """Show ``crumbs``."""
        self._crumbs, self._hovered = tuple(crumbs), None
        self._current = max(0, len(crumbs) - 1)
        self.setAccessibleDescription(", ".join(crumb.text for crumb in crumbs))
        self.update()

    @property
    def crumbs(self) -> tuple[Crumb, ...]:
        return self._crumbs

    def crumb_box(self, place: int) -> QRectF:
        """Return where a crumb is drawn; empty if it is left out."""
        return self._boxes().get(place, QRectF())

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(60), px(_HEIGHT))

    # --- inside ------------------------------------------------------------------------------------------

    def _boxes(self) -> dict[int, QRectF]:
        """Place as many of the last crumbs as there is room for."""
        metrics = QFontMetricsF(text_font(_SIZE))
        gap = metrics.horizontalAdvance(_BETWEEN) + 2 * px(UNIT + 2)
        widths = [metrics.horizontalAdvance(crumb.text) + 1 for crumb in self._crumbs]
        first, used = len(widths), 0.0
        while first > 0:
            needed = widths[first - 1] + (gap if first < len(widths) else 0)
            left_out = metrics.horizontalAdvance(_LEFT_OUT) + gap if first > 1 else 0
            if used and used + needed + left_out > self.width():
                break
            used, first = used + needed, first - 1
        x = metrics.horizontalAdvance(_LEFT_OUT) + gap if first > 0 else 0.0
        boxes = {}
        for place in range(first, len(widths)):
            boxes[place] = QRectF(x, 0, min(widths[place], self.width() - x), self.height())
            x += widths[place] + gap
        return boxes

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(text_font(_SIZE))
        theme, boxes = current(), self._boxes()
        gap = px(UNIT + 2)
        metrics = QFontMetricsF(painter.font())
        first = min(boxes, default=0)
        painter.setPen(color(theme.accent if self._hovered == first - 1 else theme.muted))
        if first > 0:
            draw_text(painter, QRectF(0, 0, px(40), self.height()), _LEFT_OUT)
        for place, box in boxes.items():
            here, lit = place == len(self._crumbs) - 1, place == self._hovered
            focused = self.hasFocus() and place == self._current
            painter.setPen(color(theme.muted))
            if place > 0:
                width = metrics.horizontalAdvance(_BETWEEN)
                draw_text(painter, QRectF(box.left() - gap - width, 0, width + 1, self.height()), _BETWEEN)
            painter.setPen(color(theme.accent if lit or focused else theme.text if here else theme.muted))
            draw_text(painter, box, self._crumbs[place].text)
            if lit or focused:
                y = box.center().y() + px(8)
                painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))

    def _at(self, point: QPointF) -> int | None:
        """Return the crumb at ``point``; the dots stand for the last one that is left out."""
        boxes = self._boxes()
        first = min(boxes, default=0)
        if first > 0 and point.x() < boxes[first].left() - px(UNIT):
            return first - 1
        return next((place for place, box in boxes.items() if box.contains(point)), None)

    # --- events ------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hovered(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)

    def _set_hovered(self, place: int | None) -> None:
        place = None if place == len(self._crumbs) - 1 else place
        if place != self._hovered:
            self._hovered = place
            self.setCursor(Qt.CursorShape.ArrowCursor if place is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or place is None:
            event.ignore()
            return
        self.chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._crumbs:
            self.chosen.emit(self._current)
        elif key in moves and self._crumbs and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._current = min(max(self._current + moves[key], min(self._boxes())), len(self._crumbs) - 1)
            self.update()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self._at(QPointF(event.pos()))
            if place is not None:
                QToolTip.showText(event.globalPos(), as_tip(self._crumbs[place].tip), self)
            return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.update()
