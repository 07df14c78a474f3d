"""Tokens in lines on a slide, and how many have no room there."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QRectF
from reading import painted_words

from gptviz.widgets.chip_lines import ChipLines


@pytest.mark.parametrize("width", range(300, 520, 20))
@pytest.mark.parametrize("height", [30, 58, 70])
def test_what_has_no_room_is_counted_where_it_can_be_read(show: Callable[..., None], width: int, height: int) -> None:
    """Short and long tokens in turn: a long one that needs another line leaves a gap of any width."""
    chips = ChipLines()
    words = ("I", " and", " characteristically") * 30
    chips.set_chips([(word, token) for token, word in enumerate(words)])
    show(chips, width, height)

    assert chips.rest is not None
    text, box = chips.rest
    painted = painted_words(chips)
    shown = sum(word.isdecimal() for word in painted)
    assert painted[-1] == text == f"… and {90 - shown} more"
    assert shown > 1
    assert QRectF(chips.rect()).contains(box)


def test_chips_that_all_have_room_are_not_counted(show: Callable[..., None]) -> None:
    chips = ChipLines()
    chips.set_chips([("I", 40), (" am", 716)])
    show(chips, 300, 60)

    assert chips.rest is None
    assert "".join(painted_words(chips)) == "I40␣am716"
