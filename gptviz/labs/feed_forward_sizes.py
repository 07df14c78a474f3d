"""The sizes of the feed-forward lab, and the classic mistakes; without torch, for the pane."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Sizes:
    """The batch, and what the two layers are made for."""

    batch: int = 2
    tokens: int = 3
    features: int = 768
    expand_in: int = 768
    expand_out: int = 3072
    contract_in: int = 3072
    contract_out: int = 768


class State(StrEnum):
    """What became of a step."""

    FITS = "fits"
    BROKEN = "broken"  # torch refused
    SILENT = "silent"  # torch went on, with a shape that nobody meant
    NOT_REACHED = "not reached"


class Verdict(StrEnum):
    """How the whole ended."""

    FITS = "fits"
    BREAKS_INSIDE = "breaks inside"
    WRONG_OUTSIDE = "wrong outside"
    SILENT = "silent"


@dataclass(frozen=True)
class Preset:
    """Sizes to try; ``tip`` says whose mistake they are."""

    key: str
    title: str
    tip: str
    sizes: Sizes


PRESETS = (
    Preset("chapter", "The chapter's", "768 → 3072 → 768: all numbers match", Sizes()),
    Preset(
        "not-expanded",
        "Second takes 768",
        "The second layer was written as if nothing had been expanded",
        Sizes(contract_in=768),
    ),
    Preset(
        "returns-1024", "Returns 1024", "The second layer returns the width of another model", Sizes(contract_out=1024)
    ),
    Preset("not-contracted", "Not contracted", "The second layer forgets to go back to 768", Sizes(contract_out=3072)),
    Preset(
        "swapped",
        "In and out swapped",
        "nn.Linear takes the input's size first; here it stands second",
        Sizes(expand_in=3072, expand_out=768, contract_in=768, contract_out=3072),
    ),
    Preset(
        "other-model",
        "Made for 1024",
        "Both layers belong to GPT-2 medium, the batch to GPT-2 small",
        Sizes(expand_in=1024, expand_out=4096, contract_in=4096, contract_out=1024),
    ),
    Preset(
        "transposed",
        "Features not last",
        "The batch has tokens and features the wrong way round",
        Sizes(tokens=768, features=3),
    ),
    Preset("returns-1", "Returns 1", "The addition stretches a width of 1 without a word", Sizes(contract_out=1)),
    Preset(
        "other-middle",
        "Another middle",
        "No mistake: the middle may have any width on which both layers agree",
        Sizes(expand_out=1000, contract_in=1000),
    ),
)
