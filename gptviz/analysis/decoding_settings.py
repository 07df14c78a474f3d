"""How the next token is chosen from the logits: the settings, checked when they are made."""

import math
from dataclasses import dataclass

LARGEST_SEED = 2**63 - 1
DEFAULT_SAMPLE_SEED = 42


class DecodingError(ValueError):
    """The settings make no sense; the message says what, why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Temperature 0 is greedy: always the likeliest token, and nothing is drawn.

    With a temperature above 0 the logits are divided by it, the ``top_k`` likeliest tokens stay (all if None), of those
    as few as together have at least the probability ``top_p`` (all if 1), and one of these is drawn. The draw follows
    from ``seed`` and the token's position alone, so going back and on again gives the same token.

    Raises
    ------
    DecodingError
        If the temperature is negative or not finite, ``top_k`` is below 1, ``top_p`` is outside (0, 1], or ``seed`` is
        outside 0 … 2^63 - 1.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = DEFAULT_SAMPLE_SEED

    def __post_init__(self) -> None:
        if not math.isfinite(self.temperature) or self.temperature < 0:
            raise DecodingError(f"the temperature must be a finite number of at least 0, but is {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise DecodingError(f"top-k must be at least 1, so that a token is left, but is {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise DecodingError(f"top-p must be above 0 and at most 1, but is {self.top_p}")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise DecodingError(f"the seed must be between 0 and 2^63 - 1, but is {self.seed}")

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is taken, without a draw."""
        return self.temperature == 0

    @property
    def description(self) -> str:
        """The settings in one line."""
        if self.greedy:
            return "greedy, deterministic"
        parts = [f"temperature {self.temperature:g}"]
        if self.top_k is not None:
            parts.append(f"top-k {self.top_k:,}")
        if self.top_p < 1:
            parts.append(f"top-p {self.top_p:g}")
        return " · ".join([*parts, f"seed {self.seed}"])

    @property
    def brief(self) -> str:
        """The settings in a few letters."""
        if self.greedy:
            return "greedy, deterministic"
        k = "" if self.top_k is None else f" · k {self.top_k:,}"
        p = "" if self.top_p == 1 else f" · p {self.top_p:g}"
        return f"T {self.temperature:g}{k}{p} · seed {self.seed}"


GREEDY = Decoding()
