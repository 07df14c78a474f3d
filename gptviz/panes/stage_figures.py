"""A stage's numbers as the Stage pane and the slides show them: figures, and matrices as colours."""

from collections.abc import Iterable, Sequence
from types import MappingProxyType

from gptviz.analysis.stage_tensor import Matrix, Statistics
from gptviz.widgets.heatmap import HeatmapData
from gptviz.widgets.text import number

NOUNS = MappingProxyType({"feature": "features", "key": "keys", "token": "token IDs"})  # by what columns are
_SIDE_BY_SIDE = 128  # columns of a matrix, at most

EXTREMES = ("min", "max")  # the figures that are numbers of the stage


def pairs(measured: Statistics) -> list[tuple[str, str]]:
    """Name what was measured; what was left out is told too."""
    pairs = [
        ("min", number(measured.minimum)),
        ("max", number(measured.maximum)),
        ("mean", number(measured.mean, 3)),
        ("std", number(measured.deviation)),
    ]
    if measured.minus_infinite:
        pairs.append(("−∞, left out", f"{measured.minus_infinite:,}"))
    if measured.others:
        pairs.append(("NaN or ∞, left out", f"{measured.others:,}"))
    return pairs


def heatmap_data(matrix: Matrix, limit: float, labels: Sequence[str]) -> HeatmapData:
    """Return ``matrix`` with its colours, up to ``limit`` where they are signed; ``labels`` name all positions."""
    rows = labels[matrix.positions.start : matrix.positions.stop]
    across = rows if matrix.columns == "key" and matrix.whole else []
    low, high = (0.0, 1.0) if matrix.shares else (-limit, limit)
    return HeatmapData(matrix.shown, low, high, not matrix.shares, rows, across)


def all_narrow(matrices: Iterable[Matrix | None]) -> bool:
    """Tell whether the matrices fit side by side."""
    return all(
        matrix.columns == "key" or matrix.values.shape[1] <= _SIDE_BY_SIDE for matrix in matrices if matrix is not None
    )
