"""Colours for numbers, and one look for no number."""

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QColor

from gptviz.widgets import colormaps
from gptviz.widgets.theme import DARK, LIGHT, Theme

NAN, INF = float("nan"), float("inf")


def test_the_indices_go_from_the_lowest_to_the_highest_value() -> None:
    values = np.array([[0.0, 0.5, 1.0]], dtype=np.float32)

    assert colormaps.indices(values, 0.0, 1.0).tolist() == [[0, 127, 254]]


def test_values_outside_the_range_get_the_colours_of_its_ends() -> None:
    assert colormaps.indices(np.array([-5.0, 5.0]), 0.0, 1.0).tolist() == [0, 254]


def test_what_is_no_number_has_no_colour() -> None:
    values = np.array([NAN, INF, -INF, 0.0])

    assert colormaps.indices(values, -1.0, 1.0).tolist() == [colormaps.NO_NUMBER] * 3 + [127]


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_constant_has_the_middle_colour(value: float) -> None:
    assert colormaps.indices(np.full((2, 2), value), value, value).tolist() == [[127, 127], [127, 127]]


def test_a_range_of_nothing_still_leaves_nan_without_colour() -> None:
    assert colormaps.indices(np.array([NAN, 1.0]), 1.0, 1.0).tolist() == [colormaps.NO_NUMBER, 127]


def test_zero_is_neutral_and_signs_are_opposite() -> None:
    index = colormaps.indices(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), -2.0, 2.0)

    assert index.tolist() == [0, 63, 127, 190, 254]


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ([-3.0, 1.0], 3.0),
        ([1.0, 2.0], 2.0),
        ([-INF, NAN, 0.5, -0.25], 0.5),
        ([0.0, 0.0], 1.0),
        ([NAN, -INF], 1.0),
        ([], 1.0),
    ],
)
def test_the_limit_is_the_largest_finite_size_and_never_zero(values: list[float], limit: float) -> None:
    assert colormaps.symmetric_limit(np.array(values, dtype=np.float32)) == limit


def test_weights_are_coloured_with_viridis() -> None:
    viridis = pg.colormap.get("viridis").map(np.linspace(0, 1, 255))

    assert np.abs(colormaps.sequential()[:-1].astype(int) - viridis).max() <= 1


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signed_values_have_the_themes_colours_at_the_ends_and_the_middle(theme: Theme) -> None:
    table = colormaps.diverging(theme)

    assert [QColor(*table[place].tolist()).name().upper() for place in (0, 127, 254)] == [
        stop.upper() for stop in theme.diverging
    ]


def test_no_number_is_transparent_in_every_map() -> None:
    for table in (colormaps.sequential(), colormaps.diverging(LIGHT), colormaps.diverging(DARK)):
        assert table[colormaps.NO_NUMBER, 3] == 0
        assert (table[: colormaps.NO_NUMBER, 3] == 255).all()


def test_the_sequential_map_can_be_read_in_greyscale() -> None:
    lightness = colormaps.sequential()[:-1, :3] @ np.array([0.2126, 0.7152, 0.0722])

    assert (np.diff(lightness) >= -0.5).all()
    assert lightness[-1] - lightness[0] > 150


def test_an_image_has_rows_down_and_columns_across(qapp: object) -> None:
    index = np.array([[0, 127, 254], [254, 255, 0]], dtype=np.uint8)
    table = colormaps.sequential()

    image = colormaps.indexed_image(index, table)

    assert (image.width(), image.height()) == (3, 2)
    pixels = [[image.pixelColor(column, row).getRgb() for column in range(3)] for row in range(2)]
    assert pixels == [[tuple(table[place].tolist()) for place in row] for row in index]
