"""What steps cost with and without the key/value cache, measured one after the other on the same text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CostRow:
    """One step both ways.

    ``context_tokens`` positions are computed without the cache, ``computed`` with it. ``difference`` is the largest
    distance of two logits; ``agrees`` tells whether both ways chose the same token.
    """

    context_tokens: int
    computed: int
    plain_ms: float
    cached_ms: float
    difference: float
    agrees: bool


@dataclass(frozen=True)
class Costs:
    """The steps measured so far for the text ``ids``, and the cache after the last one.

    ``shape`` is that of all keys, and of all values: (L, B, H, T, D).
    """

    ids: tuple[int, ...] = ()
    rows: tuple[CostRow, ...] = ()
    shape: tuple[int, ...] = ()
    nbytes: int = 0
    allocated: int = 0  # bytes that the cache has room for
    complete: bool = False
