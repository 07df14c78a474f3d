"""What the lab of placeholders is asked, and the words of its answer; without torch, for the pane."""

from dataclasses import dataclass
from enum import StrEnum

from gptviz.model.config import GPT2_SMALL, TINY, GPTConfig
from gptviz.model.parts import Part

CHAPTER_TEXTS = ("Every effort moves you", "Every day holds a")
MOST_TOKENS = 64  # of a text: so that the lab answers at once


class Change(StrEnum):
    """How a stage's numbers compare with those of the run before."""

    FIRST = "first run"
    NEW = "new"  # the stage was not there
    SAME = "same"
    OTHER_SHAPE = "other shape"
    CHANGED = "changed"


@dataclass(frozen=True)
class ShellRequest:
    """What is to be run. ``dropout``: in training mode, as the chapter's own run. ``keep_weights``: see ``run``."""

    config: GPTConfig = TINY
    real: frozenset[Part] = frozenset()
    seed: int = 123
    texts: tuple[str, ...] = CHAPTER_TEXTS
    dropout: bool = False
    keep_weights: bool = False


# The chapter runs its shell in training mode, with dropout.
CHAPTER_RUN = ShellRequest(config=GPT2_SMALL, dropout=True)
