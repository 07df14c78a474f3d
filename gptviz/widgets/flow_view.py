"""The flow: a whole model as a river of token rows, from left to right."""

from html import escape

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QGraphicsScene, QGraphicsView, QToolTip

from gptviz.widgets import flow_overlay as overlay
from gptviz.widgets.flow_bands import BandItem, ShortcutItem, links
from gptviz.widgets.flow_items import StageItem
from gptviz.widgets.flow_labels import BlockGround, LabelsItem
from gptviz.widgets.flow_layout import FlowLayout, fitting_zoom
from gptviz.widgets.flow_plan import FlowPlan
from gptviz.widgets.flow_strips import Strips
from gptviz.widgets.theme import UNIT, color, current, px, text_font

_LABEL_WIDTH = 88  # px, of the longest token's label
_COMFORTABLE = (0.66, 0.84, 1.15)  # a zoom too small to begin with, what is used instead, and the largest
_LARGEST = 8.0
_WHEEL = 1.0015  # zoom for each eighth of a degree
_EDGE = 0.12  # the share of the width that a stage keeps from the edges when it is brought into view
_KEYS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class FlowView(QGraphicsView):
    """Shows a FlowPlan. Wheel zooms, drag pans; F or a double click on the ground shows all.

    Text keeps its size whatever the zoom; the layout follows, so nothing is scaled but the tensors.
    """

    stage_clicked = Signal(str)
    row_clicked = Signal(int)
    stage_opened = Signal(str)
    block_opened = Signal(int)
    stage_walked = Signal(int)  # -1 to the stage before, +1 to the next
    row_walked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.plan = FlowPlan()
        self.strips = Strips()
        self.items_: dict[str, StageItem] = {}
        self.bands: list[BandItem] = []
        self.shortcuts: list[ShortcutItem] = []
        self.selected: str | None = None
        self.row = -1
        self._layout = FlowLayout(self.plan, 1.0, 300, 0)
        self._zoom: float | None = None  # None: shows all
        self._fitting: tuple[object, float] = (None, 1.0)
        self._chosen = False  # whether the person has chosen the zoom
        self._pressed: QPoint | None = None
        self._panned = False
        self._hovered: StageItem | None = None
        self._scene = QGraphicsScene(self)
        self._scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setScene(self._scene)
        self.labels, self._ground = LabelsItem(), BlockGround()
        self._scene.addItem(self.labels)
        self._scene.addItem(self._ground)
        self.setFrameShape(self.Shape.NoFrame)
        self.setStyleSheet("background: transparent")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.setAccessibleName("Flow of the forward pass")

    # --- what is shown -----------------------------------------------------------------------------------

    def set_plan(self, plan: FlowPlan) -> None:
        """Show ``plan``; items are made anew only where other stages have places."""
        same = plan.stages == self.plan.stages
        self.plan = plan
        if not same:
            self._make_items()
        self._lay_out()
        self._describe()

    def set_selected(self, name: str | None, row: int) -> None:
        """Mark a stage and a token row."""
        if (name, row) == (self.selected, self.row):
            return
        if name != self.selected:
            for key in (self.selected, name):
                if key is not None and key in self.items_:
                    self.items_[key].selected = key == name
            self.selected = self.labels.selected = name
            self.labels.refresh()
        if row != self.row:
            self.row = row
            for item in self.items_.values():
                item.row = row
            for band in self.bands:
                band.row = row
            for shortcut in self.shortcuts:
                shortcut.row = row
        self._describe()
        self.viewport().update()

    def box(self, name: str) -> QRectF | None:
        """Return a stage's place, in pixels of the viewport; None if it has none."""
        if name not in self.items_:
            return None
        return QRectF(self.items_[name].box).translated(-self._offset())

    @property
    def zoom(self) -> float:
        return self._layout.zoom

    @property
    def layout_(self) -> FlowLayout:
        """Where everything is at present."""
        return self._layout

    # --- zoom and place ----------------------------------------------------------------------------------

    def fit(self) -> None:
        """Show the whole model."""
        self._zoom, self._chosen = None, True
        self._lay_out()
        self.horizontalScrollBar().setValue(0)

    def set_zoom(self, zoom: float, anchor: QPointF | None = None) -> None:
        """Draw ``zoom`` times as large as the design; what is at ``anchor``, in the viewport, stays there."""
        self._chosen = True
        anchor = anchor if anchor is not None else QPointF(self.viewport().rect().center())
        fitting = self._fitting_zoom()
        under = self._under(anchor)
        self._zoom = min(max(zoom, fitting), _LARGEST) if zoom > fitting * 1.001 else None
        self._lay_out()
        if under is not None:
            self._bring(under, anchor)

    def reveal(self, name: str) -> None:
        """Scroll as little as needed so that a stage can be seen."""
        if name not in self.items_:
            return
        box, bar = self.items_[name].box, self.horizontalScrollBar()
        edge = self.viewport().width() * _EDGE
        left, right = box.left() - self._layout.gutter - edge, box.right() + edge - self.viewport().width()
        if bar.value() > left or right > left:
            bar.setValue(round(left))
        elif bar.value() < right:
            bar.setValue(round(right))

    def reveal_block(self) -> None:
        """Scroll so that the open block begins at the left."""
        if self.plan.open_block is not None:
            left = self.items_[self.plan.open_block[0]].box.left()
            self.horizontalScrollBar().setValue(round(left - self._layout.gutter - px(90)))

    def _usual_zoom(self, fitting: float) -> float:
        """Return the zoom to begin with: all, unless that is too small to read or larger than needed."""
        small, usual, large = _COMFORTABLE
        return usual if fitting < small else min(fitting, large)

    def _fitting_zoom(self) -> float:
        """Return the zoom at which the whole just fits the width."""
        size, gutter = self.viewport().size(), self._gutter()
        plan, (width, height) = self.plan, size.toTuple()
        key = (plan.open_block, len(plan.stages), plan.rows, width, height, gutter, px(100))
        if key != self._fitting[0]:
            self._fitting = key, fitting_zoom(self.plan, size, gutter, self._fitting[1])
        return self._fitting[1]

    def _gutter(self) -> float:
        metrics = QFontMetricsF(text_font(12))
        longest = max(map(metrics.horizontalAdvance, set(self.plan.tokens)), default=0.0)
        return min(longest, px(_LABEL_WIDTH)) + px(6 * UNIT)

    def _lay_out(self) -> None:
        for part in (self.labels, self._ground):
            part.setVisible(bool(self.plan.stages))  # they are there all the time, and would show another plan's words
        if not self.plan.stages:
            self._scene.setSceneRect(QRectF())
            self.viewport().update()
            return
        zoom = self._zoom if self._zoom is not None else self._fitting_zoom()
        if not self._chosen:
            zoom = self._usual_zoom(zoom)
        self._layout = FlowLayout(self.plan, zoom, self.viewport().height(), self._gutter())
        for stage in self.plan.stages:
            self.items_[stage.name].place(self._layout, stage)
        for band in self.bands:
            band.place(self._layout)
        for shortcut in self.shortcuts:
            shortcut.place(self._layout)
        self.labels.place(self._layout)
        self._ground.place(self._layout)
        self._scene.setSceneRect(QRectF(0, 0, max(self._layout.width, self.viewport().width()), self._layout.height))
        self.viewport().update()

    def _lay_out_again(self) -> None:
        """Lay out in other sizes; a selected stage that was in sight stays so."""
        box = self.box(self.selected) if self.selected is not None else None
        was_in_sight = box is not None and self.viewport().rect().intersects(box.toRect())
        self._lay_out()
        if was_in_sight and self.selected is not None:
            self.reveal(self.selected)

    def _make_items(self) -> None:
        for old in (*self.items_.values(), *self.bands, *self.shortcuts):
            self._scene.removeItem(old)
        by_name = self.plan.by_name
        self._hovered = None
        self.items_ = {stage.name: StageItem(stage, self.strips) for stage in self.plan.stages}
        self.bands = [BandItem(*ends) for ends in links(self.plan.stages, by_name)]
        self.shortcuts = [
            ShortcutItem(by_name[stage.shortcut], stage) for stage in self.plan.stages if stage.shortcut is not None
        ]
        parts: list[StageItem | BandItem | ShortcutItem] = [*self.bands, *self.shortcuts, *self.items_.values()]
        for part in parts:
            part.row = self.row
            self._scene.addItem(part)
        if self.selected in self.items_:
            self.items_[self.selected].selected = True

    # --- points ------------------------------------------------------------------------------------------

    def _offset(self) -> QPointF:
        return self.mapToScene(QPoint(0, 0))

    def stage_at(self, point: QPointF) -> StageItem | None:
        """Return the stage at a point of the viewport."""
        place = point + self._offset()
        found = [item for item in self.items_.values() if item.target.contains(place)]
        return min(found, key=lambda item: abs(item.box.center().y() - place.y()), default=None) if found else None

    def _under(self, anchor: QPointF) -> tuple[str, QPointF] | None:
        """Return the nearest stage and where ``anchor`` is in it, as shares of its box."""
        place = anchor + self._offset()
        names = self.items_
        if not names:
            return None
        name = min(names, key=lambda key: _distance(names[key].box, place.x()))
        box = names[name].box
        return name, QPointF((place.x() - box.left()) / box.width(), (place.y() - box.top()) / box.height())

    def _bring(self, under: tuple[str, QPointF], anchor: QPointF) -> None:
        name, share = under
        box = self.items_[name].box
        place = QPointF(box.left() + share.x() * box.width(), box.top() + share.y() * box.height())
        self.horizontalScrollBar().setValue(round(place.x() - anchor.x()))
        self.verticalScrollBar().setValue(round(place.y() - anchor.y()))

    def _describe(self) -> None:
        stage = self.plan.by_name.get(self.selected or "")
        token = self.plan.tokens[self.row] if 0 <= self.row < self.plan.rows else ""
        what = "No stage is selected" if stage is None else f"Selected: {stage.name}, {stage.operation}, {stage.shape}"
        self.setAccessibleDescription(f"{what}; token {self.row} {token}")

    # --- drawing over the scene --------------------------------------------------------------------------

    def drawForeground(self, painter: QPainter, rect: QRectF | QPoint) -> None:  # type: ignore[override]
        if not self.plan.stages:
            return
        painter.save()
        painter.resetTransform()
        overlay.draw(painter, self._layout, self._offset(), self.viewport().size(), self.row)
        if self.hasFocus():
            painter.setPen(color(current().accent, 0.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
        painter.restore()

    # --- events ------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._panned = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            moved = place - self._pressed
            if self._panned or moved.manhattanLength() >= QApplication.startDragDistance():
                self._panned, self._pressed = True, place
                self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
                self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - moved.x())
                self.verticalScrollBar().setValue(self.verticalScrollBar().value() - moved.y())
            return
        self._hover(self.stage_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        pressed, self._pressed = self._pressed, None
        if self._panned:
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
            return
        item = self.stage_at(QPointF(pressed))
        if item is not None:
            row = item.row_at(QPointF(pressed) + self._offset())
            if item.stage.block is None:
                self.stage_clicked.emit(item.stage.name)
            if row is not None:
                self.row_clicked.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        item = self.stage_at(event.position())
        self._pressed = None
        if item is None:
            self.fit()
        elif item.stage.block is not None:
            self.block_opened.emit(item.stage.block)
        else:
            self.stage_opened.emit(item.stage.name)

    def _hover(self, item: StageItem | None) -> None:
        if item is self._hovered:
            return
        for one in (self._hovered, item):
            if one is not None:
                one.hovered = one is item
        self._hovered = item
        shape = Qt.CursorShape.ArrowCursor if item is None else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta, bar = event.angleDelta(), self.horizontalScrollBar()
        if abs(delta.x()) > abs(delta.y()) or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar.setValue(bar.value() - (delta.x() or delta.y()))
        elif delta.y():
            self.set_zoom(self.zoom * _WHEEL ** delta.y(), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and key in _KEYS:
            across, down = _KEYS[key]
            if across:
                self.stage_walked.emit(across)
            else:
                self.row_walked.emit(down)
        elif plain and key == Qt.Key.Key_F:
            self.fit()
        elif plain and key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self.set_zoom(self.zoom * (1.25 if key == Qt.Key.Key_Plus else 0.8))
        elif plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.selected is not None:
            self.stage_opened.emit(self.selected)
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out_again()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            item = self.stage_at(QPointF(event.pos()))
            if item is not None:
                tip = escape(overlay.tip(item, item.row_at(QPointF(event.pos()) + self._offset()), self.plan))
                QToolTip.showText(event.globalPos(), f"<p style='white-space:pre'>{tip}</p>", self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "labels"):
            self._lay_out_again()


def _distance(box: QRectF, x: float) -> float:
    return max(box.left() - x, x - box.right(), 0.0)
