"""Bars that add up."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.widgets.theme import LIGHT
from gptviz.widgets.waterfall import Waterfall
from gptviz.widgets.waterfall_model import BAR, WaterfallRow

HEADS = (
    WaterfallRow("head 1", "head 1", "attention", 2.0, 4.0, "+2"),
    WaterfallRow("head 2", "head 2", "attention", 4.0, 1.0, "−3"),
)
ROWS = (
    WaterfallRow("token", "token embedding", "embedding", 0.0, 2.0, "+2"),
    WaterfallRow("attention", "<b>attention</b>", "attention", 2.0, 1.0, "−1", "all about it", HEADS),
    WaterfallRow("ff", "feed-forward", "feed-forward", 1.0, -2.0, "−3"),
    WaterfallRow("total", "value", "head", 0.0, -2.0, "−2", total=True),
)


@pytest.fixture
def bars(show: Callable[..., None]) -> Waterfall:
    bars = Waterfall(("part", "contribution", "value"))
    bars.set_rows(ROWS, joined=True)
    show(bars, 500, 220)
    return bars


def cell(bars: Waterfall, key: str) -> QRectF:
    """Where the bar of a row may be drawn, in pixels of the contents."""
    index = bars.index_of(key)
    return QRectF(bars.visualRect(index.siblingAtColumn(BAR)))


def box(bars: Waterfall, key: str) -> QRectF:
    row = bars.row_at(bars.index_of(key))
    assert row is not None
    return bars.bar_box(row, bars.index_of(key).parent().isValid(), cell(bars, key))


def opened(bars: Waterfall) -> list[str]:
    keys: list[str] = []
    bars.opened.connect(keys.append)
    return keys


def chosen(bars: Waterfall) -> list[str]:
    keys: list[str] = []
    bars.chosen.connect(keys.append)
    return keys


def test_a_row_shows_what_it_is_and_how_much(bars: Waterfall) -> None:
    words = painted_words(bars.viewport())

    assert "".join(words) == "token embedding+2<b>attention</b>−1feed-forward−3value−2"


def test_each_bar_begins_where_the_one_before_ended(bars: Waterfall) -> None:
    assert box(bars, "attention").right() == pytest.approx(box(bars, "token").right())
    assert box(bars, "ff").right() == pytest.approx(box(bars, "attention").left())
    assert box(bars, "total").left() == pytest.approx(box(bars, "ff").left())
    assert box(bars, "total").right() == pytest.approx(box(bars, "token").left())


def test_bars_are_as_long_as_their_values(bars: Waterfall) -> None:
    unit = box(bars, "attention").width()

    assert box(bars, "token").width() == pytest.approx(2 * unit, abs=0.1)
    assert box(bars, "ff").width() == pytest.approx(3 * unit, abs=0.1)
    assert box(bars, "total").width() == pytest.approx(2 * unit, abs=0.1)


def test_no_bar_leaves_its_column(bars: Waterfall) -> None:
    bars.expand(bars.index_of("attention"))

    for key in ("token", "attention", "head 1", "head 2", "ff", "total"):
        assert cell(bars, key).contains(box(bars, key))


def test_what_adds_is_full_and_what_takes_away_is_faint(bars: Waterfall, picture: Callable[[QWidget], QImage]) -> None:
    shown = picture(bars.viewport())

    def tone(key: str) -> QColor:
        return shown.pixelColor(box(bars, key).center().toPoint())

    assert tone("token").name().upper() == LIGHT.families["embedding"]
    family = QColor(LIGHT.families["feed-forward"])
    assert abs(tone("ff").hue() - family.hue()) < 8
    assert tone("ff").lightness() > family.lightness() + 60


def test_a_row_opens_with_the_keyboard_and_shows_what_is_inside(bars: Waterfall, qtbot: QtBot) -> None:
    bars.setCurrentIndex(bars.index_of("attention"))

    qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert "head 2" in painted_words(bars.viewport())
    assert box(bars, "head 1").left() == pytest.approx(box(bars, "token").right())

    qtbot.keyClick(bars, Qt.Key.Key_Left)
    assert "head 2" not in painted_words(bars.viewport())


def test_enter_and_a_double_click_open_and_arrows_do_not(bars: Waterfall, qtbot: QtBot) -> None:
    keys = opened(bars)
    bars.setCurrentIndex(bars.index_of("token"))

    qtbot.keyClick(bars, Qt.Key.Key_Down)
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    assert keys == []
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    assert keys == ["ff"]

    place = cell(bars, "attention").center().toPoint()
    for part in (qtbot.mouseClick, qtbot.mouseDClick, qtbot.mouseRelease):
        part(bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert keys == ["ff", "attention"]
    assert not bars.isExpanded(bars.index_of("attention"))


def test_a_click_chooses(bars: Waterfall, qtbot: QtBot) -> None:
    keys = chosen(bars)

    place = cell(bars, "attention").center().toPoint()
    qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert keys == ["attention"]


def test_other_numbers_leave_open_what_is_open(bars: Waterfall) -> None:
    bars.expand(bars.index_of("attention"))
    bars.setCurrentIndex(bars.index_of("head 2"))

    bars.set_rows(tuple(replace(row, written="+7") for row in ROWS), joined=True)

    assert bars.isExpanded(bars.index_of("attention"))
    assert bars.currentIndex() == bars.index_of("head 2")
    assert painted_words(bars.viewport()).count("+7") == 4


def test_the_chosen_part_stays_chosen_in_another_order(bars: Waterfall) -> None:
    bars.setCurrentIndex(bars.index_of("ff"))

    bars.set_rows(ROWS[::-1], joined=False)

    assert bars.currentIndex() == bars.index_of("ff")


def test_a_number_that_is_none_has_no_bar(bars: Waterfall) -> None:
    bars.set_rows((replace(ROWS[0], end=float("nan"), written="NaN"), *ROWS[1:]), joined=True)

    assert "NaN" in painted_words(bars.viewport())
    assert box(bars, "token").isNull()
    assert box(bars, "ff").width() > 10


def test_nothing_but_zeros_can_be_drawn(bars: Waterfall) -> None:
    bars.set_rows((replace(ROWS[0], end=0.0, written="0"),), joined=True)

    assert painted_words(bars.viewport()) == ["token embedding", "0"]


def test_rows_can_be_read_aloud(bars: Waterfall) -> None:
    assert bars.accessibleDescription().startswith("token embedding +2; <b>attention</b> −1")
    index: QModelIndex = bars.index_of("head 2")
    assert bars.model().data(index, Qt.ItemDataRole.AccessibleTextRole) == "head 2 −3"
    assert bars.model().data(bars.index_of("attention"), Qt.ItemDataRole.ToolTipRole) == "all about it"
