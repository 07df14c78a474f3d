"""From logits to the next token: temperature, top-k, top-p and a seeded draw, as plain arithmetic on arrays.

Sources: Fan et al. (2018), "Hierarchical Neural Story Generation" (top-k); Holtzman et al. (2020), "The Curious Case of
Neural Text Degeneration" (top-p).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gptviz.analysis.candidates import Candidate, Ranking, ranking, softmax, top_candidates
from gptviz.analysis.decoding_settings import Decoding

Array = np.ndarray[Any, np.dtype[Any]]


class DrawError(ValueError):
    """There is nothing to draw from; the message says why."""


@dataclass(frozen=True)
class Decoded:
    """What decoding makes of the logits of one position. Arrays (V,) are likeliest first; equal logits go by ID.

    ``tempered`` is the softmax of logits / temperature, and ``after`` what the token is drawn from: 0 where it was cut,
    and 1 for the likeliest token alone if the settings are greedy. Top-k leaves ``kept_by_k`` tokens, and top-p
    ``kept`` of these. ``draw`` is the number from 0 to 1 that decides, None if nothing is drawn; ``place`` is where the
    chosen token stands. Where the logits have no softmax, as they are NaN or infinite, all of ``after`` is NaN, and
    nothing can be drawn.
    """

    ranking: Ranking
    tempered: Array
    after: Array
    kept_by_k: int
    kept: int
    draw: float | None
    place: int

    @property
    def chosen(self) -> Candidate:
        """The chosen token, with its probability before decoding."""
        return self.ranking[self.place]

    @property
    def chance(self) -> float:
        """The probability with which the chosen token was drawn."""
        return float(self.after[self.place])

    @property
    def drawable(self) -> bool:
        """Whether there are probabilities to draw from; greedy draws nothing."""
        return self.draw is None or not np.isnan(self.after[0])

    @cached_property
    def mass_kept(self) -> float:
        """The share of the probability, at this temperature, that was not cut; it is scaled up to 1."""
        return float(self.tempered[: self.kept].sum())


@dataclass(frozen=True)
class Choice:
    """A chosen token, the probability with which it was drawn, and the likeliest tokens before decoding."""

    chosen: Candidate
    chance: float
    candidates: tuple[Candidate, ...]


def decode(ranked: Ranking, decoding: Decoding, position: int) -> Decoded:
    """Choose the token at ``position`` of the text; ``ranked`` has all V tokens.

    softmax(logits / temperature) is cut to the ``top_k`` likeliest tokens and renormalised, then cut to the fewest of
    these that have at least ``top_p`` together, and renormalised. The token at which the running total exceeds the draw
    is chosen.
    """
    if decoding.greedy:
        certain = np.zeros(len(ranked))
        certain[:1] = 1.0
        return Decoded(ranked, certain, certain, 1, 1, None, 0)
    tempered, drawn = _at_temperature(ranked.logits, decoding.temperature), draw(decoding.seed, position)
    if np.isnan(tempered[0]):
        return Decoded(ranked, tempered, tempered, tempered.size, tempered.size, drawn, 0)
    kept_by_k = tempered.size if decoding.top_k is None else min(decoding.top_k, tempered.size)
    kept = _nucleus(tempered[:kept_by_k], decoding.top_p)
    after = np.zeros_like(tempered)
    after[:kept] = tempered[:kept] / tempered[:kept].sum()
    place = int(np.searchsorted(np.cumsum(after[:kept]), drawn, side="right"))
    possible = int(np.count_nonzero(after))  # a total that is rounded to less than 1 is not to let in what has 0
    return Decoded(ranked, tempered, after, kept_by_k, kept, drawn, min(place, possible - 1))


def choose(logits: Array, decoding: Decoding, position: int, k: int) -> Choice:
    """Choose the token at ``position`` from ``logits`` (V,), and tell the ``k`` likeliest ones.

    Raises
    ------
    DrawError
        If a token is to be drawn, and the logits have no softmax.
    """
    if decoding.greedy:
        best = top_candidates(logits, max(1, k))
        return Choice(best[0], 1.0, best[:k])
    decoded = decode(ranking(logits, logits.size), decoding, position)
    if not decoded.drawable:
        raise DrawError("the logits of the last position are not all finite, so nothing can be drawn from them")
    return Choice(decoded.chosen, decoded.chance, tuple(decoded.ranking[place] for place in range(min(k, logits.size))))


def draw(seed: int, position: int) -> float:
    """Return a number from 0 (included) to 1 (excluded) that follows from ``seed`` and ``position`` alone.

    Philox is a generator that jumps to any place at once: Salmon et al. (2011), "Parallel Random Numbers: As Easy as
    1, 2, 3". NumPy promises its raw numbers to stay the same in all versions.
    """
    raw = int(np.random.Philox(key=seed, counter=position).random_raw())
    return (raw >> 11) * 2.0**-53


def _at_temperature(logits: Array, temperature: float) -> Array:
    """Return softmax(logits / temperature); the largest is subtracted first, so that nothing overflows."""
    with np.errstate(over="ignore", invalid="ignore"):  # −∞ is right for what is far below at a temperature near 0
        below = logits.astype(np.float64) - float(logits.max())
        return softmax(below / temperature)


def _nucleus(probabilities: Array, top_p: float) -> int:
    """Return how many of ``probabilities``, largest first, are needed to have ``top_p`` of their sum."""
    if top_p >= 1:
        return probabilities.size
    shares = np.cumsum(probabilities / probabilities.sum())
    return min(int(np.searchsorted(shares, top_p, side="left")) + 1, probabilities.size)
