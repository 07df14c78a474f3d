"""How much each token of a text surprises the model."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_ROWS = 64  # of logits that are worked on at a time: a row of 50,257 in double precision has 400 kB


def surprisals(logits: Array, ids: Array, on_part: Callable[[], object] = lambda: None) -> Array:
    """Return −log₂ p of each token, in bits: (T,), of the logits (T, V) and the token IDs (T,).

    The logits at a position are about the token after it, so token t is judged by position t − 1, which has seen
    the tokens before it and not t itself. The first token has nothing before it: its place holds NaN.
    ``on_part`` is called before each part of the work; an exception that it raises ends the work.
    """
    bits = np.full(len(ids), np.nan)
    for start in range(0, len(ids) - 1, _ROWS):
        on_part()
        rows = logits[start : min(start + _ROWS, len(ids) - 1)].astype(np.float64)
        highest = rows.max(axis=-1)
        total = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=-1))
        places = np.arange(len(rows))
        bits[start + 1 : start + 1 + len(rows)] = (total - rows[places, ids[start + 1 + places]]) / math.log(2)
    return bits
