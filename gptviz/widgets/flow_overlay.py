"""What lies over a flow whatever part of it is in view: the tokens' labels, the legend; and the tooltips' words."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QLinearGradient, QPainter

from gptviz.widgets.flow_items import StageItem, labels_of
from gptviz.widgets.flow_layout import FlowLayout
from gptviz.widgets.flow_plan import FlowPlan, Kind
from gptviz.widgets.text import draw_text, number
from gptviz.widgets.theme import UNIT, color, current, px, text_font

_LEGEND = (
    "Blue is negative, orange positive, each stage on its own scale; softmax from 0 to 1. "
    "A cell shows the value furthest from zero of those it stands for."
)


def draw(painter: QPainter, layout: FlowLayout, offset: QPointF, size: QSize, row: int) -> None:
    """Draw over a view of ``size`` px that shows the scene from ``offset`` on."""
    _draw_edges(painter, layout, offset.x(), size)
    _draw_tokens(painter, layout, offset.y(), row)
    if layout.has_legend:
        painter.setFont(text_font(10))
        painter.setPen(color(current().muted))
        box = QRectF(px(8), size.height() - px(18), size.width() - px(16), px(15))
        if layout.bottom - offset.y() > box.top():
            painter.fillRect(box.adjusted(0, 0, 0, px(3)), color(current().panel, 0.85))
        draw_text(painter, box, _LEGEND, Qt.AlignmentFlag.AlignRight)


def _draw_edges(painter: QPainter, layout: FlowLayout, left: float, size: QSize) -> None:
    """Let the river fade where it goes on beyond the view; the tokens' labels stand on the left fade."""
    ground, label = current().panel, layout.gutter - px(3 * UNIT)
    if left > 0:
        fade = QLinearGradient(QPointF(label, 0), QPointF(label + px(24), 0))
        fade.setColorAt(0, color(ground))
        fade.setColorAt(1, color(ground, 0))
        painter.fillRect(QRectF(0, 0, label + px(24), size.height()), fade)
    if left + size.width() < layout.width - 1:
        fade = QLinearGradient(QPointF(size.width() - px(32), 0), QPointF(size.width(), 0))
        fade.setColorAt(0, color(ground, 0))
        fade.setColorAt(1, color(ground))
        painter.fillRect(QRectF(size.width() - px(32), 0, px(32), size.height()), fade)


def _draw_tokens(painter: QPainter, layout: FlowLayout, top: float, selected: int) -> None:
    width = layout.gutter - px(5 * UNIT)
    for row, middle in labels_of(layout.river_rows, selected, px(7.5)):
        chosen = row == selected
        painter.setFont(text_font(12, QFont.Weight.DemiBold if chosen else QFont.Weight.Normal))
        painter.setPen(color(current().accent if chosen else current().text))
        box = QRectF(px(2 * UNIT), middle - top - px(9), width, px(18))
        draw_text(painter, box, layout.plan.tokens[row], Qt.AlignmentFlag.AlignRight)


def tip(item: StageItem, row: int | None, plan: FlowPlan) -> str:
    """Say what stands at a stage's place: name, shape, operation, the token of ``row``, and what the colours mean."""
    stage = item.stage
    lines = [f"{stage.name}  {stage.shape}", stage.operation]
    if stage.block is not None:
        lines = [f"Block {stage.block + 1}, closed: its output", *lines[:1], "Double click opens it"]
    if row is not None and row < plan.rows:
        lines.append(f"token {row}  {plan.tokens[row]}")
    if not item.shows_tensor:
        lines.append("empty: it has not run, or its block is not at hand yet")
    elif stage.kind not in (Kind.CHIPS, Kind.NEXT):
        lines.append(_colours(item))
    return "\n".join(lines)


def _colours(item: StageItem) -> str:
    strip = item.strip()
    assert strip is not None
    limit = number(strip.limit, 3)
    colours = "colours from 0 to 1" if strip.shares else f"colours from −{limit} to {limit}, stronger values alike"
    if strip.row_step * strip.column_step == 1:
        return colours
    return f"{colours}\na cell is the value furthest from zero of {strip.row_step} × {strip.column_step}"
