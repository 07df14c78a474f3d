"""Where a flow's stages are, in pixels of its scene."""

from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, QSize

from gptviz.widgets.flow_plan import FlowPlan, FlowStage, Kind, Lane
from gptviz.widgets.theme import px

FEATURES = 30.0  # px at zoom 1, the width of E features; four times as many are four times as wide
_WIDTHS = {
    Kind.CHIPS: 46.0,
    Kind.FEATURES: FEATURES,
    Kind.HEAD: 22.0,
    Kind.WIDE: 4 * FEATURES,
    Kind.MAP: 100.0,
    Kind.BLOCK: 11.0,
    Kind.VOCABULARY: 58.0,
    Kind.LAST: 58.0,
    Kind.NEXT: 136.0,
}
_LEAST = {Kind.CHIPS: 36.0, Kind.NEXT: 136.0}  # px whatever the zoom: they hold words
_GAP, _BLOCK_GAP, _FORK_GAP, _MAP_GAP = 26.0, 7.0, 40.0, 16.0
_LANES = {  # top and bottom as shares of the river's height
    Lane.FULL: (0.0, 1.0),
    Lane.UPPER: (0.0, 0.46),
    Lane.LOWER: (0.54, 1.0),
    Lane.QUERY: (0.12, 0.34),
    Lane.KEY: (0.54, 0.74),
    Lane.VALUE: (0.82, 1.0),
    Lane.MAP: (0.0, 0.46),
    Lane.CONTEXT: (0.3, 0.7),
}
_HEADING, _ARM, _TITLE, _SHAPES, _MARGIN = 20.0, 22.0, 18.0, 30.0, 8.0
_LEGEND, _LEGEND_FROM = 18.0, 340.0  # px under the shapes, in views at least so high
_CLOSE = 0.0003  # zooms that differ by less look alike
_SMALLEST_RIVER, _TALLEST_ROW, _LOW_RIVER = 64.0, 76.0, 240.0


@dataclass(frozen=True)
class Rows:
    """How ``count`` token rows share the height of a box: ``gap`` px between them, none where they are thin."""

    top: float
    pitch: float
    gap: float
    count: int

    def span(self, row: int) -> tuple[float, float]:
        """Return the upper and the lower edge of a row."""
        start = self.top + row * self.pitch
        return start + self.gap / 2, start + self.pitch - self.gap / 2

    def at(self, y: float) -> int:
        """Return the row at height ``y``, the nearest one outside."""
        return min(max(int((y - self.top) / self.pitch), 0), self.count - 1)


def rows_in(box: QRectF, count: int, apart: bool = True) -> Rows:
    """Divide ``box`` into ``count`` rows, with gaps if they stand ``apart`` and are high enough."""
    pitch = box.height() / max(1, count)
    gap = min(px(6), round(pitch * 0.16)) if apart and pitch >= 5 else 0.0
    return Rows(box.top(), pitch, gap, count)


