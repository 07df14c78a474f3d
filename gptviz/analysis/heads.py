"""What attention heads do: a few scores of each head, measured on its attention weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.attention import weights_at_hand

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Score:
    """One score: its stable name, its title, what it means, and its formula in ``widgets.math_markup``'s TeX.

    ``unit`` is empty for a share of attention from 0 to 1.
    """

    name: str
    title: str
    words: str
    formula: str
    unit: str = ""


_MEAN = "\\frac{1}{T − 1} \\sum{q = 1}{T − 1}"
_SINCE = "\\limit{\\word{mean}}{q ∈ S}"

SCORES: tuple[Score, ...] = (
    Score(
        "previous",
        "Previous",
        "How much of its attention a token gives to the token just before it.",
        f"{_MEAN} A_{{q,q − 1}}",
    ),
    Score(
        "first",
        "First",
        "How much of its attention a token gives to the first one. A head with nothing to do looks there: a sink.",
        f"{_MEAN} A_{{q,0}}",
    ),
    Score(
        "same",
        "Same",
        "How much of its attention a token that occurred before gives to those earlier occurrences of itself. "
        "S: the queries whose token occurred before.",
        f"{_SINCE} \\sum{{t_{{j}} = t_{{q}}, j < q}}{{}} A_{{q,j}}",
    ),
    Score(
        "induction",
        "Induction",
        "How much of its attention a token that occurred before gives to what came after its earlier occurrences: "
        "what would continue a repetition. S: the queries whose token occurred before.",
        f"{_SINCE} \\sum{{t_{{j}} = t_{{q}}, j + 1 < q}}{{}} A_{{q,j + 1}}",
    ),
    Score(
        "entropy",
        "Entropy",
        "How widely a token spreads its attention: 0 bits on one token, log₂ n when n tokens get the same.",
        f"{_MEAN} \\sum{{k = 0}}{{q}} − A_{{q,k}} \\word{{log}}_{{2}} A_{{q,k}}",
        "bits",
    ),
    Score(
        "distance",
        "Distance",
        "How many tokens back a token looks, on average.",
        f"{_MEAN} \\sum{{k = 0}}{{q}} A_{{q,k}} \\paren{{q − k}}",
        "tokens",
    ),
)
SCORE_NAMES = tuple(score.name for score in SCORES)


def head_scores(weights: Array, ids: Array) -> Array:
    """Return the scores (H, S) of attention weights (H, T, T) on the token IDs (T,), in the order of SCORES.

    Averages are over the queries, all but the first, which has no choice. The same-token and induction scores
    are averages over the queries whose token occurred before; induction counts the keys after those earlier
    occurrences, without the query itself. A score that no query counts for is NaN.

    Source of the previous-token and the induction score: Olsson et al. (2022), "In-context Learning and Induction
    Heads"; Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits".
    """
    H, T, _ = weights.shape
    if T < 2:
        return np.full((H, len(SCORES)), np.nan)
    distance = np.arange(T)[:, None] - np.arange(T)[None, :]
    later = weights[:, 1:]  # (H, T - 1, T) queries that have a choice
    with np.errstate(divide="ignore"):
        logs = np.where(later > 0, np.log2(later, where=later > 0, out=np.zeros_like(later)), 0)
    columns = (
        np.diagonal(weights, offset=-1, axis1=1, axis2=2).mean(axis=-1, dtype=np.float64),
        later[:, :, 0].mean(axis=-1, dtype=np.float64),
        _mean_where(weights, earlier_same(ids)),
        _mean_where(weights, after_earlier_same(ids)),
        -np.einsum("hqk,hqk->h", later, logs, dtype=np.float64) / (T - 1),
        np.einsum("hqk,qk->h", later, distance[1:].astype(np.float64), dtype=np.float64) / (T - 1),
    )
    return np.stack(columns, axis=-1)


def uniform_scores(ids: Array) -> Array:
    """Return the scores (S,) that a head would have if each query looked at all it may in equal shares."""
    T = len(ids)
    weights = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    result: Array = head_scores(weights[None], ids)[0]
    return result


def earlier_same(ids: Array) -> Array:
    """Return (T, T) bools: whether key k is an earlier occurrence of query q's token."""
    same: Array = np.tril(ids[:, None] == ids[None, :], -1)
    return same


def after_earlier_same(ids: Array) -> Array:
    """Return (T, T) bools: whether key k, before query q, follows an earlier occurrence of q's token."""
    after = np.zeros((len(ids), len(ids)), dtype=bool)
    after[:, 1:] = earlier_same(ids)[:, :-1]
    result: Array = np.tril(after, -1)
    return result


def _mean_where(weights: Array, keys: Array) -> Array:
    """Sum the weights (H, T, T) over ``keys`` (T, T), and average over the queries that have any: (H,)."""
    queries = keys.any(axis=-1)
    if not queries.any():
        return np.full(len(weights), np.nan)
    result: Array = np.einsum("hqk,qk->h", weights, keys.astype(np.float64), dtype=np.float64) / queries.sum()
    return result


def block_scores(trace: "Trace", layer: int) -> Array:
    """Return the scores (B, H, S) of block ``layer``; NaN where its attention weights are not at hand."""
    weights, ids = weights_at_hand(trace, layer), trace.array("ids")
    if weights is None:
        return np.full((trace.batch, trace.config.n_heads, len(SCORES)), np.nan)
    return np.stack([head_scores(own, row) for own, row in zip(weights, ids, strict=True)])


# --- the built-in probe --------------------------------------------------------------------------------------

PROBE_SEED = 0
PROBE_PERIOD = 32  # tokens, said twice
_TELLING = 16  # features of a row that are compared: learned rows that agree in so many agree in all


def probe_ids(embedding: Array, context_length: int, seed: int = PROBE_SEED) -> Array:
    """Return random tokens, said twice: (2n,) with n = 32, or half the context where that is less.

    No token is drawn twice, so whatever a head finds in the second half it finds by the repetition. Only tokens
    that the model can tell from others are drawn: those whose row of ``embedding`` (V, E) no other token has. If
    there are too few of them, all tokens may be drawn.

    Raises
    ------
    ValueError
        If the context has no room for two tokens.
    """
    period = min(PROBE_PERIOD, context_length // 2)
    if period < 1:
        raise ValueError("the context has no room for a repetition")
    dice = np.random.default_rng(seed)
    few = np.ascontiguousarray(embedding[:, :_TELLING])
    marks = few.view(np.dtype((np.void, few.dtype.itemsize * few.shape[1])))[:, 0]  # a row's bytes as one value
    _, first, count = np.unique(marks, return_index=True, return_counts=True)
    own = np.sort(first[count == 1])
    pool = own if len(own) >= period else np.arange(len(embedding))
    drawn = dice.choice(pool, period, replace=len(pool) < period)
    return np.concatenate((drawn, drawn)).astype(np.int64)
