"""Small maps: the heads of one layer, or of all."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.widgets import colormaps
from gptviz.widgets.head_grid import HeadGrid
from gptviz.widgets.theme import LIGHT

LAYERS, HEADS, TOKENS = 2, 5, 2
Picture = Callable[[QWidget], QImage]


def share(layer: int, head: int) -> float:
    """The one free weight of a map: how much the second token looks at the first."""
    return (layer * HEADS + head) / (LAYERS * HEADS)


def maps() -> list[np.ndarray]:
    return [
        np.array([[[1.0, 0.0], [share(layer, head), 1 - share(layer, head)]] for head in range(HEADS)])
        for layer in range(LAYERS)
    ]


@pytest.fixture
def grid(show: Callable[..., None]) -> HeadGrid:
    grid = HeadGrid()
    grid.set_maps(maps(), HEADS)
    show(grid, 420, 300)
    return grid


def colour_of(value: float) -> QColor:
    return QColor(*colormaps.sequential()[colormaps.indices(np.array([value]), 0.0, 1.0)[0]].tolist())


def cell_colour(shown: QImage, grid: HeadGrid, head: tuple[int, int], row: int, column: int) -> QColor:
    box = grid.map_box(*head)
    cell = box.width() / TOKENS
    return shown.pixelColor((box.topLeft() + QPointF((column + 0.5) * cell, (row + 0.5) * cell)).toPoint())


# --- one layer -------------------------------------------------------------------------------------------


def test_all_heads_of_the_layer_are_in_sight_and_captioned(grid: HeadGrid) -> None:
    boxes = [grid.map_box(0, head) for head in range(HEADS)]

    assert all(grid.viewport().rect().contains(box.toRect()) for box in boxes)
    assert not any(one.intersects(other) for one in boxes for other in boxes if one is not other)
    assert painted_words(grid) == [f"head {head}" for head in range(1, 6)]


@pytest.mark.parametrize("head", [0, 1, 4])
def test_a_map_shows_the_weights_of_its_head(grid: HeadGrid, picture: Picture, head: int) -> None:
    grid.set_selected(1, 0)
    shown = picture(grid)

    assert cell_colour(shown, grid, (1, head), 0, 0) == colour_of(1.0)
    assert cell_colour(shown, grid, (1, head), 1, 0) == colour_of(share(1, head))
    assert cell_colour(shown, grid, (1, head), 1, 1) == colour_of(1 - share(1, head))


def test_the_future_has_no_colour_of_the_map(grid: HeadGrid, picture: Picture) -> None:
    assert cell_colour(picture(grid), grid, (0, 0), 0, 1).name().upper() == LIGHT.raised


@pytest.mark.parametrize("head", [0, 2, 4])
def test_a_click_chooses_a_head_of_the_layer(grid: HeadGrid, qtbot: QtBot, head: int) -> None:
    grid.set_selected(1, 0)

    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.map_box(1, head).center().toPoint())

    assert chosen.args == [1, head]


def test_a_click_beside_the_maps_chooses_nothing(grid: HeadGrid, qtbot: QtBot) -> None:
    corner = grid.viewport().rect().bottomRight()

    with qtbot.assertNotEmitted(grid.chosen):
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=corner)


def test_arrows_move_the_way_they_point(grid: HeadGrid, qtbot: QtBot) -> None:
    first = grid.map_box(0, 0)
    columns = sum(grid.map_box(0, head).top() == first.top() for head in range(HEADS))
    assert 1 < columns < HEADS

    def asked(start: int, key: Qt.Key) -> int:
        grid.set_selected(0, start)
        with qtbot.waitSignal(grid.chosen) as chosen:
            qtbot.keyClick(grid, key)
        assert chosen.args[0] == 0
        return chosen.args[1]

    assert asked(1, Qt.Key.Key_Right) == 2
    assert asked(1, Qt.Key.Key_Left) == 0
    assert asked(0, Qt.Key.Key_Down) == columns
    assert asked(columns, Qt.Key.Key_Up) == 0
    assert asked(0, Qt.Key.Key_Left) == 0
    assert asked(HEADS - 1, Qt.Key.Key_Right) == HEADS - 1


def test_the_selected_head_is_framed_in_the_accent_colour(grid: HeadGrid, picture: Picture) -> None:
    grid.set_selected(0, 3)
    shown = picture(grid)

    def framed(head: int) -> bool:
        box = grid.map_box(0, head)
        around = (shown.pixelColor(int(box.left()) - offset, int(box.center().y())) for offset in (0, 1, 2))
        return LIGHT.accent in {colour.name().upper() for colour in around}

    assert [framed(head) for head in range(HEADS)] == [False, False, False, True, False]


def test_rescaled_rows_reach_the_top_of_the_map(grid: HeadGrid, picture: Picture) -> None:
    grid.set_maps(maps(), HEADS, rescale=True)

    shown = picture(grid)

    assert cell_colour(shown, grid, (0, 2), 1, 1) == colour_of(1.0)
    assert cell_colour(shown, grid, (0, 2), 1, 0) == colour_of(share(0, 2) / (1 - share(0, 2)))


# --- all layers ------------------------------------------------------------------------------------------


def test_all_layers_are_rows_and_heads_are_columns(grid: HeadGrid) -> None:
    grid.set_all_layers(True)

    assert grid.map_box(0, 1).left() > grid.map_box(0, 0).right()
    assert grid.map_box(1, 0).top() > grid.map_box(0, 0).bottom()
    assert grid.map_box(1, 3).left() == grid.map_box(0, 3).left()
    assert sorted(painted_words(grid)) == sorted(["1", "2", "1", "2", "3", "4", "5"])


@pytest.mark.parametrize("head", [(0, 0), (0, 4), (1, 0), (1, 3)])
def test_a_click_chooses_layer_and_head(grid: HeadGrid, qtbot: QtBot, head: tuple[int, int]) -> None:
    grid.set_all_layers(True)

    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.map_box(*head).center().toPoint())

    assert tuple(chosen.args) == head


def test_every_map_shows_the_weights_of_its_layer_and_head(grid: HeadGrid, picture: Picture) -> None:
    grid.set_all_layers(True)
    shown = picture(grid)

    for layer in range(LAYERS):
        for head in range(HEADS):
            assert cell_colour(shown, grid, (layer, head), 1, 0) == colour_of(share(layer, head))


@pytest.mark.parametrize(
    ("key", "head"),
    [
        (Qt.Key.Key_Up, (0, 1)),
        (Qt.Key.Key_Down, (1, 1)),
        (Qt.Key.Key_Left, (0, 0)),
        (Qt.Key.Key_Right, (0, 2)),
    ],
)
def test_arrows_move_through_layers_and_heads(grid: HeadGrid, qtbot: QtBot, key: Qt.Key, head: tuple[int, int]) -> None:
    grid.set_all_layers(True)
    grid.set_selected(0, 1)

    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.keyClick(grid, key)

    assert tuple(chosen.args) == head


def test_a_layer_that_is_not_known_has_places_without_colours(grid: HeadGrid, picture: Picture) -> None:
    grid.set_all_layers(True)
    grid.set_maps([maps()[0], None], HEADS)

    shown = picture(grid)

    assert cell_colour(shown, grid, (0, 0), 0, 0) == colour_of(1.0)
    assert cell_colour(shown, grid, (1, 4), 0, 0).name().upper() == LIGHT.raised


def test_more_layers_than_fit_can_be_scrolled_to(grid: HeadGrid) -> None:
    grid.set_all_layers(True)
    grid.set_maps([maps()[0]] * 48, HEADS)
    assert grid.map_box(47, 0).bottom() > grid.viewport().height()

    grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())

    assert grid.map_box(47, 0).bottom() <= grid.viewport().height()


def test_without_maps_clicks_and_keys_choose_nothing(show: Callable[..., None], qtbot: QtBot) -> None:
    grid = HeadGrid()
    show(grid)

    with qtbot.assertNotEmitted(grid.chosen):
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton)
        qtbot.keyClick(grid, Qt.Key.Key_Right)
