"""What a flow shows: its stages in order, where each one's data comes from, and the words beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Kind(StrEnum):
    """How a stage is drawn."""

    CHIPS = "chips"  # one number a token
    FEATURES = "features"  # a strip a token
    HEAD = "head"  # a narrow strip a token: the features of one head
    WIDE = "wide"  # a strip four times as wide as FEATURES
    MAP = "map"  # tokens by tokens
    BLOCK = "block"  # a closed block: its output, narrow
    VOCABULARY = "vocabulary"  # a strip of logits a token
    LAST = "last"  # logits of the last token alone
    NEXT = "next"  # the likeliest tokens


class Lane(StrEnum):
    """The part of the river's height that a stage takes."""

    FULL = "full"
    UPPER = "upper"
    LOWER = "lower"
    QUERY = "query"
    KEY = "key"
    VALUE = "value"
    MAP = "map"
    CONTEXT = "context"


@dataclass(frozen=True)
class FlowStage:
    """A stage with a place of its own.

    ``sources`` are the names of the stages whose data flows in; ``shortcut`` is the one whose data comes
    around the branch. ``beside`` puts the stage into the column of the one before it. ``slice`` is the part
    of the features, from 0 to 1, that the chosen head takes. ``plus`` marks an addition.
    """

    name: str
    title: str
    family: str
    kind: Kind
    lane: Lane
    shape: str
    operation: str
    sources: tuple[str, ...] = ()
    shortcut: str | None = None
    beside: bool = False
    plus: bool = False
    block: int | None = None  # of a closed block
    slice: tuple[float, float] | None = None


@dataclass(frozen=True)
class FlowGroup:
    """A heading over the stages from ``first`` to ``last``."""

    title: str
    family: str
    first: str
    last: str


@dataclass(frozen=True)
class Likely:
    """A token that could come next; ``share`` is its probability relative to the likeliest."""

    text: str
    probability: str
    share: float


@dataclass(frozen=True)
class FlowPlan:
    """All stages of a flow; ``tokens`` and ``ids`` have an entry a row.

    ``missing`` are the stages whose numbers are not at hand: their places stay empty and nothing flows there.
    """

    stages: tuple[FlowStage, ...] = ()
    groups: tuple[FlowGroup, ...] = ()
    open_block: tuple[str, str] | None = None  # its first and last stage
    tokens: Sequence[str] = ()
    ids: Sequence[str] | None = None
    likely: tuple[Likely, ...] | None = None
    missing: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        return len(self.tokens)

    @cached_property
    def by_name(self) -> dict[str, FlowStage]:
        return {stage.name: stage for stage in self.stages}
