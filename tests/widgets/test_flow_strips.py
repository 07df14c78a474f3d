"""Pooling: a cell is the value furthest from zero of those it stands for."""

import numpy as np
from PySide6.QtGui import QColor

from gptviz.widgets import colormaps
from gptviz.widgets.flow_strips import Strips, StripValues, furthest, usual_limit
from gptviz.widgets.theme import LIGHT


def test_a_cell_keeps_the_value_furthest_from_zero_with_its_sign() -> None:
    values = np.array([[1.0, -3.0, 2.0, 0.5], [0.0, 1.0, -4.0, 4.5]])

    assert furthest(values, 1, 2).tolist() == [[-3.0, 2.0], [1.0, 4.5]]
    assert furthest(values, 2, 2).tolist() == [[-3.0, 4.5]]


def test_the_last_cell_may_stand_for_fewer_values() -> None:
    assert furthest(np.arange(5.0).reshape(1, 5), 1, 2).tolist() == [[1.0, 3.0, 4.0]]
    assert furthest(np.arange(5.0).reshape(5, 1), 2, 1).tolist() == [[1.0], [3.0], [4.0]]


def test_masked_values_are_passed_over_and_a_cell_of_them_alone_is_no_number() -> None:
    cells = furthest(np.array([[-np.inf, 0.5, -np.inf, np.nan]]), 1, 2)

    assert cells[0, 0] == 0.5
    assert np.isnan(cells[0, 1])


def test_a_few_far_values_do_not_make_the_others_pale() -> None:
    cells = np.ones((1, 1000))
    cells[0, 0] = 3000.0

    assert usual_limit(cells) == 1.0
    assert usual_limit(np.zeros((2, 2))) == 1.0


def test_rows_of_the_picture_are_rows_of_the_tensor() -> None:
    strips = Strips()
    strips.values = lambda name: StripValues(np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]))

    strip = strips.strip("norm1", 30, 40)

    assert strip is not None
    assert (strip.image.width(), strip.image.height()) == (3, 2)
    negative, positive = (QColor(*colormaps.diverging(LIGHT)[place].tolist()) for place in (0, 254))
    assert {strip.image.pixelColor(x, 0).name() for x in range(3)} == {negative.name()}
    assert {strip.image.pixelColor(x, 1).name() for x in range(3)} == {positive.name()}


def test_a_picture_is_made_once_until_it_is_forgotten() -> None:
    asked = []
    strips = Strips()
    strips.values = lambda name: asked.append(name) or StripValues(np.zeros((2, 8)))

    first = strips.strip("norm1", 30, 40)
    assert strips.strip("norm1", 30, 40) is first
    assert asked == ["norm1"]
    strips.forget(lambda name: name == "norm1")
    assert strips.strip("norm1", 30, 40) is not first


def test_what_is_not_at_hand_has_no_picture() -> None:
    assert Strips().strip("norm1", 30, 40) is None
