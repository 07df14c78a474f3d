"""The river between a flow's stages: bands of token rows, and the shortcuts around the branches."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QLinearGradient, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gptviz.widgets.flow_items import family_color
from gptviz.widgets.flow_layout import FlowLayout, Rows
from gptviz.widgets.flow_plan import FlowStage, Kind
from gptviz.widgets.theme import current, px

_LARGEST_PICTURE = 2_000_000  # px
_SINGLE_ROWS = 32  # more rows flow as one band
_CALM, _STRONG, _WIDE = 0.18, 0.5, 0.6  # opacity of a band, of the selected row's, and the share where all are one
_THIN_STRONG = 0.9  # where the selected row is a line
_Span = tuple[float, float]


class _River(QGraphicsItem):
    """Water between two stages: all rows, painted once for each place and theme, and the selected row over them."""

    def __init__(self, source: FlowStage, target: FlowStage) -> None:
        super().__init__()
        self.source, self.target = source, target
        self.row = -1
        self._layout: FlowLayout | None = None
        self._single = True  # rows flow one by one
        self._dry = False  # the numbers of one end are not at hand: nothing flows
        self._place: object = None  # what the path follows from
        self._bounds = QRectF()
        self._path: QPainterPath | None = None  # made when it is needed: most are out of sight
        self._picture: tuple[str, float, QPixmap] | None = None
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def place(self, layout: FlowLayout) -> None:
        """Flow between the places that ``layout`` has."""
        ends = self.source.name, self.target.name
        start, end = (QRectF(layout.boxes[name]) for name in ends)
        count, dry = layout.plan.rows, not layout.plan.missing.isdisjoint(ends)
        single = count <= _SINGLE_ROWS or self.target.kind is Kind.LAST
        likely = layout.plan.likely if self.target.kind is Kind.NEXT else None
        rows = count if single or likely else None  # as one, they flow the same way however many they are
        place = start, end, layout.arm_box, layout.zoom, rows, dry, likely
        self._layout = layout
        if place != self._place:
            self.prepareGeometryChange()
            self._place, self._single, self._dry, self._path, self._picture = place, single, dry, None, None
            self._bounds = QRectF(self._bounds_of(layout, start, end).adjusted(-1, -2, 1, 2).toAlignedRect())

    @property
    def path(self) -> QPainterPath:
        """The area of all rows."""
        if self._path is None:
            self._path = self._path_of_rows()
            self._path.setFillRule(Qt.FillRule.WindingFill)
        return self._path

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def prepare(self, ratio: float) -> None:
        """Make the picture of all rows, for a screen with ``ratio`` pixels a px, unless it is there."""
        box, theme = self._bounds, current().name
        if box.width() * box.height() * ratio > _LARGEST_PICTURE:
            return
        if self._picture is None or self._picture[:2] != (theme, ratio):
            pixmap = QPixmap((box.size() * ratio).toSize())
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            inner = QPainter(pixmap)
            inner.setRenderHint(QPainter.RenderHint.Antialiasing)
            inner.translate(-box.topLeft())
            self._fill_rows(inner)
            inner.end()
            self._picture = theme, ratio, pixmap

    def _bounds_of(self, layout: FlowLayout, start: QRectF, end: QRectF) -> QRectF:
        """Return an area that holds the path between the stages at ``start`` and ``end``."""
        raise NotImplementedError

    def _path_of_rows(self) -> QPainterPath:
        raise NotImplementedError

    def _rows_brush(self) -> QBrush:
        raise NotImplementedError

    def _paint_rows(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.prepare(painter.device().devicePixelRatio())
        if self._picture is None:
            self._fill_rows(painter)
        else:
            painter.drawPixmap(self._bounds.topLeft(), self._picture[2])

    def _fill_rows(self, painter: QPainter) -> None:
        if not self._dry:
            painter.fillPath(self.path, self._rows_brush())


class BandItem(_River):
    """Bands from one stage to the next, one a token row; the selected row's stands out."""

    @property
    def _turns_up(self) -> bool:
        """Whether the rows become columns: each key is one of the scores."""
        return self.target.title == "scores" and self.source.title == "keys"

    def _bounds_of(self, layout: FlowLayout, start: QRectF, end: QRectF) -> QRectF:
        if self.target.kind is Kind.NEXT:
            return self.path.boundingRect()
        if self._turns_up:
            corners = QPointF(start.right(), end.bottom()), QPointF(max(start.right(), end.right()), start.bottom())
        else:
            upper, lower = min(start.top(), end.top()), max(start.bottom(), end.bottom())
            corners = QPointF(start.right(), upper), QPointF(end.left(), lower)
        return QRectF(*corners).normalized()

    def _path_of_rows(self) -> QPainterPath:
        layout = self._layout
        assert layout is not None
        if self.target.kind is Kind.NEXT:
            return _delta(layout, self.source, self.target)
        path_of, count = self._row_paths(), layout.plan.rows
        if self._single:
            path = QPainterPath()
            for row in range(count - 1, count) if self.target.kind is Kind.LAST else range(count):
                path.addPath(path_of(row))
            return path
        if self._turns_up:
            return _hull(path_of(0), path_of(count - 1))
        spans = (_whole(layout, stage) for stage in (self.source, self.target))
        return band(*self._ends, *spans)

    @property
    def _ends(self) -> _Span:
        assert self._layout is not None
        start, end = self._layout.boxes[self.source.name], self._layout.boxes[self.target.name]
        return start.right(), end.right() if self._turns_up else end.left()

    def _row_paths(self) -> Callable[[int], QPainterPath]:
        """Return what gives the path of a row."""
        layout = self._layout
        assert layout is not None
        if self._turns_up:
            return _keys_path(layout, self.source, self.target)
        here, there, ends = layout.rows(self.source), layout.rows(self.target), self._ends
        return lambda row: band(*ends, _half(here, row), _half(there, row))

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        self._paint_rows(painter)
        if self.row >= 0 and self.target.kind not in (Kind.LAST, Kind.NEXT) and not self._dry:
            painter.fillPath(self._row_paths()(self.row), self._gradient(_STRONG if self._single else _THIN_STRONG))

    def _rows_brush(self) -> QBrush:
        calm = _CALM if current().name == "light" else _CALM * 1.25
        return self._gradient(calm if self._single else calm * _WIDE)

    def _gradient(self, alpha: float) -> QBrush:
        left, right = self._ends
        gradient = QLinearGradient(QPointF(left, 0), QPointF(right, 0))
        gradient.setColorAt(0, family_color(self.source.family, alpha))
        gradient.setColorAt(1, family_color(self.target.family, alpha))
        return QBrush(gradient)


