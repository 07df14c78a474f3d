"""The likeliest next tokens."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_FEW = 8  # a share of 1 / 8 of all


@dataclass(frozen=True)
class Candidate:
    """A token that could come next: its ID, its raw logit, its share of the softmax over the whole vocabulary."""

    id: int
    logit: float
    probability: float


@dataclass(frozen=True)
class Ranking:
    """The k likeliest tokens, likeliest first, as arrays (k,)."""

    ids: Array
    logits: Array
    probabilities: Array

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, place: int) -> Candidate:
        return Candidate(int(self.ids[place]), float(self.logits[place]), float(self.probabilities[place]))


def ranking(logits: Array, k: int) -> Ranking:
    """Rank the ``k`` tokens with the largest of ``logits`` (V,); never more than V, never fewer than none.

    Equal logits are ordered by ID, as argmax does.
    """
    probabilities = softmax(logits)
    order = _largest_first(logits, max(0, k))
    return Ranking(order, logits[order], probabilities[order])


def _largest_first(logits: Array, k: int) -> Array:
    """Return where the ``k`` largest are; a few are found without putting all in order."""
    if 0 < k < logits.size // _FEW:
        least = np.partition(logits, logits.size - k)[logits.size - k]
        places = np.flatnonzero(logits >= least)  # by ID, with all that equal the last one
        if k <= places.size < logits.size // _FEW:  # not so if some are NaN
            return places[np.argsort(-logits[places], kind="stable")][:k]
    return np.argsort(-logits, kind="stable")[:k]


def top_candidates(logits: Array, k: int) -> tuple[Candidate, ...]:
    """Return the ``k`` likeliest tokens of ``logits`` (V,), as ``ranking`` orders them."""
    ranked = ranking(logits, k)
    return tuple(ranked[place] for place in range(len(ranked)))


def softmax(logits: Array) -> Array:
    """Return exp(x) / Σ exp(x) of ``logits`` (V,) in double precision, with the maximum subtracted first."""
    shifted = np.exp(logits.astype(np.float64) - float(logits.max()))
    result: Array = shifted / shifted.sum()
    return result
