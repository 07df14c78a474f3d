"""Small attention maps: the heads of one layer, or of all layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px

Array = np.ndarray[Any, np.dtype[Any]]

_ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_SMALLEST = 8  # px, the side of a map
_GAP = 3  # px between maps when all layers are shown
_LARGEST_ONE_LAYER = 160
_LARGEST_ALL_LAYERS = 64


class HeadGrid(QAbstractScrollArea):
    """Maps of (layers, heads); rows are layers when all are shown. Click or arrow keys choose a head."""

    keeps_arrows = True

    chosen = Signal(int, int)  # layer, head

    def __init__(self) -> None:
        super().__init__()
        self._maps: Sequence[Array | None] = ()
        self._heads = 0
        self._selected = (0, 0)
        self._all_layers = False
        self._rescale = False
        self._pixmaps: dict[tuple[int, int], QPixmap] = {}
        self.setFrameShape(self.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Attention heads")

    def set_maps(self, maps: Sequence[Array | None], heads: int, rescale: bool = False) -> None:
        """Show for each layer its maps (H, t, t) of attention weights; None where they are not known."""
        self._maps, self._heads, self._rescale = maps, heads, rescale
        self._pixmaps.clear()
        self._measure()

    def set_selected(self, layer: int, head: int) -> None:
        """Mark one head."""
        if (layer, head) != self._selected:
            self._selected = (layer, head)
            self._measure()

    def set_all_layers(self, all_layers: bool) -> None:
        """Show all layers, or the selected one only."""
        self._all_layers = all_layers
        self._measure()

    def map_box(self, layer: int, head: int) -> QRectF:
        """Return where a head's map is drawn, in pixels of the viewport."""
        side, label = self._side(), self._label()
        offset = self.verticalScrollBar().value()
        if self._all_layers:
            x, y = label + head * (side + _GAP), label + layer * (side + _GAP)
        else:
            columns = self._columns()
            pitch = side + self._caption() + 2 * UNIT
            x, y = (head % columns) * (side + 2 * UNIT), (head // columns) * pitch + self._caption()
        return QRectF(x + 2, y + 2 - offset, side, side)

    def sizeHint(self) -> QSize:
        return QSize(px(260), px(300))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(180), px(120))

    # --- layout ------------------------------------------------------------------------------------------

    def _label(self) -> float:
        return float(px(22))

    def _caption(self) -> float:
        return float(px(16))

    def _columns(self) -> int:
        """Return how many maps of one layer stand side by side so that they get as large as possible."""
        width, height = self.viewport().width() - 4, self.viewport().height() - 4

        def fitting(columns: int) -> float:
            rows = -(-self._heads // columns)
            return min(width / columns - 2 * UNIT, height / rows - self._caption() - 2 * UNIT)

        return max(range(1, max(1, self._heads) + 1), key=fitting) if self._heads else 1

    def _side(self) -> float:
        if not self._heads:
            return float(px(_SMALLEST))
        width, height = self.viewport().width() - 4, self.viewport().height() - 4
        if self._all_layers:
            fit = (width - self._label()) / self._heads - _GAP
            return float(int(min(max(fit, px(_SMALLEST)), px(_LARGEST_ALL_LAYERS))))
        columns = self._columns()
        rows = -(-self._heads // columns)
        fit = min(width / columns - 2 * UNIT, height / rows - self._caption() - 2 * UNIT)
        return float(int(min(max(fit, px(_SMALLEST)), px(_LARGEST_ONE_LAYER))))

    def _measure(self) -> None:
        bar = self.verticalScrollBar()
        height = 0.0
        if self._heads and self._maps:
            last = self.map_box(len(self._maps) - 1, self._heads - 1)
            height = last.bottom() + bar.value() + 2
        bar.setRange(0, max(0, int(height - self.viewport().height())))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(px(40))
        self.viewport().update()

    # --- painting ----------------------------------------------------------------------------------------

    def _pixmap(self, layer: int, head: int) -> QPixmap | None:
        maps = self._maps[layer]
        if maps is None:
            return None
        key = (layer, head)
        if key not in self._pixmaps:
            values = maps[head]
            if self._rescale:
                values = values / np.maximum(values.max(axis=-1, keepdims=True), 1e-30)
            index = colormaps.indices(values, 0.0, 1.0)
            index[np.triu_indices(len(index), 1)] = colormaps.NO_NUMBER
            self._pixmaps[key] = QPixmap.fromImage(colormaps.indexed_image(index, colormaps.sequential()))
        return self._pixmaps[key]

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._maps:
            return
        painter = QPainter(self.viewport())
        painter.setFont(mono_font(10))
        layers = range(len(self._maps)) if self._all_layers else [self._selected[0]]
        for layer in layers:
            if layer >= len(self._maps):
                continue
            for head in range(self._heads):
                box = self.map_box(layer, head)
                if box.bottom() >= 0 and box.top() <= self.viewport().height():
                    self._paint_map(painter, layer, head, box)
        if self._all_layers:
            self._paint_labels(painter)

    def _paint_map(self, painter: QPainter, layer: int, head: int, box: QRectF) -> None:
        painter.fillRect(box, color(current().raised))
        pixmap = self._pixmap(layer, head)
        if pixmap is not None:
            painter.drawPixmap(box, pixmap, QRectF(pixmap.rect()))
        selected = (layer, head) == self._selected
        if selected:
            painter.setPen(QPen(color(current().accent), 2))
            painter.drawRect(box.adjusted(-1, -1, 1, 1))
        if not self._all_layers:
            painter.setPen(color(current().accent if selected else current().muted))
            caption = QRectF(box.left(), box.top() - self._caption(), box.width(), self._caption())
            draw_text(painter, caption, f"head {head + 1}" if box.width() > px(48) else str(head + 1))

    def _paint_labels(self, painter: QPainter) -> None:
        side, label = self._side(), self._label()
        step = max(1, int(-(-px(16) // (side + _GAP))))
        for layer in range(len(self._maps)):
            box = self.map_box(layer, 0)
            painter.setPen(color(current().accent if layer == self._selected[0] else current().muted))
            if box.top() >= label - UNIT and (layer % step == 0 or layer == self._selected[0]):
                text = QRectF(0, box.center().y() - px(8), label - UNIT, px(16))
                draw_text(painter, text, str(layer + 1), Qt.AlignmentFlag.AlignRight)
        painter.fillRect(QRectF(0, 0, self.viewport().width(), label), color(current().panel))
        for head in range(self._heads):
            box = self.map_box(0, head)
            painter.setPen(color(current().accent if head == self._selected[1] else current().muted))
            if head % step == 0 or head == self._selected[1]:
                text = QRectF(box.center().x() - px(12), 0, px(24), label)
                draw_text(painter, text, str(head + 1), Qt.AlignmentFlag.AlignHCenter)

    # --- events ------------------------------------------------------------------------------------------

    def _head_at(self, point: QPointF) -> tuple[int, int] | None:
        layers = range(len(self._maps)) if self._all_layers else [self._selected[0]]
        for layer in layers:
            for head in range(self._heads):
                if self.map_box(layer, head).contains(point):
                    return layer, head
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self._head_at(event.position())
        if found is not None:
            self.chosen.emit(*found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = _ARROWS.get(Qt.Key(event.key()))
        if move is None or not self._heads:
            super().keyPressEvent(event)
            return
        layer, head = self._selected
        if self._all_layers:
            layer = min(max(layer + move[0], 0), len(self._maps) - 1)
            head = min(max(head + move[1], 0), self._heads - 1)
        else:
            head = min(max(head + move[1] + move[0] * self._columns(), 0), self._heads - 1)
        self.chosen.emit(layer, head)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._head_at(QPointF(event.pos()))
            if found is not None:
                QToolTip.showText(event.globalPos(), f"block {found[0] + 1}, head {found[1] + 1}", self)
            return True
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._pixmaps.clear()
            self._measure()
