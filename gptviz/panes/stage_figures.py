"""The figures of a stage's numbers, as the Stage pane writes them."""

from gptviz.analysis.stage_tensor import Statistics
from gptviz.widgets.text import number

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
