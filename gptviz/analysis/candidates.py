"""The likeliest next tokens."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Candidate:
    """A token that could come next: its ID, its raw logit, its share of the softmax over the whole vocabulary."""

    id: int
    logit: float
    probability: float


def top_candidates(logits: Array, k: int) -> tuple[Candidate, ...]:
    """Return the ``k`` tokens with the largest of ``logits`` (V,), largest first; never more than V.

    Equal logits are ordered by ID, as argmax does.
    """
    k = max(0, min(k, logits.size))
    probabilities = softmax(logits)
    order = np.argsort(-logits, kind="stable")[:k]
    return tuple(Candidate(int(i), float(logits[i]), float(probabilities[i])) for i in order)


def softmax(logits: Array) -> Array:
    """Return exp(x) / Σ exp(x) of ``logits`` (V,) in double precision, with the maximum subtracted first."""
    shifted = np.exp(logits.astype(np.float64) - float(logits.max()))
    result: Array = shifted / shifted.sum()
    return result
