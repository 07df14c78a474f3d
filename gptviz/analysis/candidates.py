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

    They are ordered as ``likeliest_first`` does.
    """
    probabilities = softmax(logits)
    order = largest_first(logits, max(0, k))
    return Ranking(order, logits[order], probabilities[order])


def largest_first(logits: Array, k: int) -> Array:
    """Return the first ``k`` of ``likeliest_first``; a few are found without putting all in order."""
    if 0 < k < logits.size // _FEW:
        least = np.partition(logits, logits.size - k)[logits.size - k]
        places = np.flatnonzero(logits >= least)  # by ID, with all that equal the last one
        if k <= places.size < logits.size // _FEW and not np.isnan(logits).any():
            return places[np.argsort(-logits[places], kind="stable")][:k]
    return likeliest_first(logits)[:k]


def top_candidates(logits: Array, k: int) -> tuple[Candidate, ...]:
    """Return the ``k`` likeliest tokens of ``logits`` (V,), as ``ranking`` orders them."""
    ranked = ranking(logits, k)
    return tuple(ranked[place] for place in range(len(ranked)))


def likeliest_first(logits: Array) -> Array:
    """Return the IDs (V,) by falling logit, in the order in which argmax would take them.

    Equal logits go by ID. NaN, which a broken model gives, goes before all numbers, as the model's argmax takes it.
    """
    missing = np.isnan(logits)
    if missing.any():
        return np.lexsort((-logits, ~missing))
    return np.argsort(-logits, kind="stable")


def runner_up(logits: Array, token: int) -> int:
    """Return the likeliest of the tokens other than ``token``, of ``logits`` (V,); ``token`` if there is no other."""
    others = np.delete(logits, token)
    place = int(others.argmax()) if others.size else token
    return place + 1 if others.size and place >= token else place


def softmax(logits: Array) -> Array:
    """Return exp(x) / Σ exp(x) of ``logits`` (V,) in double precision, with the maximum subtracted first.

    All are NaN if there is none: where a logit is NaN or +∞, or all are −∞.
    """
    with np.errstate(invalid="ignore"):
        shifted = np.exp(logits.astype(np.float64) - float(logits.max()))
        result: Array = shifted / shifted.sum()
    return result
