"""Which matrix of a stage's tensor is shown for a selection, and its statistics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gptviz.capture.stages import Stage
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]

MOST_VALUES = 2**22  # of a matrix: what can be shown and measured at once without a wait
_VAST = 1e15  # a size from which on squares are taken in double precision
_SHARES = ("att.weights", "att.dropout")  # between 0 and 1; later keys hold softmax's zeros


@dataclass(frozen=True)
class Statistics:
    """Of the finite ``count`` values; ``deviation`` is the population's. The others are counted apart."""

    count: int
    minimum: float
    maximum: float
    mean: float
    deviation: float
    minus_infinite: int = 0
    others: int = 0  # +∞ and NaN


@dataclass(frozen=True)
class Matrix:
    """The part of a stage's tensor that is shown: tokens down, ``columns`` across.

    ``values`` share the trace's memory. ``shown`` are the same values with NaN where a cell is masked.
    ``positions`` are the token positions of the rows; ``columns`` is one of feature, key, token.
    """

    stage: "Stage"
    values: Array
    positions: range
    columns: str
    masked: str = ""  # what a hatched cell means; empty if there is none
    shares: bool = False
    all_positions: int = 0

    @property
    def whole(self) -> bool:
        """Whether no token position was left out."""
        return len(self.positions) == self.all_positions

    @property
    def shown(self) -> Array:
        if not self.shares:
            return self.values
        shown: Array = self.values.copy()
        shown[future(len(shown))] = np.nan
        return shown


def stage_matrix(
    trace: "Trace", stage: "Stage", row: int, head: int, token: int, *, whole: bool = False
) -> Matrix | None:
    """Return the matrix of ``stage`` to be shown; None while its tensor is not at hand.

    It is the sequence ``row``'s, in attention the ``head``'s. A matrix of more than MOST_VALUES values keeps
    the rows around ``token``, unless it is to be ``whole``. Token IDs have no matrix: see ``token_ids``.
    """
    if not trace.has(stage.name):
        return None
    values = trace.array(stage.name)
    if stage.dims.startswith("B"):
        values = values[row]
    if stage.dims.startswith("BH"):
        values = values[head]
    if stage.dims == "BV":
        return Matrix(stage, values[None], range(trace.tokens - 1, trace.tokens), "token", all_positions=1)
    positions = range(len(values)) if whole else rows_around(token, *values.shape)
    square = stage.dims == "BHTT"
    shares = stage.local_name in _SHARES
    masked = "masked" if shares else "−∞" if stage.local_name == "att.masked" else ""
    columns = "key" if square else "token" if stage.dims.endswith("V") else "feature"
    part = values[positions.start : positions.stop]
    return Matrix(stage, part, positions, columns, masked if trace.tokens > 1 else "", shares, len(values))


def part_shown(matrix: Matrix, batch: int, row: int, head: int) -> str:
    """Say which part of its stage's tensor ``matrix`` is; empty if it is all of it."""
    parts = []
    if batch > 1 and matrix.stage.dims.startswith("B"):
        parts.append(f"sequence {row + 1}")
    if matrix.stage.dims.startswith("BH"):
        parts.append(f"head {head + 1}")
    if not matrix.whole:
        parts.append(f"tokens {matrix.positions.start}–{matrix.positions.stop - 1} of {matrix.all_positions:,}")
    return ", ".join(parts)


def token_ids(trace: "Trace", stage: "Stage", row: int) -> tuple[int, ...] | None:
    """Return the token IDs that ``ids`` or ``next`` hold for the sequence ``row``; None if not at hand."""
    return tuple(trace.array(stage.name)[row].tolist()) if trace.has(stage.name) else None


def rows_around(token: int, rows: int, columns: int) -> range:
    """Return which of ``rows`` are shown: all, or as many around ``token`` as MOST_VALUES allows."""
    count = min(rows, max(1, MOST_VALUES // max(1, columns)))
    start = min(max(0, token - count // 2), rows - count)
    return range(start, start + count)


def statistics(values: Array) -> Statistics:
    """Measure ``values`` of any shape, in few passes: a million of them take about a millisecond."""
    low, high = (float(values.min()), float(values.max())) if values.size else (np.nan, np.nan)
    if np.isfinite(low) and np.isfinite(high):
        return _of_finite(values.ravel(), low, high)
    finite = values[np.isfinite(values)]
    minus = int(np.isneginf(values).sum())
    others = values.size - finite.size - minus
    if not finite.size:
        return Statistics(0, np.nan, np.nan, np.nan, np.nan, minus, others)
    return _of_finite(finite, float(finite.min()), float(finite.max()), minus, others)


def extreme(values: Array, largest: bool) -> tuple[int, int]:
    """Return row and column of the largest or the least of the finite ``values``, the first of equal ones."""
    edge = -np.inf if largest else np.inf
    finite = np.where(np.isfinite(values), values, edge)
    place = int(finite.argmax() if largest else finite.argmin())
    return place // values.shape[1], place % values.shape[1]


def limit(values: Array) -> float:
    """Return the largest finite absolute value, or 1 if there is none above 0."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return max(-low, high) or 1.0


def _of_finite(values: Array, low: float, high: float, minus: int = 0, others: int = 0) -> Statistics:
    if max(-low, high) > _VAST:
        values = values.astype(np.float64)  # in single precision the squares would be infinite
    mean = float(values.mean(dtype=np.float64))
    centred = values - values.dtype.type(mean)
    square = float(np.dot(centred, centred)) / values.size - (mean - float(values.dtype.type(mean))) ** 2
    return Statistics(values.size, low, high, mean, max(0.0, square) ** 0.5, minus, others)


def unchanged(before: Matrix, after: Matrix) -> bool:
    """Tell whether two matrices hold the same values, one by one."""
    same = before.values.shape == after.values.shape and np.shares_memory(before.values, after.values)
    return same or bool(np.array_equal(before.values, after.values, equal_nan=True))


def future(size: int) -> Array:
    """Return where a key comes after the query: (size, size), True above the diagonal."""
    places = np.arange(size)
    result: Array = places[None, :] > places[:, None]
    return result
