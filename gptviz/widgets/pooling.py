"""Putting cells together where there are more of them than pixels."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_WIDE_TILE = 24  # cells, from which on reducing tile by tile is quicker than place by place


def strongest(values: Array, step: int | tuple[int, int]) -> Array:
    """Reduce ``values`` (rows, columns) to tiles of ``step`` rows and columns: the finite value furthest from zero.

    A tile without a finite value becomes NaN.
    """
    down, across = (step, step) if isinstance(step, int) else step
    low, high = _extremes(_extremes((values, values), down, 0), across, 1)
    if np.isfinite(low).all() and np.isfinite(high).all():
        return np.where(-low > high, low, high)
    finite = np.isfinite(values)
    inf = values.dtype.type(np.inf)
    pair = np.where(finite, values, inf), np.where(finite, values, -inf)
    low, high = _extremes(_extremes(pair, down, 0), across, 1)
    return np.where(np.isinf(low), np.nan, np.where(-low > high, low, high))


def _extremes(pair: tuple[Array, Array], step: int, axis: int) -> tuple[Array, Array]:
    """Return the minimum of the first and the maximum of the second array in each tile along ``axis``."""
    if step == 1:
        return pair
    low, high = (
        _tiles(array, step, axis, reduce) for array, reduce in zip(pair, (np.minimum, np.maximum), strict=True)
    )
    return low, high


def _tiles(array: Array, step: int, axis: int, reduce: np.ufunc) -> Array:
    """Apply ``reduce`` to tiles along ``axis``, the last of which may be smaller."""
    if step >= _WIDE_TILE:
        result: Array = reduce.reduceat(array, np.arange(0, array.shape[axis], step), axis=axis)
        return result
    result = (array[::step] if axis == 0 else array[:, ::step]).copy()
    for place in range(1, step):
        part = array[place::step] if axis == 0 else array[:, place::step]
        into = result[: len(part)] if axis == 0 else result[:, : part.shape[1]]
        reduce(into, part, out=into)
    return result
