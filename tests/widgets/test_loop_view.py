"""The five lines of the loop as a widget: the shapes beside the code wherever both have room."""

from collections.abc import Callable

import pytest
from reading import painted_words

from gptviz.widgets.loop_view import LoopRow, LoopView

Show = Callable[..., None]

CODES = (
    "context = ids[:, -1024:]",
    "logits = model(context)",
    "last = logits[:, -1, :]",
    "next = argmax(last)",
    "ids = cat((ids, next), dim=1)",
)
SHAPES = (
    "(1, 1025) → (1, 1024)",
    "(1, 1024) → (1, 1024, 50257)",
    "(1, 1024, 50257) → (1, 50257)",
    "(1, 50257) → (1, 1)",
    "(1, 1025) → (1, 1026)",
)


@pytest.fixture
def view() -> LoopView:
    view = LoopView()
    rows = [LoopRow(code, "head", shapes, "1,234 ms") for code, shapes in zip(CODES, SHAPES, strict=True)]
    view.set_rows(rows, None, waits=False)
    return view


def test_on_a_laptops_screen_each_line_is_one_row(show: Show, view: LoopView) -> None:
    """The pane has 502 px at 1280 × 800: with two rows a line, the crop would be out of sight."""
    show(view, 502, 200)

    assert view.heightForWidth(502) == view.heightForWidth(2000)
    words = painted_words(view)
    assert [word for word in words if word in CODES] == list(CODES)
    assert [word for word in words if word in SHAPES] == list(SHAPES)


def test_where_there_is_no_room_the_shapes_stand_below(show: Show, view: LoopView) -> None:
    show(view, 330, 300)

    assert view.heightForWidth(330) == 2 * view.heightForWidth(2000)
    words = painted_words(view)
    assert [word for word in words if word in CODES] == list(CODES)
    assert [word for word in words if word in SHAPES] == list(SHAPES)