class ShortcutItem(_River):
    """The branch's input on its way around the branch, to the addition."""

    def __init__(self, source: FlowStage, target: FlowStage) -> None:
        super().__init__(source, target)
        self.setZValue(2)

    def _bounds_of(self, layout: FlowLayout, start: QRectF, end: QRectF) -> QRectF:
        lowest = max(start.bottom(), end.bottom()) + px(9)  # a row is thinner, but in the middle of its strip
        return QRectF(QPointF(start.right(), layout.arm_box[0] - 1), QPointF(end.left(), lowest)).normalized()

    def _path_of_rows(self) -> QPainterPath:
        layout = self._layout
        assert layout is not None
        if not self._single:
            return self._arm(_whole(layout, self.source), _whole(layout, self.target), layout.arm_box)
        path = QPainterPath()
        for row in range(layout.plan.rows):
            path.addPath(self._row_path(row))
        return path

    def _row_path(self, row: int) -> QPainterPath:
        layout = self._layout
        assert layout is not None
        upper, lower = layout.arm_box
        pitch = (lower - upper) / max(1, layout.plan.rows)
        thin = min(1.0, pitch * 0.25)
        lane = upper + row * pitch + thin / 2, upper + (row + 1) * pitch - thin / 2
        if lane[1] - lane[0] < 1:
            lane = lane[0] - 0.5, lane[0] + 0.5
        ends = [_thin(layout.rows(stage).span(row), px(9)) for stage in (self.source, self.target)]
        return self._arm(ends[0], ends[1], lane)

    def _arm(self, here: _Span, there: _Span, lane: _Span) -> QPainterPath:
        """Return the band from the source's edge up to ``lane``, along it, and down to the target's edge."""
        assert self._layout is not None
        boxes = self._layout.boxes
        x0, x3 = boxes[self.source.name].right(), boxes[self.target.name].left()
        bend = min(px(38) * max(0.3, self._layout.zoom), (x3 - x0) / 2)
        x1, x2 = x0 + bend, x3 - bend
        path = QPainterPath(QPointF(x0, here[0]))
        _curve(path, x0, here[0], x1, lane[0])
        path.lineTo(x2, lane[0])
        _curve(path, x2, lane[0], x3, there[0])
        path.lineTo(x3, there[1])
        _curve(path, x3, there[1], x2, lane[1])
        path.lineTo(x1, lane[1])
        _curve(path, x1, lane[1], x0, here[1])
        path.closeSubpath()
        return path

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        self._paint_rows(painter)
        if self.row >= 0 and not self._dry:
            painter.fillPath(self._row_path(self.row), family_color(self.target.family, 0.9))

    def _rows_brush(self) -> QBrush:
        return QBrush(family_color(self.target.family, 0.38 if self._single else 0.24))


