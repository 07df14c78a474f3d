"""Places of the stages, and the ways between them."""

from itertools import pairwise

import pytest
from PySide6.QtGui import QPainterPath

from gptviz.widgets.flow_bands import BandItem, ShortcutItem
from gptviz.widgets.flow_items import labels_of
from gptviz.widgets.flow_layout import FlowLayout, Rows
from gptviz.widgets.flow_plan import FlowPlan, FlowStage, Kind, Lane

TOKENS = ("a", "b", "c")


def stage(name: str, kind: Kind = Kind.FEATURES, lane: Lane = Lane.FULL, **more: object) -> FlowStage:
    return FlowStage(name, name, "norm", kind, lane, "(1, 3, 8)", "", **more)  # type: ignore[arg-type]


STAGES = (
    stage("input"),
    stage("norm1"),
    stage("Q", lane=Lane.QUERY),
    stage("K", lane=Lane.KEY, beside=True),
    stage("scores", Kind.MAP, Lane.MAP),
    stage("expand", Kind.WIDE),
    stage("sum", shortcut="input", plus=True),
)


def layout(zoom: float = 1.0, height: float = 420) -> FlowLayout:
    return FlowLayout(FlowPlan(STAGES, tokens=TOKENS), zoom, height, 60)


def ends(path: QPainterPath) -> tuple[float, float]:
    box = path.boundingRect()
    return box.left(), box.right()


def test_stages_stand_in_order_and_do_not_touch() -> None:
    boxes = layout().boxes
    order = ["input", "norm1", "Q", "scores", "expand", "sum"]

    assert all(boxes[one].right() < boxes[other].left() for one, other in pairwise(order))
    assert boxes["input"].left() == 60


def test_lanes_share_a_column_one_above_the_other() -> None:
    boxes = layout().boxes

    assert boxes["Q"].left() == boxes["K"].left()
    assert boxes["Q"].bottom() < boxes["K"].top()


@pytest.mark.parametrize("zoom", [0.5, 1.0, 3.0])
def test_expand_is_four_times_as_wide(zoom: float) -> None:
    boxes = layout(zoom).boxes

    assert boxes["expand"].width() == pytest.approx(4 * boxes["norm1"].width())


@pytest.mark.parametrize("height", [260, 300, 420, 900])
def test_maps_are_square_and_all_fits_the_height(height: float) -> None:
    placed = layout(height=height)

    assert placed.boxes["scores"].width() == pytest.approx(placed.boxes["scores"].height())
    assert placed.heading_top >= 0
    assert placed.bottom <= height


def test_the_shortcut_leaves_at_the_input_goes_over_the_branch_and_ends_at_the_sum() -> None:
    placed = layout()
    shortcut = ShortcutItem(STAGES[0], STAGES[-1])
    shortcut.place(placed)
    boxes = placed.boxes

    assert ends(shortcut.path) == pytest.approx((boxes["input"].right(), boxes["sum"].left()))
    assert shortcut.path.boundingRect().top() < min(box.top() for box in boxes.values()) - placed.title_height
    for name in ("norm1", "Q", "K", "scores", "expand"):
        assert not shortcut.path.intersects(boxes[name])


def test_a_band_joins_the_facing_edges() -> None:
    placed = layout()
    band = BandItem(STAGES[0], STAGES[1])
    band.place(placed)

    assert ends(band.path) == pytest.approx((placed.boxes["input"].right(), placed.boxes["norm1"].left()))


def test_labels_thin_out_and_the_selected_row_keeps_its_own() -> None:
    rows = Rows(top=0, pitch=1.5, gap=0, count=200)

    found = labels_of(rows, 101, 7.5)

    assert found[0][0] == 101
    assert 10 < len(found) <= 20
    heights = sorted(middle for _, middle in found)
    assert all(later - earlier >= 14 for earlier, later in pairwise(heights))
    assert heights[0] >= 7.5
    assert heights[-1] <= 300 - 7.5


def test_each_row_has_its_label_where_there_is_room() -> None:
    assert [row for row, _ in sorted(labels_of(Rows(0, 50, 6, 4), -1, 7.5))] == [0, 1, 2, 3]
