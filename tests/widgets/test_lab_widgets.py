"""What labs are made of: columns, pictures of a network and of numbers, and the machine's memory."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from reading import painted_words

from gptviz.labs.machine import available_memory
from gptviz.widgets.curve_plot import CurveStyle
from gptviz.widgets.lab_columns import LabColumns
from gptviz.widgets.layer_plot import LayerPlot
from gptviz.widgets.math_number import bracketed, set_number
from gptviz.widgets.network_picture import NetworkPicture
from gptviz.widgets.number_line import NumberLine

Show = Callable[..., None]


@pytest.mark.parametrize(("width", "below"), [(900, False), (480, True)])
def test_the_last_column_stands_below_where_there_is_no_room(show: Show, width: int, below: bool) -> None:
    first, last = QLabel("first"), QLabel("last")

    show(LabColumns([([first], 216, 216), ([last], 400, 600)]), width, 300)

    window = first.window()
    top, left = (last.mapTo(window, last.rect().topLeft()) for _ in range(2))
    assert (top.y() > first.height() // 2) == below
    assert (left.x() > 216) != below


def test_columns_become_no_wider_than_they_may(show: Show) -> None:
    fixed, wide = QLabel("fixed"), QLabel("wide")

    show(LabColumns([([fixed], 200, 200), ([wide], 300, 500)]), 1400, 200)

    assert (fixed.width(), wide.width()) == (200, 500)


def test_a_network_is_drawn_with_its_widths(show: Show) -> None:
    picture = NetworkPicture("The network")
    show(picture, 480, 100)
    picture.set_network((3, 3, 3, 1), (True, True, False))

    assert painted_words(picture) == ["3", "input", "3", "1", "3", "2", "1", "3"]
    assert picture.accessibleDescription() == "3 layers; shortcuts around 1, 2"


def test_of_a_deep_network_the_ends_are_drawn(show: Show) -> None:
    picture = NetworkPicture("The network")
    show(picture, 480, 100)
    picture.set_network((3,) * 41, (True,) * 40)

    assert [word for word in painted_words(picture) if word != "3"] == ["input", "1", "2", "…", "38", "39", "40"]


def test_numbers_are_dots_on_one_axis(show: Show) -> None:
    line = NumberLine("The row")
    show(line, 480, 120)
    line.set_rows([("x", np.array([0.0, 4.0])), ("normalised", np.array([-1.0, 1.0]))], marked=0)

    assert {"x", "normalised", "0", "2", "−2", "4"} <= set(painted_words(line))


@pytest.mark.parametrize("values", [[np.nan, np.nan], [0.0, 0.0], [1e-30, 0.0], [1e30, -1e30]])
def test_any_numbers_can_be_drawn(show: Show, values: list[float]) -> None:
    line = NumberLine("The row")
    show(line, 480, 60)

    line.set_rows([("x", np.array(values))], marked=1)

    assert line.grab().width() == 480


@pytest.mark.parametrize(
    "series", [[[0.0, 0.0], [np.nan, np.inf]], [[1e-40, 1.0], [1e38, 0.0]], [[1.0], [1.0]], [[0.1] * 100, [0.2] * 100]]
)
def test_sizes_of_every_kind_can_be_drawn(show: Show, series: list[list[float]]) -> None:
    plot = LayerPlot("Gradients", (CurveStyle("a", "muted"), CurveStyle("b", "accent")), "layer")
    show(plot, 480, 240)

    plot.set_series(series)

    assert "layer" in painted_words(plot)


@pytest.mark.parametrize(
    ("value", "markup"),
    [
        (0.5, "0.5"),
        (3.0, "3"),
        (0.1324183, "0.1324"),
        (-0.1324183, r"\word{−0.1324}"),
        (1e-5, r"10^{\word{−5}}"),
        (2.5e-7, r"2.500 · 10^{\word{−7}}"),
        (float("nan"), r"\word{NaN}"),
        (float("-inf"), r"\word{−∞}"),
    ],
)
def test_numbers_become_markup(value: float, markup: str) -> None:
    assert set_number(value) == markup


def test_a_negative_number_is_put_in_parentheses() -> None:
    assert bracketed(set_number(-2.0)) == r"\paren{\word{−2}}"
    assert bracketed(set_number(2.0)) == "2"


def test_the_machine_has_some_memory() -> None:
    assert 2**26 < available_memory() < 2**50