def band(x0: float, x1: float, here: _Span, there: _Span) -> QPainterPath:
    """Return a soft band from the span ``here`` at ``x0`` to the span ``there`` at ``x1``."""
    path = QPainterPath(QPointF(x0, here[0]))
    _curve(path, x0, here[0], x1, there[0])
    path.lineTo(x1, there[1])
    _curve(path, x1, there[1], x0, here[1])
    path.closeSubpath()
    return path


def _curve(path: QPainterPath, x0: float, y0: float, x1: float, y1: float) -> None:
    middle = (x0 + x1) / 2
    path.cubicTo(middle, y0, middle, y1, x1, y1)


def _thin(span: _Span, highest: float) -> _Span:
    """Return the middle of ``span``, no higher than ``highest``."""
    middle, half = (span[0] + span[1]) / 2, min((span[1] - span[0]) / 2, highest / 2)
    return middle - half, middle + half


def _half(rows: Rows, row: int) -> _Span:
    """Return a row's share of the river: its middle, thinner than its strip where there is room."""
    upper, lower = rows.span(row)
    inset = (lower - upper) * 0.14 if rows.gap else 0.0
    return (upper + inset, max(lower - inset, upper + inset + 0.75))


def _whole(layout: FlowLayout, stage: FlowStage) -> _Span:
    box = layout.boxes[stage.name]
    return box.top(), box.bottom()


def _keys_path(layout: FlowLayout, keys: FlowStage, scores: FlowStage) -> Callable[[int], QPainterPath]:
    """Return the bands from the keys' rows up into the columns of the scores."""
    start, end, rows = layout.boxes[keys.name], layout.boxes[scores.name], layout.rows(keys)
    pitch = end.width() / max(1, layout.plan.rows)

    def path_of(row: int) -> QPainterPath:
        upper, lower = _half(rows, row)
        inset = pitch * 0.2 if pitch > 4 else 0.0
        left, right = end.left() + row * pitch + inset, end.left() + (row + 1) * pitch - inset
        path = QPainterPath(QPointF(start.right(), upper))
        path.cubicTo(left - (left - start.right()) * 0.3, upper, left, upper, left, end.bottom())
        path.lineTo(right, end.bottom())
        path.cubicTo(right, lower, right - (right - start.right()) * 0.3, lower, start.right(), lower)
        path.closeSubpath()
        return path

    return path_of


def _hull(first: QPainterPath, last: QPainterPath) -> QPainterPath:
    """Return the area from the upper edge of ``first`` to the lower edge of ``last``, both made by ``_keys_path``."""
    a, b = ([path.elementAt(i) for i in range(path.elementCount())] for path in (first, last))
    path = QPainterPath(QPointF(a[0].x, a[0].y))
    path.cubicTo(*(QPointF(e.x, e.y) for e in a[1:4]))
    for element in b[4:5]:
        path.lineTo(element.x, element.y)
    path.cubicTo(*(QPointF(e.x, e.y) for e in b[5:8]))
    path.closeSubpath()
    return path


def _delta(layout: FlowLayout, last: FlowStage, following: FlowStage) -> QPainterPath:
    """Return the bands from the last logits to the likeliest tokens, as thick as the tokens are likely."""
    path = QPainterPath()
    likely = layout.plan.likely
    if not likely:
        return path
    x0, x1 = layout.boxes[last.name].right(), layout.boxes[following.name].left()
    upper, lower = layout.river_rows.span(max(0, layout.plan.rows - 1))
    middle, height = (upper + lower) / 2, max(lower - upper, px(10)) * 0.9
    y = middle - height / 2
    whole = sum(entry.share for entry in likely)
    for entry, box in zip(likely, layout.entry_boxes(following.name), strict=True):
        part = height * entry.share / whole
        thick = max(1.0, box.height() * 0.7 * entry.share)
        path.addPath(band(x0, x1, (y, y + part), (box.center().y() - thick / 2, box.center().y() + thick / 2)))
        y += part
    return path


def links(stages: tuple[FlowStage, ...], by_name: dict[str, FlowStage]) -> Iterator[tuple[FlowStage, FlowStage]]:
    """Yield which stages the river flows between."""
    for stage in stages:
        for source in stage.sources:
            if source in by_name:
                yield by_name[source], stage
