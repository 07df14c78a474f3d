"""A matrix as colours: rows down, columns across, origin top left, with zoom and single values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsRectItem, QSizePolicy

from gptviz.widgets import colormaps
from gptviz.widgets.explain_tag import ExplainTag
from gptviz.widgets.heatmap_overlay import DIGITS_HEIGHT, HeatmapOverlay
from gptviz.widgets.plotting import pg
from gptviz.widgets.pooling import strongest
from gptviz.widgets.theme import UNIT, Theme, current, look, mono_font, px

Array = np.ndarray[Any, np.dtype[Any]]

_MAX_ROW_LABEL = 104  # px
_MAX_COLUMN_LABEL = 72  # px
_ARROWS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


@dataclass(frozen=True)
class HeatmapData:
    """What a heatmap shows: ``values`` (rows, columns) between ``low`` and ``high``; NaN and ±∞ are hatched.

    ``signed`` chooses the diverging map, where zero is neutral; otherwise the sequential one is used.
    ``colours`` may hold other values for colouring than those that are read out, such as rescaled rows.
    """

    values: Array
    low: float
    high: float
    signed: bool
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    colours: Array | None = None

    @property
    def coloured(self) -> Array:
        """The values that the colours stand for."""
        return self.values if self.colours is None else self.colours


class Heatmap(pg.GraphicsView):  # type: ignore[misc]
    """Shows HeatmapData. Wheel zooms, drag pans; hover and click name a cell.

    A double click shows all; where all is in sight it opens the cell, as Enter does.
    """

    keeps_arrows = True
    _look: tuple[Theme, float] | None = None  # which it was drawn in
    cell_hovered = Signal(object)  # (row, column), or None
    cell_clicked = Signal(int, int)
    cell_opened = Signal(int, int)

    def __init__(self, square_cells: bool = True) -> None:
        super().__init__(background=None)
        self.data: HeatmapData | None = None
        self.selected: tuple[int, int] | None = None
        self.hovered: tuple[int, int] | None = None
        self._square = square_cells
        self._steps = (1, 1)  # rows, columns
        self._stale = False
        self._placing = False  # while the view is being set up, nothing is drawn
        self._longest_labels = (0.0, 0.0)  # px of rows, of columns
        self._known: dict[bytes, QImage] | None = None  # images that were drawn before, by what is in them
        self.setFrameShape(self.Shape.NoFrame)
        self.setViewportUpdateMode(self.ViewportUpdateMode.NoViewportUpdate)
        self.setStyleSheet("QGraphicsView { background: transparent }")  # not of what lies on it
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(square_cells)
        self.setSizePolicy(policy)
        self.view = _View(square_cells)
        self.view.setMouseEnabled(True, True)
        self.view.setDefaultPadding(0)
        self._ground = QGraphicsRectItem()
        self._image = pg.ImageItem(axisOrder="row-major")
        self.view.addItem(self._ground)
        self.view.addItem(self._image)
        self.scene().addItem(self.view)
        self._overlay = HeatmapOverlay(self)
        self.scene().addItem(self._overlay)
        self.scene().sigMouseMoved.connect(self._mouse_moved)
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.view.sigRangeChanged.connect(self._range_changed)
        self._tag: ExplainTag | None = None
        self._apply_theme()

    def offer_explanations(self) -> None:
        """Show a button at the chosen cell, while the pointer is there, that opens the cell."""
        self._tag = ExplainTag(self)
        self._tag.clicked.connect(self._open_selected)

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(320))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(120))

    def heightForWidth(self, width: int) -> int:
        """Return how high square cells make the map that fills ``width``."""
        if self.data is None:
            return width
        rows, columns = self.data.values.shape
        left, top = self._margins(width, px(_MAX_COLUMN_LABEL) + width)
        return int(top + (width - left - 1) * rows / columns) + 2

    # --- what is shown -----------------------------------------------------------------------------------

    def set_data(self, data: HeatmapData | None) -> None:
        """Show ``data``, or nothing; the zoom stays while the shape does."""
        same_shape = data is not None and self.data is not None and data.values.shape == self.data.values.shape
        self.data = data
        if data is None:
            self._image.clear()
            self._ground.setRect(QRectF())
        else:
            rows, columns = data.values.shape
            self._ground.setRect(QRectF(0, 0, columns, rows))
            self._measure_labels()
            self._placing = True
            if not same_shape:
                self.view.setLimits(
                    xMin=0, xMax=columns, yMin=0, yMax=rows, minXRange=1, minYRange=1, maxXRange=columns, maxYRange=rows
                )
                self.updateGeometry()
                self._place_view()
                self.show_all()
            self._placing = False
            self._draw_image()
        self._repaint()

    def set_square_cells(self, square: bool) -> None:
        """Choose whether cells are square; what is shown is dropped if that changes."""
        if square != self._square:
            self.set_data(None)
            self._square = self.view.square = square

    def set_selected(self, cell: tuple[int, int] | None) -> None:
        """Outline one cell."""
        if cell != self.selected:
            self.selected = cell
            self._repaint()
            self._place_tag()

    def catch_up(self) -> None:
        """Draw what was not drawn while updates were disabled."""
        if self._stale and self.data is not None:
            self._draw_image(now=True)

    def share_images(self, known: dict[bytes, QImage]) -> None:
        """Draw an equal image of ``known`` in place of a new one, so that a file of many pages holds it once."""
        self._known = known

    def show_all(self) -> None:
        """Undo zoom and pan."""
        if self.data is not None:
            rows, columns = self.data.values.shape
            self.view.setRange(xRange=(0, columns), yRange=(0, rows), padding=0)

    @property
    def zoomed(self) -> bool:
        """Whether some cells are out of sight."""
        if self.data is None:
            return False
        (x0, x1), (y0, y1) = self.view.viewRange()
        rows, columns = self.data.values.shape
        return bool(x1 - x0 < columns * 0.999 or y1 - y0 < rows * 0.999)

    def cell_box(self, row: int, column: int) -> QRectF:
        """Return where a cell is drawn, in pixels of this widget."""
        corner = self.view.mapViewToScene(QPointF(column, row))
        opposite = self.view.mapViewToScene(QPointF(column + 1, row + 1))
        return QRectF(corner, opposite).normalized()

    @property
    def pooled(self) -> int:
        """Cells along the longer side of the tile that one drawn cell stands for; 1 when each cell is drawn."""
        return max(self._steps)

    @property
    def pooled_cells(self) -> tuple[int, int]:
        """Rows and columns of the tile that one drawn cell stands for; they differ unless cells are square."""
        return self._steps

    # --- inside ------------------------------------------------------------------------------------------

    def _repaint(self) -> None:
        """Paint once; the scene would do it again for each of its items that changed."""
        self.viewport().update()

    def _draw_image(self, now: bool = False) -> None:
        data = self.data
        assert data is not None
        self._stale = not (now or self.updatesEnabled())
        if self._stale:
            return
        box = self.view.sceneBoundingRect()
        (x0, x1), (y0, y1) = self.view.viewRange()
        steps = _step(y1 - y0, box.height()), _step(x1 - x0, box.width())
        self._steps = (max(steps), max(steps)) if self._square else steps
        rows, columns = (
            range(max(0, int(low / step)) * step, min(count, -(-int(np.ceil(high)) // step) * step))
            for low, high, step, count in zip((y0, x0), (y1, x1), self._steps, data.values.shape, strict=True)
        )
        part = data.coloured[rows.start : rows.stop, columns.start : columns.stop]
        shown = part if self._steps == (1, 1) else strongest(part, self._steps)
        table = colormaps.diverging(current()) if data.signed else colormaps.sequential()
        self._image.setImage(colormaps.indices(shown, data.low, data.high), levels=(0, 255), lut=table)
        height, width = shown.shape[0] * self._steps[0], shown.shape[1] * self._steps[1]
        if self._known is not None:
            self._image.render()
            self._image.qimage = colormaps.shared_image(self._image.qimage, self._known)
        self._image.setRect(QRectF(columns.start, rows.start, width, height))
        self.scene().prepareForPaint()  # else the first paint moves the view, and a second one follows
        self._repaint()

    def _place_view(self) -> None:
        """Leave room for the labels, and make the cells square if they should be."""
        left, top = self._margins(self.width(), self.height())
        width, height = max(1.0, self.width() - left - 1), max(1.0, self.height() - top - 1)
        if self._square and self.data is not None:
            rows, columns = self.data.values.shape
            cell = min(width / columns, height / rows)
            width, height = cell * columns, cell * rows
        self.view.setGeometry(QRectF(left, top, width, height))
        self._overlay.set_box(QRectF(0, 0, self.width(), self.height()))

    def _measure_labels(self) -> None:
        assert self.data is not None
        metrics = QFontMetricsF(mono_font(11))
        rows, columns = (
            max(map(metrics.horizontalAdvance, set(labels)), default=0.0)
            for labels in (self.data.row_labels, self.data.column_labels)
        )
        self._longest_labels = rows, columns

    def _margins(self, width: float, height: float) -> tuple[float, float]:
        """Return the room that row and column labels take at the left and the top."""
        if self.data is None:
            return 0.0, 0.0
        rows, columns = self.data.values.shape
        longest_row, longest_column = self._longest_labels
        left = min(longest_row, px(_MAX_ROW_LABEL)) + 2 * UNIT if self.data.row_labels else 0.0
        if not self.data.column_labels:
            return left, 0.0
        cell = (width - left) / columns
        if self._square:
            cell = min(cell, (height - px(_MAX_COLUMN_LABEL)) / rows)
        lies_flat = longest_column + 2 * UNIT <= cell
        top = QFontMetricsF(mono_font(11)).height() if lies_flat else min(longest_column, px(_MAX_COLUMN_LABEL))
        return left, top + 2 * UNIT

    def _cell_at(self, position: QPointF) -> tuple[int, int] | None:
        if self.data is None or not self.view.sceneBoundingRect().contains(position):
            return None
        point = self.view.mapSceneToView(position)
        row, column = int(np.floor(point.y())), int(np.floor(point.x()))
        rows, columns = self.data.values.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def _set_hovered(self, cell: tuple[int, int] | None) -> None:
        if cell != self.hovered:
            self.hovered = cell
            self._repaint()
            self._place_tag()
            self.cell_hovered.emit(cell)

    def _place_tag(self) -> None:
        if self._tag is None:
            return
        if self.selected is not None and self.selected == self.hovered:
            self._tag.show_at(self.cell_box(*self.selected) & self.view.sceneBoundingRect())
        else:
            self._tag.hide()

    @Slot()
    def _open_selected(self) -> None:
        if self.selected is not None:
            self.cell_opened.emit(*self.selected)

    def _mouse_moved(self, position: object) -> None:
        assert isinstance(position, QPointF)
        self._set_hovered(self._cell_at(position))

    def _mouse_clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        cell = self._cell_at(event.scenePos())
        if event.double() and self.zoomed:
            self.show_all()
        elif cell is not None:
            (self.cell_opened if event.double() else self.cell_clicked).emit(*cell)

    def _range_changed(self, *_: object) -> None:
        if self.data is not None and not self._placing:
            self._draw_image()
        self._repaint()

    def _apply_theme(self) -> None:
        self._look = look()
        self._ground.setPen(pg.mkPen(None))
        self._ground.setBrush(colormaps.hatch())

    # --- events ------------------------------------------------------------------------------------------

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_overlay"):
            self._place_view()
            if self.data is not None:
                self._draw_image()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._look not in (None, look()):
            self._apply_theme()
            if self.data is not None:
                self._measure_labels()
            self._place_view()
            if self.data is not None:
                self._draw_image()
            self._repaint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.selected is not None:
            self.cell_opened.emit(*self.selected)
            return
        move = _ARROWS.get(Qt.Key(event.key()))
        if move is None or self.data is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        rows, columns = self.data.values.shape
        row, column = self.selected if self.selected is not None else (0, 0)
        row, column = min(max(row + move[0], 0), rows - 1), min(max(column + move[1], 0), columns - 1)
        self.cell_clicked.emit(row, column)
        event.accept()


class _View(pg.ViewBox):  # type: ignore[misc]
    """Zooms rows and columns together, except where rows are high enough to read and columns are not."""

    def __init__(self, square_cells: bool) -> None:
        super().__init__(enableMenu=False, invertY=True, defaultPadding=0)
        self.square = square_cells

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        (_, _), (y0, y1) = self.viewRange()
        readable = self.sceneBoundingRect().height() / max(1e-9, y1 - y0) >= px(DIGITS_HEIGHT)
        super().wheelEvent(event, 0 if readable and not self.square and axis is None else axis)


def _step(cells: float, pixels: float) -> int:
    """Return how many of ``cells`` one drawn cell stands for, so that none is narrower than a pixel."""
    return max(1, int(np.ceil(cells / max(1.0, pixels) - 0.5)))
