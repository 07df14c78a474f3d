"""Tokens as chips."""

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.widgets.theme import LIGHT
from gptviz.widgets.token_strip import Chip, TokenStrip

HELLO = [
    Chip("Hello", 15496, b"Hello", 0),
    Chip(",", 11, b",", 1),
    Chip(" I", 314, b" I", 2),
    Chip(" am", 716, b" am", 3),
]
HUG = [
    Chip("a", 64, b"a", 0),
    Chip("‹F0 9F›", 8582, b"\xf0\x9f", 1),
    Chip("‹A4›", 97, b"\xa4", 1),
    Chip("‹97›", 245, b"\x97", 1),
    Chip("b", 65, b"b", 4),
]
Picture = Callable[[QWidget], QImage]


@pytest.fixture
def strip(show: Callable[..., None]) -> TokenStrip:
    strip = TokenStrip()
    strip.set_chips(HELLO)
    show(strip, 500, 40)
    return strip


def middle(strip: TokenStrip, position: int) -> QPoint:
    return strip.chip_box(position).center().toPoint()


def test_chips_show_text_with_visible_white_space_and_the_id(strip: TokenStrip) -> None:
    assert "".join(painted_words(strip)) == "Hello15496,11␣I314␣am716"


def test_chips_can_be_read_aloud(strip: TokenStrip) -> None:
    assert strip.accessibleName() == "Tokens"
    assert strip.accessibleDescription() == "Hello 15496, , 11, ␣I 314, ␣am 716"


def test_markup_in_a_token_is_text(strip: TokenStrip) -> None:
    strip.set_chips([Chip("<b>", 27, b"<b>", 0), Chip("&amp;", 5, b"&amp;", 1)])

    assert painted_words(strip) == ["<b>", "27", "&amp;", "5"]


def test_chips_stand_side_by_side_without_overlap(strip: TokenStrip) -> None:
    boxes = [strip.chip_box(position) for position in range(4)]

    assert all(left.right() < right.left() for left, right in itertools.pairwise(boxes))
    assert boxes[0].width() > boxes[1].width()


@pytest.mark.parametrize("before", [[], HELLO[:1], HELLO, [*HUG, *HELLO], [HELLO[0], *HUG]])
@pytest.mark.parametrize("after", [[], HELLO, HUG, [HELLO[0], *HUG], HELLO * 40])
def test_chips_stand_where_they_would_without_those_before(
    show: Callable[..., None], before: list[Chip], after: list[Chip]
) -> None:
    used, fresh = TokenStrip(), TokenStrip()
    used.set_chips(before)
    for strip in (used, fresh):
        strip.set_chips(after)
        show(strip, 300, 40)

    boxes = [[strip.chip_box(place) for place in range(len(after))] for strip in (used, fresh)]
    assert boxes[0] == boxes[1]
    assert used.horizontalScrollBar().maximum() == fresh.horizontalScrollBar().maximum()


@pytest.mark.parametrize("position", [0, 1, 3])
def test_a_click_chooses_a_chip(strip: TokenStrip, qtbot: QtBot, position: int) -> None:
    with qtbot.waitSignal(strip.chosen) as chosen:
        qtbot.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=middle(strip, position))

    assert chosen.args == [position]


def test_a_click_beside_the_chips_chooses_nothing(strip: TokenStrip, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(strip.chosen):
        qtbot.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(490, 10))


@pytest.mark.parametrize(
    ("selected", "key", "position"),
    [
        (1, Qt.Key.Key_Right, 2),
        (1, Qt.Key.Key_Left, 0),
        (0, Qt.Key.Key_Left, 0),
        (3, Qt.Key.Key_Right, 3),
        (None, Qt.Key.Key_Right, 1),
    ],
)
def test_arrows_move_and_stay_within_the_line(
    strip: TokenStrip, qtbot: QtBot, selected: int | None, key: Qt.Key, position: int
) -> None:
    strip.set_selected(selected)

    with qtbot.waitSignal(strip.chosen) as chosen:
        qtbot.keyClick(strip, key)

    assert chosen.args == [position]


def test_no_chips_take_clicks_and_keys(strip: TokenStrip, qtbot: QtBot) -> None:
    strip.set_chips([])

    with qtbot.assertNotEmitted(strip.chosen):
        qtbot.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
        qtbot.keyClick(strip, Qt.Key.Key_Right)


def test_the_selected_chip_has_a_border_in_the_accent_colour(strip: TokenStrip, picture: Picture) -> None:
    strip.set_selected(2)
    shown = picture(strip)

    def framed(position: int) -> bool:
        left = int(strip.chip_box(position).left())
        return any(like(shown.pixelColor(x, 13), LIGHT.accent) for x in range(left - 1, left + 3))

    assert [framed(position) for position in range(4)] == [False, False, True, False]


def like(shown: QColor, expected: str) -> bool:
    """Whether a pixel has the hue of a colour, though it may be blended with the ground."""
    return abs(shown.hue() - QColor(expected).hue()) < 8 and shown.saturation() > 60


def test_a_tooltip_names_position_id_and_bytes(strip: TokenStrip) -> None:
    point, viewport = middle(strip, 2), strip.viewport()
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, point, viewport.mapToGlobal(point)))

    assert QToolTip.text() == "position 2 · ID 314 · bytes 20 49"
    QToolTip.hideText()


def test_the_pieces_of_a_character_are_bracketed_together(strip: TokenStrip, picture: Picture) -> None:
    strip.set_chips(HUG)
    shown = picture(strip)

    def underlined(x: float) -> bool:
        below = range(int(strip.chip_box(0).bottom()) + 1, strip.viewport().height())
        return any(like(shown.pixelColor(int(x), y), LIGHT.warning) for y in below)

    middles = [strip.chip_box(place).center().x() for place in range(5)]
    gaps = [(strip.chip_box(place).right() + strip.chip_box(place + 1).left()) / 2 for place in range(4)]
    assert [underlined(x) for x in middles] == [False, True, True, True, False]
    assert [underlined(x) for x in gaps] == [False, True, True, False]


def test_a_long_line_scrolls_to_the_selected_chip(strip: TokenStrip) -> None:
    strip.set_chips([Chip("word", number, b"word", number) for number in range(100)])
    assert not strip.viewport().rect().contains(middle(strip, 80))

    strip.set_selected(80)

    assert strip.viewport().rect().contains(middle(strip, 80))


def test_the_wheel_scrolls_the_line(strip: TokenStrip, qtbot: QtBot) -> None:
    strip.set_chips([Chip("word", number, b"word", number) for number in range(100)])
    before = strip.chip_box(0).left()
    event = QWheelEvent(
        QPointF(50, 10),
        QPointF(50, 10),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(strip.viewport(), event)

    assert strip.chip_box(0).left() == before - 120


def test_a_very_long_token_is_cut_short(strip: TokenStrip) -> None:
    strip.set_chips([Chip("x" * 500, 1, b"x" * 500, 0), *HELLO[1:]])

    assert strip.chip_box(0).width() < 250
    assert painted_words(strip)[0].endswith("…")
