"""A ranking with bars."""

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from reading import painted_words

from gptviz.widgets.bar_list import BarList, BarRow
from gptviz.widgets.theme import LIGHT

SHARES = [1.0, 0.5, 0.25, 0.0]


def row(place: int) -> BarRow:
    return BarRow(f"token{place}", f"{place}00", SHARES[place % 4], f"{place}.0 %", f"{place}.125")


@pytest.fixture
def bars(show: Callable[..., None]) -> BarList:
    bars = BarList("probability", "logit")
    bars.set_rows(4, row)
    show(bars, 420, 200)
    return bars


def test_every_row_shows_label_note_and_both_values(bars: BarList) -> None:
    assert painted_words(bars) == [
        *("probability", "logit"),
        *("token0", "000", "0.0 %", "0.125"),
        *("token1", "100", "1.0 %", "1.125"),
        *("token2", "200", "2.0 %", "2.125"),
        *("token3", "300", "3.0 %", "3.125"),
    ]


def test_bars_are_as_long_as_their_share(bars: BarList, picture: Callable[[QWidget], QImage]) -> None:
    shown, head = picture(bars), QColor(LIGHT.families["head"])

    def length(place: int) -> int:
        y = 24 * (place + 1) + 12
        return sum(abs(shown.pixelColor(x, y).hue() - head.hue()) < 6 for x in range(shown.width()))

    lengths = [length(place) for place in range(4)]
    assert lengths[0] > 50
    assert lengths[1] == pytest.approx(lengths[0] / 2, abs=3)
    assert lengths[2] == pytest.approx(lengths[0] / 4, abs=3)
    assert lengths[3] < 6


def test_only_rows_in_sight_are_asked_for(bars: BarList) -> None:
    asked: set[int] = set()

    def noting(place: int) -> BarRow:
        asked.add(place)
        return row(place)

    bars.set_rows(50257, noting)
    painted_words(bars)

    assert max(asked) < 20


def test_the_last_row_can_be_scrolled_to(bars: BarList) -> None:
    bars.set_rows(50257, row)

    bars.verticalScrollBar().setValue(bars.verticalScrollBar().maximum())

    words = painted_words(bars)
    assert "token50256" in words
    assert "token50257" not in words
    assert "token0" not in words


def test_the_ranking_can_be_read_aloud(bars: BarList) -> None:
    assert bars.accessibleDescription() == "token0 0.0 %; token1 1.0 %; token2 2.0 %; token3 3.0 %"


def test_a_label_that_is_markup_is_text(bars: BarList) -> None:
    bars.set_rows(1, lambda _: BarRow("<b>x</b>", "1", 1.0, "1 %", "2"))

    assert "<b>x</b>" in painted_words(bars)
