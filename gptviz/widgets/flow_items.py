"""The stages of a flow as graphics items."""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gptviz.widgets import colormaps
from gptviz.widgets.flow_layout import FlowLayout, Rows
from gptviz.widgets.flow_plan import FlowStage, Kind, Lane
from gptviz.widgets.flow_strips import Strip, Strips
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px, text_font

_ROUNDED_ROWS = 24  # rows that are drawn one by one, with round corners
_MAP_CELL = 1.5  # px


class StageItem(QGraphicsItem):
    """One stage: its tensor as colours, or an outline while its numbers are not at hand."""

    def __init__(self, stage: FlowStage, strips: Strips) -> None:
        super().__init__()
        self.stage = stage
        self.selected = False
        self.hovered = False
        self.row = -1
        self.box = QRectF()
        self._strips = strips
        self._layout: FlowLayout | None = None
        self._rows = Rows(0, 1, 0, 1)
        self._target = QRectF()
        self._outline = QPainterPath()
        self.setZValue(10)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    # --- place -------------------------------------------------------------------------------------------

    def place(self, layout: FlowLayout, stage: FlowStage) -> None:
        """Take the place that ``layout`` has for the stage."""
        self.prepareGeometryChange()
        self.stage, self._layout = stage, layout
        self.box = layout.boxes[stage.name]
        self._rows = layout.rows(stage)
        lane = stage.lane is not Lane.FULL
        above, below = layout.title_height, 0.0 if lane else layout.bottom - self.box.bottom()
        wider = min(px(6), self.box.width() / 4)
        self._target = self.box.adjusted(-wider, -above, wider, below)
        self._outline = self._shape_of_rows()

    def _shape_of_rows(self) -> QPainterPath:
        """Return the outline of the rows, with round corners where they stand apart."""
        path = QPainterPath()
        count, rows = self._rows.count, self._rows
        if self.stage.kind is Kind.MAP or rows.gap == 0 or count > _ROUNDED_ROWS:
            path.addRoundedRect(self.box, 2, 2)
            return path
        for row in range(count):
            upper, lower = rows.span(row)
            radius = min(3.0, (lower - upper) / 3, self.box.width() / 4)
            path.addRoundedRect(QRectF(self.box.left(), upper, self.box.width(), lower - upper), radius, radius)
        return path

    @property
    def target(self) -> QRectF:
        """Where a click means this stage."""
        return self._target

    @property
    def shows_tensor(self) -> bool:
        """Whether numbers are drawn; otherwise the place is empty."""
        return self._layout is not None and self.stage.name not in self._layout.plan.missing

    def row_at(self, point: QPointF) -> int | None:
        """Return the token row at ``point``; None outside the strips."""
        if self.stage.kind in (Kind.NEXT, Kind.LAST) or not self.box.adjusted(-4, 0, 4, 0).contains(point):
            return None
        return self._rows.at(point.y())

    def boundingRect(self) -> QRectF:
        return self._target.united(self.box.adjusted(-px(5), -px(5), px(5), px(5)))

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self._target)
        return path

    # --- drawing -----------------------------------------------------------------------------------------

    def strip(self) -> Strip | None:
        """Return the picture that is drawn, made if need be; None while the place is empty."""
        if not self.shows_tensor:
            return None
        cell = _MAP_CELL if self.stage.kind is Kind.MAP else 2.0
        return self._strips.strip(self.stage.name, self.box.width(), self.box.height(), cell)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw = {Kind.CHIPS: self._paint_chips, Kind.NEXT: self._paint_next, Kind.LAST: self._paint_last}
        draw.get(self.stage.kind, self._paint_strip)(painter)
        if self.stage.slice is not None:
            self._paint_slice(painter, *self.stage.slice)
        if self.selected or self.hovered:
            self._paint_frame(painter)

    def _paint_strip(self, painter: QPainter) -> None:
        strip = self.strip()
        if strip is None:
            self._paint_empty(painter, self._outline)
            return
        painter.save()
        painter.setClipPath(self._outline)
        painter.fillRect(self.box, color(current().panel))
        if self.stage.kind is Kind.MAP:
            painter.fillRect(self.box, colormaps.hatch(0.5))
        self._draw_image(painter, strip)
        painter.restore()

    def _draw_image(self, painter: QPainter, strip: Strip) -> None:
        image = strip.image
        if self._rows.gap == 0 or strip.row_step > 1:
            share = self._rows.count / (image.height() * strip.row_step)  # the last tile may be cut off
            painter.drawImage(self.box, image, QRectF(0, 0, image.width(), image.height() * share))
            return
        for row in range(self._rows.count):
            upper, lower = self._rows.span(row)
            place = QRectF(self.box.left(), upper, self.box.width(), lower - upper)
            painter.drawImage(place, image, QRectF(0, row, image.width(), 1))

    def _paint_last(self, painter: QPainter) -> None:
        """Draw the one row that is left, at the place of the last token."""
        upper, lower = self._rows.span(self._rows.count - 1)
        lowest = max(lower - upper, px(10))
        place = QRectF(self.box.left(), (upper + lower - lowest) / 2, self.box.width(), lowest)
        path = QPainterPath()
        path.addRoundedRect(place, 3, 3)
        strip = self.strip()
        if strip is None:
            self._paint_empty(painter, path)
            return
        painter.save()
        painter.setClipPath(path)
        painter.drawImage(place, strip.image)
        painter.restore()

    def _paint_chips(self, painter: QPainter) -> None:
        assert self._layout is not None
        ids = self._layout.plan.ids
        if ids is None:
            self._paint_empty(painter, self._outline)
            return
        theme = current()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(theme.families[self.stage.family], theme.panel, 0.16))
        painter.drawPath(self._outline)
        painter.setFont(mono_font(10))
        for row, middle in labels_of(self._rows, self.row, px(7.5)):
            if painter.fontMetrics().horizontalAdvance(ids[row]) <= self.box.width():
                painter.setPen(color(theme.text if row == self.row else theme.muted))
                text = QRectF(self.box.left() - 2, middle - px(8), self.box.width() + 4, px(16))
                draw_text(painter, text, ids[row], Qt.AlignmentFlag.AlignHCenter)

    def _paint_next(self, painter: QPainter) -> None:
        assert self._layout is not None
        theme, likely = current(), self._layout.plan.likely
        places = self._layout.entry_boxes(self.stage.name)
        family = theme.families[self.stage.family]
        if likely is None:
            path = QPainterPath()
            path.addRoundedRect(places[0], 6, 6)
            self._paint_empty(painter, path)
            return
        for place, (box, entry) in enumerate(zip(places, likely, strict=True)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(blend(family, theme.panel, 0.9 if place == 0 else 0.10))
            painter.drawRoundedRect(box, 6, 6)
            ink = theme.panel if place == 0 else theme.text
            inner = box.adjusted(2 * UNIT, 0, -2 * UNIT, 0)
            painter.setFont(mono_font(10))
            share = painter.fontMetrics().horizontalAdvance(entry.probability)
            if inner.width() > share + px(34):
                painter.setPen(color(theme.panel if place == 0 else theme.muted))
                draw_text(painter, inner, entry.probability, Qt.AlignmentFlag.AlignRight)
                inner.setRight(inner.right() - share - UNIT)
            painter.setFont(text_font(12, QFont.Weight.DemiBold if place == 0 else QFont.Weight.Normal))
            painter.setPen(color(ink))
            if box.height() >= px(13):
                draw_text(painter, inner, entry.text)

    def _paint_empty(self, painter: QPainter, path: QPainterPath) -> None:
        pen = QPen(color(current().muted, 0.55), 1, Qt.PenStyle.DashLine)
        pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_slice(self, painter: QPainter, start: float, end: float) -> None:
        """Mark the features that the chosen head takes."""
        theme, width = current(), self.box.width()
        if (end - start) * width < px(3):
            return
        bar = QRectF(self.box.left() + start * width, self.box.bottom() + 1.5, (end - start) * width, 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(theme.families[self.stage.family]))
        painter.drawRect(bar)

    def _paint_frame(self, painter: QPainter) -> None:
        box = self._frame_box().adjusted(-3.5, -3.5, 3.5, 3.5)
        theme = current()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color(theme.accent if self.selected else theme.muted), 2 if self.selected else 1))
        painter.drawRoundedRect(box, 5, 5)

    def _frame_box(self) -> QRectF:
        assert self._layout is not None
        if self.stage.kind is Kind.NEXT:
            return self._layout.entry_boxes(self.stage.name)[0]
        if self.stage.kind is Kind.LAST:
            upper, lower = self._rows.span(self._rows.count - 1)
            middle, height = (upper + lower) / 2, max(lower - upper, px(10))
            return QRectF(self.box.left(), middle - height / 2, self.box.width(), height)
        return self.box


def labels_of(rows: Rows, selected: int, half: float) -> list[tuple[int, float]]:
    """Return the rows that are labelled and the middle of each label, which is twice ``half`` px high.

    The selected row comes first; of the others as many as there is room for, none standing out of the rows.
    """
    top, bottom = rows.top + half, rows.top + rows.pitch * rows.count - half

    def middle_of(row: int) -> float:
        middle = rows.top + (row + 0.5) * rows.pitch
        return min(max(middle, top), bottom) if top < bottom else middle

    chosen = [(selected, middle_of(selected))] if 0 <= selected < rows.count else []
    found, row = list(chosen), 0
    while row < rows.count:
        middle = middle_of(row)
        if all(abs(middle - other) >= 2 * half - 0.5 for _, other in chosen):
            found.append((row, middle))
        row = max(row + 1, math.ceil((middle + 2 * half - rows.top) / rows.pitch - 0.5))
    return found


def family_color(family: str, alpha: float) -> QColor:
    """Return the colour of a family of operations."""
    return color(current().families[family], alpha)
