"""The forward pass as a river: which stages have a place, and the numbers that each one is drawn from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.attention import without_future
from gptviz.analysis.operands import inputs_of
from gptviz.capture.stages import Stage, block_input_name, block_stages, catalogue

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.model.config import GPTConfig

Array = np.ndarray[Any, np.dtype[Any]]

# local name: short title, how it is drawn, where; "beside": in the column of the stage before
_LOOKS = {
    "ids": ("IDs", "chips", "full"),
    "tok_emb": ("token", "features", "upper"),
    "pos_emb": ("position", "features", "lower", "beside"),
    "embeddings": ("+", "features", "full"),
    "drop_emb": ("drop", "features", "full"),
    "norm1": ("norm1", "features", "full"),
    "att.W_query": ("Q", "features", "query"),
    "att.W_key": ("K", "features", "key", "beside"),
    "att.W_value": ("V", "features", "value", "beside"),
    "att.queries": ("queries", "head", "query"),
    "att.keys": ("keys", "head", "key", "beside"),
    "att.values": ("values", "head", "value", "beside"),
    "att.scores": ("scores", "map", "map"),
    "att.scaled": ("÷ √D", "map", "map"),
    "att.masked": ("mask", "map", "map"),
    "att.weights": ("softmax", "map", "map"),
    "att.dropout": ("drop", "map", "map"),
    "att.context": ("context", "head", "context"),
    "att.merged": ("merge", "features", "full"),
    "att.out_proj": ("out_proj", "features", "full"),
    "drop_shortcut1": ("drop", "features", "full"),
    "shortcut1": ("+", "features", "full"),
    "norm2": ("norm2", "features", "full"),
    "ff.layers.0": ("expand", "wide", "full"),
    "ff.layers.1": ("GELU", "wide", "full"),
    "ff.layers.2": ("contract", "features", "full"),
    "drop_shortcut2": ("drop", "features", "full"),
    "shortcut2": ("+", "features", "full"),
    "final_norm": ("final norm", "features", "full"),
    "out_head": ("head", "vocabulary", "full"),
    "last": ("last", "last", "full"),
    "next": ("next", "next", "full"),
}
_ADDITIONS = ("embeddings", "shortcut1", "shortcut2")
_SLICED = ("att.W_query", "att.W_key", "att.W_value", "att.merged")  # of whose features a head takes its part


@dataclass(frozen=True)
class Place:
    """A stage's place in the river.

    ``kind`` says how it is drawn, ``lane`` at which height, ``beside`` that it shares the column of the place
    before. ``sources`` flow in; ``shortcut`` comes around the branch. ``closed`` is the block that this place,
    its output, stands for.
    """

    stage: Stage
    title: str
    kind: str
    lane: str
    beside: bool
    sources: tuple[str, ...]
    shortcut: str | None
    closed: int | None

    @property
    def plus(self) -> bool:
        """Whether the stage is an addition whose parts both have places."""
        return self.closed is None and self.stage.local_name in _ADDITIONS

    @property
    def sliced(self) -> bool:
        """Whether each head takes its own part of the features."""
        return self.stage.local_name in _SLICED


def river(config: "GPTConfig", open_layer: int) -> tuple[Place, ...]:
    """List the places from left to right: all stages outside the blocks and of one block, and the closed blocks."""
    stages = catalogue(config)
    before, after = stages[:5], stages[-4:]
    return (
        *(_place(stage, config) for stage in before),
        *_blocks(config, open_layer),
        *(_place(stage, config) for stage in after),
    )


def _blocks(config: "GPTConfig", open_layer: int) -> Iterator[Place]:
    for layer in range(config.n_layers):
        stages = block_stages(config, layer)
        if layer == open_layer:
            yield from (_place(stage, config) for stage in stages)
        else:
            source = (block_input_name(layer),)
            yield Place(stages[-1], str(layer + 1), "block", "full", False, source, None, layer)


def _place(stage: Stage, config: "GPTConfig") -> Place:
    title, kind, lane, *beside = _LOOKS[stage.local_name]
    if stage.local_name == "ff.layers.1":
        title = stage.operation.removeprefix("exact ")
    elif stage.local_name == "att.scaled" and not config.scaled_by_root:
        title = "scaled" if config.score_divisor(1) != 1 else "not scaled"
    sources = inputs_of(stage, config)
    shortcut = sources[1] if stage.local_name in ("shortcut1", "shortcut2") else None
    return Place(stage, title, kind, lane, bool(beside), sources[:1] if shortcut else sources, shortcut, None)


def numbers(trace: "Trace", stage: Stage, row: int, head: int) -> Array | None:
    """Return what a stage's place shows of sequence ``row``, as (T or 1, columns); None if not at hand.

    Stages with heads show ``head`` alone. Attention weights hold NaN where the mask hides the key.
    """
    if not trace.has(stage.name):
        return None
    values = trace.array(stage.name)
    if stage.dims == "BV":
        return values[row : row + 1]
    if stage.dims.startswith("BH"):
        shown: Array = values[row, head]
        return without_future(shown) if stage.local_name in ("att.weights", "att.dropout") else shown
    return values if stage.dims[0] != "B" else values[row]
