"""Where a number comes from: what each earlier part added to the residual stream, and so to a logit.

The stream is a sum: embeddings, then each block's attention and feed-forward. A logit is linear in it once the
final LayerNorm's mean and standard deviation are taken as they were ("frozen"): direct logit attribution.
Source: Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.layer_norm import scale_and_shift
from gptviz.capture.stages import Family, block_input_name, block_name

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]

TOLERANCE = 1e-4  # of the difference from the captured value, relative to what was added up


class Kind(StrEnum):
    """What a part is."""

    TOKEN = "token embedding"  # noqa: S105 - a token of the text
    POSITION = "position embedding"
    ATTENTION = "attention"
    HEAD = "head"
    BIAS = "bias"
    FEED_FORWARD = "feed-forward"
    DROPOUT = "dropout"
    SHIFT = "final norm's shift"
    HEAD_BIAS = "output head's bias"
    BLOCK = "block"


_INNER = (Kind.HEAD, Kind.BIAS)  # of an attention, which is listed before them


@dataclass(frozen=True)
class Part:
    """Something that was added; ``stage`` is where its numbers can be seen. Block and head count from 0."""

    kind: Kind
    stage: str
    family: Family
    layer: int | None = None
    head: int | None = None

    @property
    def title(self) -> str:
        """What a person calls it; heads and bias are named inside their attention."""
        if self.head is not None:
            return f"head {self.head + 1}"
        if self.layer is None or self.kind is Kind.BIAS:
            return str(self.kind)
        if self.kind is Kind.BLOCK:
            return f"block {self.layer + 1}, all of it"
        return f"block {self.layer + 1} {self.kind}"


@dataclass(frozen=True)
class StreamPoint:
    """The residual stream at a stage: its captured values (E,), and how many addends of its group are in it."""

    stage: str
    addends: int
    values: Array


@dataclass(frozen=True)
class Addends:
    """What the embeddings or one block added at one position: vectors (N, E) in double precision, in order."""

    parts: tuple[Part, ...]
    vectors: Array
    points: tuple[StreamPoint, ...]


@dataclass(frozen=True)
class StreamParts:
    """All that was added up at ``position`` of sequence ``row``, as far as it was read: embeddings, then blocks.

    ``lacks`` says what could not be told apart, as the trace has no model and not all that it takes.
    """

    row: int
    position: int
    groups: tuple[Addends, ...] = ()
    lacks: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks were read."""
        return max(0, len(self.groups) - 1)

    def point(self, stage: str) -> StreamPoint | None:
        """Return the stream at ``stage``; None if it was not read, or is no stage of the stream."""
        return next((point for group in self.groups for point in group.points if point.stage == stage), None)

    def extended(self, trace: "Trace") -> "StreamParts":
        """Return these and the next block's, which runs again if its inside is not at hand.

        Where it can't, all that the block added is one part; without its weights the heads are one.
        """
        if not self.groups:
            return replace(self, groups=(_embedding_addends(trace, self.row, self.position),))
        layer = self.blocks
        trace = trace.with_block_if_it_can(layer)
        find, lacks = _block_addends, trace.missing(f"{block_name(layer)}.att.out_proj.weight")
        if not trace.has_block(layer):
            find, lacks = _whole_block, trace.missing(f"{block_name(layer)}.att.out_proj")
        group = find(trace, layer, self.row, self.position)
        return replace(self, groups=(*self.groups, group), lacks=self.lacks or lacks)


@dataclass(frozen=True)
class Share:
    """What one part contributed; an attention's ``inner`` shares are its heads' and its bias's."""

    part: Part
    value: float
    inner: tuple["Share", ...] = ()


@dataclass(frozen=True)
class Attribution:
    """A captured number and the shares that add up to it.

    ``size`` is that of the largest number that was added up or taken apart. ``deviation`` is the frozen
    standard deviation √(variance + eps) of the final LayerNorm; None for a value of the stream.
    """

    captured: float
    shares: tuple[Share, ...]
    size: float
    deviation: float | None = None

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return sum(share.value for share in self.shares)

    @property
    def difference(self) -> float:
        """What the shares leave unexplained: captured - total."""
        return self.captured - self.total

    @property
    def holds(self) -> bool:
        """Whether the difference is no more than rounding explains; never with NaN."""
        return abs(self.difference) <= TOLERANCE * self.size


