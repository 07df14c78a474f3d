"""The arithmetic behind one number of a trace."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gptviz.analysis.arithmetic import functions, moves, sums
from gptviz.analysis.arithmetic.cell import Cell
from gptviz.analysis.operands import inputs_of
from gptviz.analysis.place import shortened
from gptviz.capture.stages import catalogue

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic.parts import Explanation
    from gptviz.capture.stages import Stage
    from gptviz.capture.trace import Trace
    from gptviz.model.config import GPTConfig


class CellError(ValueError):
    """There is no such number; the message says what there is."""


def explain(trace: "Trace", name: str, index: Sequence[int]) -> "Explanation | None":
    """Return how the number at ``index`` of the stage ``name`` was made; None while its block is not at hand.

    Nothing is run: what the stage was computed from is read off ``trace``.

    Raises
    ------
    CellError
        If there is no such stage, or ``index`` does not fit its shape.
    """
    stage = checked_stage(trace.config, name)
    checked = checked_index(trace.config, stage, (trace.batch, trace.tokens), index)
    needed = (name, *inputs_of(stage, trace.config))
    if not all(trace.has(one) for one in needed):
        return None
    with np.errstate(invalid="ignore", over="ignore"):  # a broken model has infinities, and is to be explained too
        return _EXPLAINED[stage.local_name](Cell(trace, stage, checked))


def checked_stage(config: "GPTConfig", name: str) -> "Stage":
    """Return the stage ``name`` of a model of ``config``."""
    for stage in catalogue(config):
        if stage.name == name:
            return stage
    raise CellError(f"there is no stage {shortened(name)!r}: 'gptviz trace' lists them")


def checked_index(
    config: "GPTConfig", stage: "Stage", batch_and_tokens: tuple[int, int], index: Sequence[int]
) -> tuple[int, ...]:
    """Return ``index`` if the tensor of ``stage`` has such a number in a pass on so many sequences and tokens."""
    shape = stage.shape(config, *batch_and_tokens)
    written = f"({', '.join(map(str, shape))})"
    if len(index) != len(shape):
        raise CellError(
            f"{stage.name} has the shape {written}: an index has {len(shape)} numbers, but this one has {len(index)}"
        )
    for place, (at, size) in enumerate(zip(index, shape, strict=True), start=1):
        if not 0 <= at < size:
            raise CellError(
                f"{stage.name} has the shape {written}: number {place} of the index goes from 0 to {size - 1}, "
                f"but is {at}"
            )
    return tuple(index)


_EXPLAINED: dict[str, Callable[[Cell], "Explanation"]] = {
    "ids": moves.given,
    "tok_emb": moves.token_row,
    "pos_emb": moves.position_row,
    "embeddings": sums.addition,
    "drop_emb": moves.dropout,
    "norm1": functions.layer_norm,
    "att.W_query": sums.linear,
    "att.W_key": sums.linear,
    "att.W_value": sums.linear,
    "att.queries": moves.split,
    "att.keys": moves.split,
    "att.values": moves.split,
    "att.scores": sums.scores,
    "att.scaled": sums.scaled,
    "att.masked": moves.mask,
    "att.weights": functions.softmax,
    "att.dropout": moves.dropout,
    "att.context": sums.context,
    "att.merged": moves.merge,
    "att.out_proj": sums.linear,
    "drop_shortcut1": moves.dropout,
    "shortcut1": sums.addition,
    "norm2": functions.layer_norm,
    "ff.layers.0": sums.linear,
    "ff.layers.1": functions.activation,
    "ff.layers.2": sums.linear,
    "drop_shortcut2": moves.dropout,
    "shortcut2": sums.addition,
    "final_norm": functions.layer_norm,
    "out_head": sums.linear,
    "last": moves.last,
    "next": functions.argmax,
}
