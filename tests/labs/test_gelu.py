"""GELU and ReLU: values, derivatives, and the gap between the tanh form and the exact one."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gptviz.labs.gelu import TABLE, curves, gelu, rows


def test_the_chapter_has_the_same_values(figures: dict[str, Any]) -> None:
    chapter = {float(x): y for x, y in figures["gelu_tanh"].items()}

    assert {row.x: row.gelu for row in rows(list(chapter))} == pytest.approx(chapter, abs=5e-7)


def test_the_table_has_the_chapters_points() -> None:
    assert [row.x for row in gelu(0.25).table] == list(TABLE) == [-1, -0.5, 0, 0.5, 1, 3]


@pytest.mark.parametrize("x", [-2.7, -0.75, 0.0, 1.3, 100.0])
def test_a_row_agrees_with_torchs_own_functions(x: float) -> None:
    at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    row = gelu(x).point
    tanh, exact = functional.gelu(at, approximate="tanh"), functional.gelu(at)

    assert (row.relu, row.gelu, row.exact) == pytest.approx((max(x, 0.0), tanh.item(), exact.item()), abs=1e-6)
    assert row.gap == pytest.approx((tanh - exact).item(), abs=1e-12)
    assert row.gelu_slope == pytest.approx(torch.autograd.grad(tanh, at)[0].item(), abs=1e-6)
    assert row.exact_slope == pytest.approx(torch.autograd.grad(exact, at)[0].item(), abs=1e-6)
    assert row.relu_slope == float(x > 0)


def test_the_two_forms_differ_most_near_2_7_on_both_sides() -> None:
    found = curves()

    assert found.largest_gap == pytest.approx(4.7e-4, abs=5e-6)
    assert found.largest_gap_at == pytest.approx((-2.7, 2.7), abs=0.01)
    assert np.abs(found.gap).max() == pytest.approx(found.largest_gap, rel=1e-4)


def test_gelu_has_its_minimum_where_its_derivative_is_zero() -> None:
    where, low = curves().lowest

    assert gelu(where).point.gelu_slope == pytest.approx(0.0, abs=1e-4)
    assert low == pytest.approx(gelu(where).point.gelu)


def test_the_curves_are_what_the_rows_say() -> None:
    found = curves()

    for place in (0, 500, 800, 1600):
        row = gelu(float(found.x[place])).point
        drawn = (found.relu, found.gelu, found.exact, found.relu_slope, found.gelu_slope)
        assert [curve[place] for curve in drawn] == pytest.approx(
            [row.relu, row.gelu, row.exact, row.relu_slope, row.gelu_slope], abs=1e-6
        )