@dataclass
class FlowLayout:
    """Boxes of all stages for one zoom and one height of the view; text keeps its size whatever the zoom."""

    plan: FlowPlan
    zoom: float
    view_height: float
    gutter: float  # px at the left for the tokens' labels
    boxes: dict[str, QRectF] = field(default_factory=dict)
    width: float = 0.0

    def __post_init__(self) -> None:
        self._measure_height()
        self._place()

    # --- heights -----------------------------------------------------------------------------------------

    def _measure_height(self) -> None:
        around = px(_HEADING + _ARM + _TITLE + _SHAPES + 2 * _MARGIN)
        highest = max(px(_LOW_RIVER), self.plan.rows * px(_TALLEST_ROW))
        self.has_legend = self.view_height >= px(_LEGEND_FROM)
        room = self.view_height - (px(_LEGEND) if self.has_legend else 0)
        fitting = min(max(px(_SMALLEST_RIVER), room - around), highest)
        self.river_height = float(round(fitting * max(1.0, self.zoom)))
        self.height = max(float(self.view_height), self.river_height + around)
        self.heading_top = round((max(room, self.river_height + around) - self.river_height - around) / 2) + px(_MARGIN)
        self.arm_top = self.heading_top + px(_HEADING)
        self.title_top = self.arm_top + px(_ARM)
        self.river_top = self.title_top + px(_TITLE)
        self.shapes_top = self.river_top + self.river_height + px(4)
        self.bottom = self.shapes_top + px(_SHAPES)

    @property
    def arm_box(self) -> tuple[float, float]:
        """The upper and the lower edge of a shortcut on its way around the branch."""
        return self.arm_top + px(6), self.arm_top + px(15)

    @property
    def title_height(self) -> float:
        return float(px(_TITLE))

    @property
    def heading_height(self) -> float:
        return float(px(_HEADING))

    @property
    def shape_line(self) -> float:
        return px(_SHAPES) / 2

    # --- places ------------------------------------------------------------------------------------------

    def _place(self) -> None:
        scale = self.zoom * px(100) / 100
        x = self.gutter
        column = QRectF()
        before: FlowStage | None = None
        for stage in self.plan.stages:
            width = max(3.0, px(_LEAST.get(stage.kind, 0)), round(_WIDTHS[stage.kind] * scale))
            top, bottom = _LANES[stage.lane]
            if stage.kind is Kind.MAP:
                width = min(width, self.river_height * (bottom - top))
            if not stage.beside:
                x += max(2.0, round(_gap(before, stage) * scale)) if before is not None else 0.0
                column = QRectF(x, 0, width, 0)
                x += width
            height = (bottom - top) * self.river_height
            y = self.river_top + top * self.river_height
            if stage.kind is Kind.MAP:
                y, height = y + (height - width) / 2, width
            self.boxes[stage.name] = QRectF(column.left(), y, width, height)
            before = stage
        self.width = x + px(14)

    def rows(self, stage: FlowStage) -> Rows:
        """Return the token rows of a stage's box."""
        return rows_in(self.boxes[stage.name], self.plan.rows, stage.kind is not Kind.MAP)

    @property
    def river_rows(self) -> Rows:
        """The token rows where the river has its full height."""
        return rows_in(QRectF(0, self.river_top, 1, self.river_height), self.plan.rows)

    def entry_boxes(self, name: str) -> list[QRectF]:
        """Return the places of the likeliest tokens, beside the last row."""
        box, count = self.boxes[name], len(self.plan.likely) if self.plan.likely else 1
        pitch = min(self.river_height / count, float(px(30)))
        upper, lower = self.river_rows.span(max(0, self.plan.rows - 1))
        top = min(max((upper + lower - pitch * count) / 2, box.top()), box.bottom() - pitch * count)
        height = min(pitch - 2, float(px(24)))
        return [
            QRectF(box.left(), top + place * pitch + (pitch - height) / 2, box.width(), height)
            for place in range(count)
        ]


def _gap(before: FlowStage | None, stage: FlowStage) -> float:
    """Return the px at zoom 1 between a stage and the one before it."""
    assert before is not None
    if stage.kind is Kind.BLOCK:
        return _BLOCK_GAP if before.kind is Kind.BLOCK else _GAP
    if stage.shortcut is not None or stage.title in ("norm1", "norm2"):
        return _FORK_GAP
    if stage.kind is Kind.MAP:
        return _MAP_GAP if before.kind is Kind.MAP else _FORK_GAP
    return _FORK_GAP if stage.lane is Lane.CONTEXT or stage.kind is Kind.NEXT else _GAP


def fitting_zoom(plan: FlowPlan, size: QSize, gutter: float, guess: float) -> float:
    """Return the largest zoom at which ``plan`` fits the width of a view of ``size``, found at once near ``guess``."""

    def fits(zoom: float) -> bool:
        return FlowLayout(plan, zoom, size.height(), gutter).width <= size.width()

    if fits(guess) and not fits(guess + _CLOSE):  # mostly so when another block is opened
        return guess
    low, high = 0.02, 3.0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