def read_parts(trace: "Trace", row: int, position: int) -> StreamParts:
    """Read all parts at ``position`` of sequence ``row``, with the inside of one block at hand at a time."""
    parts = StreamParts(row, position).extended(trace)
    for _ in range(trace.config.n_layers):
        parts = parts.extended(trace)
    return parts


def stream_attribution(parts: StreamParts, stage: str, feature: int) -> Attribution | None:
    """Take the value of ``feature`` at the stream's ``stage`` apart; None while its block was not read."""
    point = parts.point(stage)
    if point is None:
        return None
    captured = float(point.values[feature])
    shares: list[Share] = []
    for group in parts.groups:
        last = point in group.points
        shares += _shares(group, group.vectors[:, feature], point.addends if last else None)
        if last:
            break
    return Attribution(captured, tuple(shares), _largest(captured, shares))


@np.errstate(invalid="ignore", over="ignore")  # a stream that has no finite deviation has shares that say so
def logit_attribution(trace: "Trace", parts: StreamParts, token: int, minus: int | None = None) -> Attribution | None:
    """Take the logit of ``token``, or its lead over the logit of ``minus``, apart; None while blocks are missing.

    With the row w of the output head, and σ = √(variance + eps) of the whole stream, a part p contributes
    ((p - mean(p)) / σ · scale) · w. The LayerNorm's shift contributes shift · w.

    Raises
    ------
    NotRecordedError
        If the output head's weights or its logits were not recorded, and the model is not loaded.
    """
    if parts.blocks < trace.config.n_layers:
        return None
    weights = trace.parameter("out_head.weight")
    logits = trace.array("out_head")[parts.row, parts.position]
    terms = [float(logits[token])] + ([] if minus is None else [float(logits[minus])])
    row = weights[token].astype(np.float64)
    if minus is not None:
        row = row - weights[minus]
    stream = parts.groups[-1].points[-1].values.astype(np.float64)
    deviation = float(np.sqrt(stream.var() + trace.eps("final_norm")))
    scaled = row * trace.parameter("final_norm.scale") / deviation
    direction = scaled - scaled.mean()  # p · (s - mean(s)) = (p - mean(p)) · s
    # einsum computes in this one thread; a product so small would mostly wait for the other threads
    along = [np.einsum("ne,e->n", group.vectors, direction) for group in parts.groups]
    shares = [share for group, values in zip(parts.groups, along, strict=True) for share in _shares(group, values)]
    shares += _constant_shares(trace, row, token, minus)
    captured = terms[0] - sum(terms[1:])
    return Attribution(captured, tuple(shares), _largest(captured, shares, terms), deviation)


def by_size(shares: tuple[Share, ...]) -> tuple[Share, ...]:
    """Order shares, and those inside them, by their size, the largest first."""
    inner = (replace(share, inner=by_size(share.inner)) if share.inner else share for share in shares)
    return tuple(sorted(inner, key=lambda share: -abs(share.value)))


# --- inside ----------------------------------------------------------------------------------------------


@dataclass
class _Collected:
    parts: list[Part] = field(default_factory=list)
    vectors: list[Array] = field(default_factory=list)
    points: list[StreamPoint] = field(default_factory=list)

    def add(self, part: Part, vector: Array) -> None:
        self.parts.append(part)
        self.vectors.append(vector.astype(np.float64))

    def add_dropout(self, stage: str, before: Array, after: Array, layer: int | None = None) -> None:
        """Dropout is the identity in eval mode, and no part; in training mode it adds what it changes."""
        if not np.array_equal(before, after, equal_nan=True):
            change = after.astype(np.float64) - before
            self.add(
                Part(Kind.DROPOUT, stage, Family.SHORTCUT if layer is not None else Family.EMBEDDING, layer), change
            )

    def reach(self, stage: str, values: Array) -> None:
        self.points.append(StreamPoint(stage, len(self.parts), values.copy()))

    def done(self) -> Addends:
        return Addends(tuple(self.parts), np.stack(self.vectors), tuple(self.points))


