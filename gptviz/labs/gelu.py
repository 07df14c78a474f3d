"""GELU and ReLU: the curves, their derivatives, and what the tanh form leaves out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gptviz.model.layers import GELU

Array = np.ndarray[Any, np.dtype[Any]]

TABLE = (-1.0, -0.5, 0.0, 0.5, 1.0, 3.0)
LIMIT = 4.0  # the curves run from -LIMIT to LIMIT
_POINTS = 1601
_FINE = 160_001  # for the largest gap


@dataclass(frozen=True)
class ActivationRow:
    """The functions and their derivatives at one ``x``; ``gap`` is the tanh form minus the exact one."""

    x: float
    relu: float
    gelu: float  # the tanh form, as the model computes it
    exact: float
    gap: float
    relu_slope: float
    gelu_slope: float
    exact_slope: float
    inner: float  # √(2/π) · (x + 0.044715 x³), of which the tanh form takes the tanh


@dataclass(frozen=True)
class Curves:
    """The same along the axis, each (points,), and where the two forms of GELU differ most."""

    x: Array
    relu: Array
    gelu: Array
    exact: Array
    gap: Array
    relu_slope: Array
    gelu_slope: Array
    lowest: tuple[float, float]  # GELU's minimum: where, and how low
    largest_gap: float
    largest_gap_at: tuple[float, float]  # on the negative and on the positive side


@dataclass(frozen=True)
class GeluResult:
    """What the lab shows: the curves, the table, and the same at the point that is moved."""

    curves: Curves
    table: tuple[ActivationRow, ...]
    point: ActivationRow


def gelu(point: float) -> GeluResult:
    """Return everything the lab shows, with the movable point at ``point``."""
    *table, moved = rows((*TABLE, point))
    return GeluResult(curves(), tuple(table), moved)


def rows(points: Sequence[float]) -> tuple[ActivationRow, ...]:
    """Return what the functions make of ``points``: in single precision, as in the model.

    The gap alone is computed in double precision.
    """
    x = torch.tensor(points, dtype=torch.float32)
    relu, gelu, exact = nn.ReLU(), GELU(), exact_gelu
    columns = (
        x,
        relu(x),
        gelu(x),
        exact(x),
        gap(torch.tensor(points, dtype=torch.float64)),
        slope(relu, x),
        slope(gelu, x),
        slope(exact, x),
        math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3),
    )
    return tuple(
        ActivationRow(float(point), *values)
        for point, (_, *values) in zip(points, zip(*(column.tolist() for column in columns), strict=True), strict=True)
    )


@cache
def curves() -> Curves:
    """Return everything along the axis from -LIMIT to LIMIT."""
    x = torch.linspace(-LIMIT, LIMIT, _POINTS, dtype=torch.float64)
    relu, gelu = nn.ReLU(), GELU()
    fine = torch.linspace(-LIMIT, LIMIT, _FINE, dtype=torch.float64)
    values, difference = gelu(fine), gap(fine).abs()
    middle = _FINE // 2
    left, right = int(difference[:middle].argmax()), middle + int(difference[middle:].argmax())
    low = int(values.argmin())
    return Curves(
        x=_array(x),
        relu=_array(relu(x)),
        gelu=_array(gelu(x)),
        exact=_array(exact_gelu(x)),
        gap=_array(gap(x)),
        relu_slope=_array(slope(relu, x)),
        gelu_slope=_array(slope(gelu, x)),
        lowest=(float(fine[low]), float(values[low])),
        largest_gap=float(difference.max()),
        largest_gap_at=(float(fine[left]), float(fine[right])),
    )


def exact_gelu(x: Tensor) -> Tensor:
    """Return x · Φ(x), with Φ the cumulative distribution of a standard normal variable.

    Source: Hendrycks, Gimpel (2016), "Gaussian Error Linear Units (GELUs)".
    """
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2.0)))


def gap(x: Tensor) -> Tensor:
    """Return the tanh form minus the exact form."""
    tanh: Tensor = GELU()(x)
    return tanh - exact_gelu(x)


def slope(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return the derivative of ``function`` at each x, as autograd computes it; ReLU has 0 at 0 by its convention."""
    at = x.detach().clone().requires_grad_()
    with torch.enable_grad():
        (derivative,) = torch.autograd.grad(function(at).sum(), at)
    return derivative


def _array(values: Tensor) -> Array:
    result: Array = values.detach().numpy()
    return result
