"""Figures of a whole text from the surprisal of its tokens; without NumPy, as the window needs them early."""

import math
from collections.abc import Sequence


def mean_surprisal(bits: Sequence[float]) -> float | None:
    """Return the mean over all tokens but the first, in bits; None for a single token."""
    return math.fsum(bits[1:]) / (len(bits) - 1) if len(bits) > 1 else None


def perplexity(mean_bits: float) -> float:
    """Return 2^mean: among how many equally likely tokens the model would have been as unsure; ∞ if beyond floats."""
    return 2.0**mean_bits if mean_bits < 1024 else math.inf
