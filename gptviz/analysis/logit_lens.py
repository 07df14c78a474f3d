"""The logit lens: what each block would predict if the output head read the residual stream after it.

The final norm is applied before the head, as the model does after its last block. For the other blocks this is a
reading, and nothing that the model computes. Source: nostalgebraist (2020), "interpreting GPT: the logit lens".
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.candidates import likeliest_first
from gptviz.analysis.comparison import relative_difference
from gptviz.capture.stages import block_name

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.model.config import GPTConfig

Array = np.ndarray[Any, np.dtype[Any]]

TOP = 5  # tokens that are kept of each place
_PIECE = 32  # positions that are read at once, at most: their logits take 6.4 MB with GPT-2's vocabulary
UNREAD = -1  # the ID in a place that was not read


@dataclass(frozen=True)
class LensReading:
    """The ``k`` likeliest tokens at each place of sequence ``row``, as far as they were read.

    ``ids``, ``logits`` and ``probabilities`` are (R, T, k): R stages of the stream, the likeliest token first.
    ``difference`` is the largest of a logit in the last of the R rows from the model's own. Rows before ``first``
    can't be read, as the output head is not there; ``lacks`` says why.
    """

    row: int
    stages: tuple[str, ...]
    ids: Array
    logits: Array
    probabilities: Array
    difference: float = 0.0
    first: int = 0
    lacks: str = ""

    @property
    def tokens(self) -> int:
        return int(self.ids.shape[1])

    @property
    def done(self) -> int:
        """How many of the places that can be read were read."""
        return int((self.ids[self.first :, :, 0] != UNREAD).sum())

    @property
    def total(self) -> int:
        """How many places can be read."""
        return (len(self.stages) - self.first) * self.tokens

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def largest(self) -> float:
        """The largest probability that was read; 0 if there is none."""
        known = self.probabilities[:, :, 0][self.ids[:, :, 0] != UNREAD]
        finite = known[np.isfinite(known)]
        return float(finite.max()) if finite.size else 0.0

    def has(self, stage: int, position: int) -> bool:
        """Tell whether a place was read."""
        return bool(self.ids[stage, position, 0] != UNREAD)


def lens_stages(config: "GPTConfig") -> tuple[str, ...]:
    """List the stages of the stream that are read: the embeddings, then each block's output."""
    return ("drop_emb", *(f"{block_name(layer)}.shortcut2" for layer in range(config.n_layers)))


def begin(trace: "Trace", row: int, k: int = TOP) -> LensReading:
    """Return a reading of sequence ``row`` in which nothing was read.

    Without the output head's weights the last row alone can be read: it is the model's output.
    """
    stages = lens_stages(trace.config)
    size = len(stages), trace.tokens, min(k, trace.config.vocab_size)
    empty = np.full(size, UNREAD), np.zeros(size, dtype=np.float32), np.zeros(size)
    return _within_reach(trace, LensReading(row, stages, *empty))


def _within_reach(trace: "Trace", reading: LensReading) -> LensReading:
    lacks = trace.missing("out_head.weight")
    if not lacks:
        return reading
    last = len(reading.stages) - 1
    return replace(reading, first=last if trace.has("out_head") else last + 1, lacks=lacks)


def read_on(trace: "Trace", reading: LensReading, near: int) -> LensReading:
    """Read one piece more: of the positions nearest to ``near`` that were not read, the last block's first."""
    reading = _within_reach(trace, reading)  # it may have been begun with the model, and recorded
    place = _next_piece(reading, near)
    if place is None:
        return reading
    stage, positions = place
    difference = reading.difference
    if reading.lacks:
        logits = trace.array("out_head")[reading.row, positions]
    else:
        logits = trace.through_head(reading.stages[stage], reading.row, positions)
    if stage == len(reading.stages) - 1 and not reading.lacks:
        own = trace.array("out_head")[reading.row, positions]
        difference = float(np.maximum(difference, relative_difference(own, logits)[1]))  # max() would lose a NaN
    found = tuple(array.copy() for array in (reading.ids, reading.logits, reading.probabilities))
    for array, values in zip(found, strongest(logits, reading.ids.shape[2]), strict=True):
        array[stage, positions] = values
    return replace(reading, ids=found[0], logits=found[1], probabilities=found[2], difference=difference)


def read_all(trace: "Trace", row: int, k: int = TOP) -> LensReading:
    """Read every place of sequence ``row``."""
    reading = begin(trace, row, k)
    while not reading.complete:
        reading = read_on(trace, reading, trace.tokens - 1)
    return reading


def strongest(logits: Array, k: int) -> tuple[Array, Array, Array]:
    """Return IDs, logits and probabilities (t, k) of the ``k`` largest of ``logits`` (t, V), the largest first.

    They are ordered as ``likeliest_first`` does. Probabilities are the softmax over all V, in double precision.
    """
    left = logits.copy()
    lines = np.arange(len(left))
    ids = np.empty((len(left), k), dtype=np.int64)
    for place in range(k):
        ids[:, place] = left.argmax(axis=1)  # k times the largest is quicker than one sort
        last = left[lines, ids[:, place]]
        left[lines, ids[:, place]] = -np.inf
    for line in lines[np.isneginf(last)]:  # the mark of what is taken is a logit too there
        ids[line] = likeliest_first(logits[line])[:k]
    found = np.take_along_axis(logits, ids, axis=1)
    with np.errstate(invalid="ignore"):  # a line with NaN or ∞ has no probabilities, and shows that
        highest = logits.max(axis=1, keepdims=True).astype(np.float64)
        total = np.exp(logits - highest).sum(axis=1, keepdims=True)
        return ids, found, np.exp(found - highest) / total


def _next_piece(reading: LensReading, near: int) -> tuple[int, slice] | None:
    pieces = -(-reading.tokens // _PIECE)
    bounds = [reading.tokens * place // pieces for place in range(pieces + 1)]  # of about equal size

    def distance(place: int) -> int:
        return max(bounds[place] - near, near - bounds[place + 1] + 1, 0)

    for place in sorted(range(pieces), key=distance):
        for stage in reversed(range(reading.first, len(reading.stages))):
            if not reading.has(stage, bounds[place]):
                return stage, slice(bounds[place], bounds[place + 1])
    return None
