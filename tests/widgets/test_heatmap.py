"""A heatmap: what is where, what a click means, and the colours on the screen."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gptviz.widgets import colormaps
from gptviz.widgets.heatmap import Heatmap, HeatmapData, strongest
from gptviz.widgets.theme import LIGHT

NAN, INF = float("nan"), float("inf")
ROWS, COLUMNS = 3, 5  # not square, so that a transposition shows
Picture = Callable[[QWidget], QImage]


def data(values: np.ndarray, low: float = 0.0, high: float = 1.0, signed: bool = False) -> HeatmapData:
    rows, columns = values.shape
    return HeatmapData(
        values,
        low,
        high,
        signed,
        [f"row{row}" for row in range(rows)],
        [f"column{column}" for column in range(columns)],
    )


@pytest.fixture
def heatmap(show: Callable[..., None]) -> Heatmap:
    """Fifteen different values from 0 to 1."""
    heatmap = Heatmap()
    heatmap.set_data(data(np.linspace(0, 1, ROWS * COLUMNS).reshape(ROWS, COLUMNS)))
    show(heatmap, 500, 400)
    return heatmap


def middle(heatmap: Heatmap, row: int, column: int) -> QPoint:
    return heatmap.cell_box(row, column).center().toPoint()


def corner_colour(heatmap: Heatmap, picture: Picture, row: int, column: int) -> QColor:
    """The colour in a corner of a cell, beside its digits."""
    return picture(heatmap).pixelColor((heatmap.cell_box(row, column).topLeft() + QPointF(4, 4)).toPoint())


def colour_of(value: float) -> QColor:
    place = colormaps.indices(np.array([value]), 0.0, 1.0)[0]
    return QColor(*colormaps.sequential()[place].tolist())


# --- where cells are -------------------------------------------------------------------------------------


def test_the_first_row_is_at_the_top_and_the_first_column_at_the_left(heatmap: Heatmap) -> None:
    first, below, beside = (heatmap.cell_box(*cell) for cell in ((0, 0), (1, 0), (0, 1)))

    assert below.top() == pytest.approx(first.bottom())
    assert beside.left() == pytest.approx(first.right())
    assert (below.left(), beside.top()) == (first.left(), first.top())


def test_cells_are_square(heatmap: Heatmap) -> None:
    box = heatmap.cell_box(1, 2)

    assert box.width() == pytest.approx(box.height(), rel=0.01)
    assert box.width() > 40


def test_all_cells_are_in_sight_with_room_for_the_labels(heatmap: Heatmap) -> None:
    everything = heatmap.cell_box(0, 0).united(heatmap.cell_box(ROWS - 1, COLUMNS - 1))

    assert QRectF(heatmap.rect()).contains(everything)
    assert everything.left() > 30
    assert everything.top() > 15


# --- the mouse and the keyboard --------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [(0, 0), (0, 4), (2, 0), (2, 4), (1, 3)])
def test_a_click_tells_row_and_column(heatmap: Heatmap, qtbot: QtBot, cell: tuple[int, int]) -> None:
    with qtbot.waitSignal(heatmap.cell_clicked) as clicked:
        qtbot.mouseClick(heatmap.viewport(), Qt.MouseButton.LeftButton, pos=middle(heatmap, *cell))

    assert tuple(clicked.args) == cell


def test_a_click_beside_the_cells_tells_nothing(heatmap: Heatmap, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(heatmap.cell_clicked):
        qtbot.mouseClick(heatmap.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_a_right_click_tells_nothing(heatmap: Heatmap, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(heatmap.cell_clicked):
        qtbot.mouseClick(heatmap.viewport(), Qt.MouseButton.RightButton, pos=middle(heatmap, 1, 1))


def test_pointing_tells_the_cell_and_leaving_tells_none(heatmap: Heatmap, qtbot: QtBot) -> None:
    qtbot.mouseMove(heatmap.viewport(), middle(heatmap, 0, 0))
    with qtbot.waitSignal(heatmap.cell_hovered) as hovered:
        qtbot.mouseMove(heatmap.viewport(), middle(heatmap, 1, 4))
    assert hovered.args == [(1, 4)]

    with qtbot.waitSignal(heatmap.cell_hovered) as hovered:
        qtbot.mouseMove(heatmap.viewport(), QPoint(2, 2))
    assert hovered.args == [None]


@pytest.mark.parametrize(
    ("key", "cell"),
    [
        (Qt.Key.Key_Up, (0, 2)),
        (Qt.Key.Key_Down, (2, 2)),
        (Qt.Key.Key_Left, (1, 1)),
        (Qt.Key.Key_Right, (1, 3)),
    ],
)
def test_arrows_ask_for_the_neighbouring_cell(
    heatmap: Heatmap, qtbot: QtBot, key: Qt.Key, cell: tuple[int, int]
) -> None:
    heatmap.set_selected((1, 2))

    with qtbot.waitSignal(heatmap.cell_clicked) as asked:
        qtbot.keyClick(heatmap, key)

    assert tuple(asked.args) == cell


@pytest.mark.parametrize(
    ("key", "cell"),
    [
        (Qt.Key.Key_Up, (0, 0)),
        (Qt.Key.Key_Left, (0, 0)),
        (Qt.Key.Key_Down, (2, 4)),
        (Qt.Key.Key_Right, (2, 4)),
    ],
)
def test_arrows_stay_within_the_map(heatmap: Heatmap, qtbot: QtBot, key: Qt.Key, cell: tuple[int, int]) -> None:
    heatmap.set_selected(cell)

    with qtbot.waitSignal(heatmap.cell_clicked) as asked:
        qtbot.keyClick(heatmap, key)

    assert tuple(asked.args) == cell


def test_a_double_click_shows_all_again(heatmap: Heatmap, qtbot: QtBot) -> None:
    before = heatmap.cell_box(0, 0)
    heatmap.view.setRange(xRange=(1, 3), yRange=(1, 2), padding=0)
    assert heatmap.cell_box(0, 0) != before

    at = heatmap.view.sceneBoundingRect().center().toPoint()
    for part in (qtbot.mouseClick, qtbot.mouseDClick, qtbot.mouseRelease):
        part(heatmap.viewport(), Qt.MouseButton.LeftButton, pos=at)

    assert heatmap.cell_box(0, 0) == before


def test_a_zoomed_map_tells_the_cell_under_the_mouse(heatmap: Heatmap, qtbot: QtBot) -> None:
    heatmap.view.setRange(xRange=(3, 5), yRange=(1, 3), padding=0)

    with qtbot.waitSignal(heatmap.cell_clicked) as clicked:
        qtbot.mouseClick(heatmap.viewport(), Qt.MouseButton.LeftButton, pos=middle(heatmap, 2, 4))

    assert tuple(clicked.args) == (2, 4)


def test_an_empty_map_takes_clicks_and_keys(show: Callable[..., None], qtbot: QtBot) -> None:
    heatmap = Heatmap()
    show(heatmap)

    with qtbot.assertNotEmitted(heatmap.cell_clicked):
        qtbot.mouseClick(heatmap.viewport(), Qt.MouseButton.LeftButton)
        qtbot.keyClick(heatmap, Qt.Key.Key_Down)


def test_the_zoom_stays_while_the_shape_does(heatmap: Heatmap) -> None:
    heatmap.view.setRange(xRange=(1, 3), yRange=(1, 2), padding=0)
    zoomed = heatmap.cell_box(0, 0)

    heatmap.set_data(data(np.zeros((ROWS, COLUMNS))))
    assert heatmap.cell_box(0, 0) == zoomed

    heatmap.set_data(data(np.zeros((ROWS + 1, COLUMNS))))
    assert heatmap.cell_box(0, 0) != zoomed


# --- colours ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [(0, 0), (0, 4), (2, 0), (2, 4), (1, 3)])
def test_a_cell_has_the_colour_of_its_value(heatmap: Heatmap, picture: Picture, cell: tuple[int, int]) -> None:
    assert heatmap.data is not None

    assert corner_colour(heatmap, picture, *cell) == colour_of(heatmap.data.values[cell])


def test_a_cell_without_a_number_has_no_colour_of_the_map(heatmap: Heatmap, picture: Picture) -> None:
    values = np.full((ROWS, COLUMNS), 0.5)
    values[0, 1], values[0, 2], values[0, 3] = NAN, INF, -INF
    heatmap.set_data(data(values))
    shown = picture(heatmap)
    table = {QColor(*entry).name() for entry in colormaps.sequential()[:-1].tolist()}

    for column in (1, 2, 3):
        box = heatmap.cell_box(0, column).toRect().adjusted(3, 3, -3, -3)
        inside = {
            shown.pixelColor(x, y).name()
            for x in range(box.left(), box.right())
            for y in range(box.top(), box.bottom())
        }
        assert len(inside) > 1  # hatched: lines and ground
        assert inside.isdisjoint(table)


def test_one_infinite_value_leaves_the_other_colours_as_they_are(heatmap: Heatmap, picture: Picture) -> None:
    assert heatmap.data is not None
    values = heatmap.data.values.copy()
    values[2, 2] = -INF
    heatmap.set_data(data(values))

    assert corner_colour(heatmap, picture, 0, 0) == colour_of(0)
    assert corner_colour(heatmap, picture, 2, 4) == colour_of(1)


def test_a_constant_map_has_one_colour(heatmap: Heatmap, picture: Picture) -> None:
    heatmap.set_data(data(np.full((ROWS, COLUMNS), 0.25)))

    colours = {corner_colour(heatmap, picture, row, column).name() for row in range(ROWS) for column in range(COLUMNS)}
    assert colours == {colour_of(0.25).name()}


def test_signed_values_have_the_diverging_colours(heatmap: Heatmap, picture: Picture) -> None:
    values = np.zeros((ROWS, COLUMNS))
    values[0, 0], values[2, 4] = -2.0, 2.0
    heatmap.set_data(data(values, -2.0, 2.0, signed=True))

    shown = [corner_colour(heatmap, picture, *cell).name().upper() for cell in ((0, 0), (1, 1), (2, 4))]
    assert shown == list(LIGHT.diverging)


def test_rescaled_colours_leave_the_values_alone(heatmap: Heatmap, picture: Picture) -> None:
    values = np.full((ROWS, COLUMNS), 0.1)
    heatmap.set_data(HeatmapData(values, 0.0, 1.0, False, [], [], colours=values * 10))

    assert corner_colour(heatmap, picture, 0, 0) == colour_of(1.0)
    assert heatmap.data is not None
    assert heatmap.data.values[0, 0] == 0.1


def test_the_selected_cell_is_outlined_in_the_accent_colour(heatmap: Heatmap, picture: Picture) -> None:
    heatmap.set_selected((1, 3))
    shown, box = picture(heatmap), heatmap.cell_box(1, 3).toRect()

    frame = {shown.pixelColor(x, box.center().y()).name().upper() for x in (box.left() - 1, box.left(), box.left() + 1)}
    assert LIGHT.accent in frame
    assert LIGHT.accent not in {shown.pixelColor(box.center().x() + x, box.top() + 8).name().upper() for x in range(4)}


def test_a_selection_outside_the_data_is_not_drawn(heatmap: Heatmap, picture: Picture) -> None:
    before = picture(heatmap)

    heatmap.set_selected((7, 7))

    assert picture(heatmap) == before


def test_no_data_shows_nothing(heatmap: Heatmap, picture: Picture) -> None:
    heatmap.set_data(None)

    shown = picture(heatmap)
    assert len({shown.pixelColor(x, y).name() for x in range(0, 500, 7) for y in range(0, 400, 7)}) == 1


# --- maps larger than the screen -------------------------------------------------------------------------


def test_more_cells_than_pixels_are_drawn_as_tiles_until_zoomed(show: Callable[..., None], picture: Picture) -> None:
    heatmap = Heatmap()
    values = np.zeros((1000, 1000), dtype=np.float32)
    values[501, 499] = 1.0  # a single cell, smaller than a pixel
    heatmap.set_data(HeatmapData(values, 0.0, 1.0, False, [], []))
    show(heatmap, 260, 260)

    assert heatmap.pooled > 1
    shown, at = picture(heatmap), heatmap.cell_box(501, 499).center().toPoint()
    around = {shown.pixelColor(at.x() + x, at.y() + y).name() for x in range(-3, 4) for y in range(-3, 4)}
    assert colour_of(1.0).name() in around

    heatmap.view.setRange(xRange=(495, 505), yRange=(495, 505), padding=0)
    assert heatmap.pooled == 1
    assert corner_colour(heatmap, picture, 501, 499) == colour_of(1.0)


def test_the_strongest_value_of_each_tile_is_kept_with_its_sign() -> None:
    values = np.array([[1.0, -3.0, 0.5], [2.0, 0.0, -0.25], [-1.0, 4.0, 0.125]])

    assert strongest(values, 2).tolist() == [[-3.0, 0.5], [4.0, 0.125]]


def test_a_tile_ignores_what_is_no_number_unless_there_is_nothing_else() -> None:
    values = np.array([[NAN, -INF, NAN, INF], [0.25, INF, -INF, NAN]])

    reduced = strongest(values, 2)

    assert reduced[0, 0] == 0.25
    assert np.isnan(reduced[0, 1])


def test_tiles_need_not_divide_the_map() -> None:
    values = np.arange(35, dtype=np.float32).reshape(5, 7)

    assert strongest(values, 3).tolist() == [[16.0, 19.0, 20.0], [30.0, 33.0, 34.0]]


def test_the_height_that_a_width_needs_makes_square_cells(heatmap: Heatmap) -> None:
    heatmap.resize(450, heatmap.heightForWidth(450))

    everything = heatmap.cell_box(0, 0).united(heatmap.cell_box(ROWS - 1, COLUMNS - 1))
    assert everything.right() == pytest.approx(449, abs=3)
    assert everything.bottom() == pytest.approx(heatmap.height(), abs=4)