def _embedding_addends(trace: "Trace", row: int, position: int) -> Addends:
    sums, dropped = (trace.array(name)[row, position] for name in ("embeddings", "drop_emb"))
    found = _Collected()
    found.add(Part(Kind.TOKEN, "tok_emb", Family.EMBEDDING), trace.array("tok_emb")[row, position])
    found.add(Part(Kind.POSITION, "pos_emb", Family.EMBEDDING), trace.array("pos_emb")[position])
    found.reach("embeddings", sums)
    found.add_dropout("drop_emb", sums, dropped)
    found.reach("drop_emb", dropped)
    return found.done()


def _block_addends(trace: "Trace", layer: int, row: int, position: int) -> Addends:
    prefix = block_name(layer)

    def at(local: str) -> Array:
        vector: Array = trace.array(f"{prefix}.{local}")[row, position]
        return vector

    found = _Collected()
    attention, family = f"{prefix}.att.out_proj", Family.ATTENTION
    found.add(Part(Kind.ATTENTION, attention, family, layer), at("att.out_proj"))
    if not trace.missing(f"{attention}.weight"):
        weights = trace.parameter(f"{attention}.weight")
        for head, vector in enumerate(_head_vectors(at("att.merged"), weights, trace.config.n_heads)):
            found.add(Part(Kind.HEAD, f"{prefix}.att.context", family, layer, head), vector)
        bias = _bias(trace, attention)
        if bias is not None:
            found.add(Part(Kind.BIAS, attention, family, layer), bias)
    found.add_dropout(f"{prefix}.drop_shortcut1", at("att.out_proj"), at("drop_shortcut1"), layer)
    found.reach(f"{prefix}.shortcut1", at("shortcut1"))
    found.add(Part(Kind.FEED_FORWARD, f"{prefix}.ff.layers.2", Family.FEED_FORWARD, layer), at("ff.layers.2"))
    found.add_dropout(f"{prefix}.drop_shortcut2", at("ff.layers.2"), at("drop_shortcut2"), layer)
    found.reach(f"{prefix}.shortcut2", at("shortcut2"))
    return found.done()


def _whole_block(trace: "Trace", layer: int, row: int, position: int) -> Addends:
    """What a block added, where its inside can't be had: the difference of its output and its input."""
    output = f"{block_name(layer)}.shortcut2"
    before, after = (trace.array(name)[row, position] for name in (block_input_name(layer), output))
    found = _Collected()
    with np.errstate(invalid="ignore"):
        change = after.astype(np.float64) - before
    found.add(Part(Kind.BLOCK, output, Family.SHORTCUT, layer), change)
    found.reach(output, after)
    return found.done()


@np.errstate(invalid="ignore", over="ignore")
def _head_vectors(merged: Array, weights: Array, heads: int) -> Array:
    """Return what each head adds (H, E): its D features of ``merged`` (E,) times its columns of ``weights`` (E, E)."""
    columns = weights.astype(np.float64).reshape(merged.size, heads, -1)  # (E, H, D)
    result: Array = np.einsum("ehd,hd->he", columns, merged.astype(np.float64).reshape(heads, -1))
    return result


def _bias(trace: "Trace", module: str) -> Array | None:
    try:
        return trace.parameter(f"{module}.bias")
    except AttributeError:  # a linear layer without one
        return None


def _constant_shares(trace: "Trace", row: Array, token: int, minus: int | None) -> Iterator[Share]:
    """What a logit has from no token at all."""
    shift = float(scale_and_shift(trace, "final_norm")[1].astype(np.float64) @ row)
    yield Share(Part(Kind.SHIFT, "final_norm", Family.NORM), shift)
    bias = _bias(trace, "out_head")
    if bias is not None:
        value = float(bias[token]) - (0.0 if minus is None else float(bias[minus]))
        yield Share(Part(Kind.HEAD_BIAS, "out_head", Family.HEAD), value)


def _shares(group: Addends, values: Array, count: int | None = None) -> list[Share]:
    """Nest the first ``count`` values (N,) of a group's addends: heads and bias inside their attention."""
    found = list(zip(group.parts, values.tolist(), strict=True))[:count]
    inner = tuple(Share(part, value) for part, value in found if part.kind in _INNER)
    return [
        Share(part, value, inner if part.kind is Kind.ATTENTION else ())
        for part, value in found
        if part.kind not in _INNER
    ]


def _largest(captured: float, shares: list[Share], terms: list[float] | None = None) -> float:
    numbers: tuple[float, ...] = (captured, *(share.value for share in shares), *(terms or ()))
    return max(abs(number) for number in numbers)
