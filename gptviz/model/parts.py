"""The parts of the model that a shell can have placeholders for."""

from enum import StrEnum


class Part(StrEnum):
    """What a shell has a placeholder for."""

    FINAL_NORM = "final_norm"
    BLOCK_NORMS = "block_norms"  # norm1 and norm2
    FEED_FORWARD = "feed_forward"
    SHORTCUTS = "shortcuts"
    ATTENTION = "attention"


ALL_PARTS = frozenset(Part)
BLOCK_PARTS = ALL_PARTS - {Part.FINAL_NORM}
