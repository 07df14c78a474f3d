"""One number for each head of each layer, as a small map: rows are layers, columns are heads."""

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gptviz.widgets import colormaps
from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import color, current, mono_font, px

Array = np.ndarray[Any, np.dtype[Any]]

_ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_LABEL, _GAP = 22, 2  # px
_LARGEST = 44  # px, the side of a cell


class ScoreMap(QWidget):
    """Colours (layers, heads) values; cells without a number are hatched. Click or arrow keys choose a head."""

    chosen = Signal(int, int)  # layer, head
    opened = Signal()  # a double click or Enter on the chosen head
    keeps_arrows = True

    def __init__(self) -> None:
        super().__init__()
        self._values: Array = np.zeros((0, 0))
        self._range = (0.0, 1.0)
        self._unit = ""
        self._selected = (0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Score of each head")

    def set_values(self, values: Array, low: float, high: float, unit: str = "") -> None:
        """Show ``values`` (layers, heads), coloured between ``low`` and ``high``."""
        self._values, self._range, self._unit = values, (low, high), unit
        self._describe()
        self.update()

    def set_selected(self, layer: int, head: int) -> None:
        """Mark one head."""
        self._selected = (layer, head)
        self._describe()
        self.update()

    def cell_box(self, layer: int, head: int) -> QRectF:
        """Return where a head's cell is drawn, in pixels of the widget."""
        side, label = self._side(), px(_LABEL)
        return QRectF(label + head * (side + _GAP), label + layer * (side + _GAP), side, side)

    def written(self, layer: int, head: int) -> str:
        """Return a head's name and number in words."""
        value = float(self._values[layer, head])
        number_ = "no score" if np.isnan(value) else f"{number(value, 3)} {self._unit}".strip()
        return f"block {layer + 1}, head {head + 1}: {number_}"

    def sizeHint(self) -> QSize:
        return QSize(px(220), px(112))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(100))

    # --- inside ------------------------------------------------------------------------------------------

    def _side(self) -> float:
        layers, heads = self._values.shape
        if not self._values.size:
            return 1.0
        width, height = self.width() - px(_LABEL) - 2, self.height() - px(_LABEL) - 2
        return float(int(max(3, min(width / heads - _GAP, height / layers - _GAP, px(_LARGEST)))))

    def _describe(self) -> None:
        layer, head = self._selected
        inside = layer < self._values.shape[0] and head < self._values.shape[1]
        self.setAccessibleDescription(self.written(layer, head) if inside else "")

    def _head_at(self, point: QPointF) -> tuple[int, int] | None:
        for layer, head in np.ndindex(*self._values.shape):
            if self.cell_box(layer, head).contains(point):
                return layer, head
        return None

    def _choose(self, layer: int, head: int) -> None:
        self.set_selected(layer, head)  # at once: the next key goes on from here
        self.chosen.emit(layer, head)

    # --- events ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        index = colormaps.indices(self._values, *self._range)
        table = colormaps.sequential()
        for layer, head in np.ndindex(*self._values.shape):
            box = self.cell_box(layer, head)
            if index[layer, head] == colormaps.NO_NUMBER:
                painter.fillRect(box, color(current().raised))
                painter.fillRect(box, colormaps.hatch())
            else:
                red, green, blue, _ = (int(part) for part in table[index[layer, head]])
                painter.fillRect(box, color(f"#{red:02x}{green:02x}{blue:02x}"))
        self._paint_labels(painter)
        layer, head = self._selected
        if layer < self._values.shape[0] and head < self._values.shape[1]:
            painter.setPen(QPen(color(current().panel), 1))
            painter.drawRect(self.cell_box(layer, head).adjusted(1, 1, -1, -1))
            painter.setPen(QPen(color(current().accent), 2))
            painter.drawRect(self.cell_box(layer, head).adjusted(-1, -1, 1, 1))

    def _paint_labels(self, painter: QPainter) -> None:
        painter.setFont(mono_font(10))
        layers, heads = self._values.shape
        step = max(1, int(-(-px(16) // (self._side() + _GAP))))
        label = px(_LABEL)
        for layer in range(layers):
            box = self.cell_box(layer, 0)
            painter.setPen(color(current().accent if layer == self._selected[0] else current().muted))
            if layer % step == 0:
                text = QRectF(0, box.center().y() - px(8), label - px(6), px(16))
                draw_text(painter, text, str(layer + 1), Qt.AlignmentFlag.AlignRight)
        for head in range(heads):
            box = self.cell_box(0, head)
            painter.setPen(color(current().accent if head == self._selected[1] else current().muted))
            if head % step == 0:
                text = QRectF(box.center().x() - px(12), 0, px(24), label - px(2))
                draw_text(painter, text, str(head + 1), Qt.AlignmentFlag.AlignHCenter)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self._head_at(event.position())
        if found is not None:
            self._choose(*found)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._head_at(event.position()) is not None:
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        move = _ARROWS.get(key)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._values.size:
            self.opened.emit()
        elif move is not None and self._values.size:
            layer, head = (min(max(self._selected[i] + move[i], 0), self._values.shape[i] - 1) for i in (0, 1))
            self._choose(layer, head)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._head_at(QPointF(event.pos()))
            if found is not None:
                QToolTip.showText(event.globalPos(), self.written(*found), self)
                return True
        return super().event(event)
