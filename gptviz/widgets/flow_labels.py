"""The words of a flow: headings, titles over the stages, shapes under them. What has no room is left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gptviz.widgets.flow_items import family_color
from gptviz.widgets.flow_layout import FlowLayout
from gptviz.widgets.flow_plan import FlowGroup, FlowStage, Kind, Lane
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import color, current, mono_font, px, text_font


@dataclass(frozen=True)
class Label:
    """One text in its box."""

    box: QRectF
    text: str
    font: QFont
    ink: QColor
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignHCenter


class LabelsItem(QGraphicsItem):
    """All words, and the ground of the open block."""

    def __init__(self) -> None:
        super().__init__()
        self._labels: list[Label] | None = None  # None: to be written anew
        self.selected: str | None = None
        self._layout: FlowLayout | None = None
        self._plus: list[tuple[QPointF, str]] = []
        self.setZValue(20)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def place(self, layout: FlowLayout) -> None:
        """Write the words for ``layout``."""
        self.prepareGeometryChange()
        self._layout = layout
        self.refresh()

    def refresh(self) -> None:
        """Write the words anew when they are next painted."""
        self._labels = None
        self.update()

    def prepare(self) -> None:
        """Choose the words now, and not when they are painted."""
        self._written()

    def _written(self) -> list[Label]:
        """Return the labels: the selected stage's come first, so that they find room."""
        layout = self._layout
        if self._labels is not None or layout is None:
            return self._labels or []
        self._labels, self._plus = [], []
        stages = sorted(layout.plan.stages, key=lambda stage: stage.name != self.selected)
        self._write_headings(layout)
        self._write_titles(layout, stages)
        self._write_shapes(layout, stages)
        return self._labels

    def boundingRect(self) -> QRectF:
        return QRectF() if self._layout is None else QRectF(0, 0, self._layout.width, self._layout.height)

    def shape(self) -> QPainterPath:
        return QPainterPath()

    # --- choosing ----------------------------------------------------------------------------------------

    def _write_headings(self, layout: FlowLayout) -> None:
        font = text_font(12, QFont.Weight.DemiBold)
        metrics = QFontMetricsF(font)
        taken: list[QRectF] = []
        for group in layout.plan.groups:
            span = self._span(layout, group)
            box = QRectF(
                span.left(), layout.heading_top, metrics.horizontalAdvance(group.title) + 2, layout.heading_height
            )
            if any(box.adjusted(-px(8), 0, px(8), 0).intersects(other) for other in taken):
                continue
            taken.append(box)
            self._take(Label(box, group.title, font, family_color(group.family, 1.0), Qt.AlignmentFlag.AlignLeft))

    def _span(self, layout: FlowLayout, group: FlowGroup) -> QRectF:
        return layout.boxes[group.first].united(layout.boxes[group.last])

    def _write_titles(self, layout: FlowLayout, stages: list[FlowStage]) -> None:
        taken: list[_Edges] = []
        boxes = [(name, _inner(box, 0, 0)) for name, box in layout.boxes.items()]
        for stage in sorted(stages, key=lambda stage: not stage.plus):
            box = layout.boxes[stage.name]
            top = box.top() - layout.title_height
            if stage.plus:
                center = QPointF(box.center().x(), top + layout.title_height / 2 - 1)
                self._plus.append((center, stage.family))
                taken.append((center.x() - px(8), center.x() + px(8), center.y() - px(8), center.y() + px(8)))
                continue
            chosen = stage.name == self.selected
            font = text_font(11, QFont.Weight.DemiBold if chosen else QFont.Weight.Medium)
            ink = current().accent if chosen else current().muted if stage.kind is Kind.BLOCK else current().text
            label = Label(QRectF(box.center().x(), top, 0, layout.title_height), stage.title, font, color(ink))
            narrow = stage.lane is not Lane.FULL and not chosen
            self._add(label, taken, [edges for name, edges in boxes if name != stage.name] if narrow else [])

    def _write_shapes(self, layout: FlowLayout, stages: list[FlowStage]) -> None:
        taken: list[_Edges] = []
        written: set[float] = set()
        font = mono_font(10)
        for stage in stages:
            box = layout.boxes[stage.name]
            if stage.kind is Kind.BLOCK or (box.left() in written) or (stage.beside and stage.name != self.selected):
                continue
            ink = color(current().accent if stage.name == self.selected else current().muted)
            for line in range(2):
                top = layout.shapes_top + line * layout.shape_line
                label = Label(QRectF(box.center().x(), top, 0, layout.shape_line), stage.shape, font, ink)
                if self._add(label, taken):
                    written.add(box.left())
                    break

    def _add(self, label: Label, taken: "list[_Edges]", others: "Sequence[_Edges]" = ()) -> bool:
        """Take ``label``, centred on its box, unless it would touch another one or cover one of ``others``."""
        width = _width(label.text, label.font) + 2
        box = label.box.adjusted(-width / 2, 0, width / 2, 0)
        if _touches_any(_inner(box, -px(3), 1), taken) or _touches_any(_inner(box, 2, 5), others):
            return False
        taken.append(_inner(box, 0, 0))
        self._take(Label(box, label.text, label.font, label.ink, label.align))
        return True

    def _take(self, label: Label) -> None:
        assert self._labels is not None
        self._labels.append(label)

    # --- drawing -----------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        exposed = option.exposedRect
        for label in self._written():
            if label.box.intersects(exposed):
                painter.setFont(label.font)
                painter.setPen(label.ink)
                draw_text(painter, label.box.adjusted(-1, 0, 2, 0), label.text, label.align, Qt.TextElideMode.ElideNone)
        for center, family in self._plus:
            self._draw_plus(painter, center, family)

    def _draw_plus(self, painter: QPainter, center: QPointF, family: str) -> None:
        radius, arm = px(7.5), px(3.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(family_color(family, 1.0))
        painter.drawEllipse(center, radius, radius)
        painter.setPen(QPen(color(current().panel), px(1.6)))
        painter.drawLine(center - QPointF(arm, 0), center + QPointF(arm, 0))
        painter.drawLine(center - QPointF(0, arm), center + QPointF(0, arm))


# left, right, top, bottom; plain numbers, as hundreds of labels are placed at each step of a walk
_Edges = tuple[float, float, float, float]


def _inner(box: QRectF, across: float, down: float) -> _Edges:
    return box.left() + across, box.right() - across, box.top() + down, box.bottom() - down


def _touches_any(edges: _Edges, others: Sequence[_Edges]) -> bool:
    left, right, top, bottom = edges
    return any(left < r and l < right and top < b and t < bottom for l, r, t, b in others)  # noqa: E741


@lru_cache(maxsize=2048)
def _width_of(text: str, family: str, pixels: int, weight: int) -> float:
    font = QFont(family)
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight(weight))
    return QFontMetricsF(font).horizontalAdvance(text)


def _width(text: str, font: QFont) -> float:
    return _width_of(text, font.family(), font.pixelSize(), int(font.weight()))


class BlockGround(QGraphicsItem):
    """The ground that the open block's stages stand on."""

    def __init__(self) -> None:
        super().__init__()
        self._box = QRectF()
        self.setZValue(-10)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def place(self, layout: FlowLayout) -> None:
        """Lie under the open block."""
        self.prepareGeometryChange()
        self._box = QRectF()
        if layout.plan.open_block is not None:
            first, last = (layout.boxes[name] for name in layout.plan.open_block)
            side = max(3.0, px(9) * min(1.0, layout.zoom))
            top = layout.heading_top - px(3)
            self._box = QRectF(first.left() - side, top, last.right() - first.left() + 2 * side, layout.bottom - top)

    def boundingRect(self) -> QRectF:
        return self._box

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().raised, 0.6))
        painter.drawRoundedRect(self._box, 10, 10)
