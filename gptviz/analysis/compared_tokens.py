"""Two runs side by side: the likeliest tokens of each, and a head of each with their difference."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.attention import head_map as map_of
from gptviz.analysis.candidates import largest_first, softmax

if TYPE_CHECKING:
    from gptviz.analysis.comparison import Run

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class RankedToken:
    """A token of a ranking, and what became of it in the other run: None where that does not know it."""

    id: int
    rank: int  # from 1
    probability: float
    other_rank: int | None
    other_probability: float | None


def ranked_tokens(logits: Array, other: Array | None, k: int) -> tuple[RankedToken, ...]:
    """Rank the ``k`` likeliest of ``logits`` (V,), with rank and probability of each in ``other`` (V',) if given."""
    probabilities = softmax(logits)
    others = None if other is None else softmax(other)
    found = []
    for place, token in enumerate(largest_first(logits, max(0, k)).tolist()):
        known = other is not None and token < other.size
        found.append(
            RankedToken(
                token,
                place + 1,
                float(probabilities[token]),
                rank_of(other, token) if known and other is not None else None,
                float(others[token]) if known and others is not None else None,
            )
        )
    return tuple(found)


def rank_of(logits: Array, token: int) -> int:
    """Return the rank of ``token``, from 1, in the order of ``likeliest_first``."""
    missing = np.isnan(logits)
    if missing[token]:
        return 1 + int(missing[:token].sum())
    above = int((logits > logits[token]).sum()) + int(missing.sum())
    return 1 + above + int((logits[:token] == logits[token]).sum())


def head_map(run: "Run", layer: int, head: int, view: str) -> tuple[Array | None, str]:
    """Return a head's map (T, T), or None and why there can be none; empty if it is not at hand."""
    if layer >= run.config.n_layers:
        return None, f"It has no block {layer + 1}."
    if head >= run.config.n_heads:
        return None, f"It has no head {head + 1}."
    values = map_of(run.trace, layer, head, view, run.row)
    return values, ""


def map_difference(a: Array, b: Array) -> Array:
    """Return b - a over the tokens that both maps have, (t, t); NaN where both are masked by −∞."""
    t = min(len(a), len(b))
    one, other = a[:t, :t], b[:t, :t]
    with np.errstate(invalid="ignore"):
        result: Array = other - one
    return result
