"""Two runs side by side: what differs in shape, and by how much, where the shapes agree.

A is what B is compared with. Token axes are compared as far as both runs have tokens; all other sizes have to agree.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.capture.stages import Stage, block_stages, catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gptviz.capture.trace import Trace
    from gptviz.model.config import GPTConfig

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDING = 1e-5  # of a relative difference: sums of other lengths are added up in another order
_START = ("ids", "tok_emb", "pos_emb", "embeddings", "drop_emb")
_AT_ONCE = 2**20  # numbers that are compared at once, in double precision
_NAMES = {"E": "features", "H": "heads", "D": "features of a head", "F": "features of the middle", "V": "tokens known"}


@dataclass(frozen=True)
class Run:
    """A sequence of a pass: row ``row`` of the batch in ``trace``."""

    trace: "Trace"
    row: int = 0

    @property
    def config(self) -> "GPTConfig":
        return self.trace.config

    @property
    def tokens(self) -> int:
        return self.trace.tokens

    @property
    def last_logits(self) -> Array:
        """The logits (V,) of the last position."""
        logits: Array = self.trace.array("last")[self.row]
        return logits


@dataclass(frozen=True)
class StageDifference:
    """How a stage of B differs from the same stage of A.

    ``relative`` is ‖B - A‖ / ‖A‖ (Euclidean norms over all numbers), ``largest`` the largest |B - A|; None where
    nothing can be compared, and ``note`` says why. ``note`` also says if a part alone was compared. Of token IDs,
    ``differing`` counts those that differ. A shape is None where a run has no such stage.
    """

    stage: Stage
    shape_a: tuple[int, ...] | None
    shape_b: tuple[int, ...] | None
    relative: float | None = None
    largest: float | None = None
    differing: int | None = None
    note: str = ""

    @property
    def name(self) -> str:
        return self.stage.name

    @property
    def same_shape(self) -> bool:
        return self.shape_a == self.shape_b


def parts(a: "GPTConfig", b: "GPTConfig") -> int:
    """Return in how many parts stages are compared: those outside the blocks, and each block."""
    return 1 + max(a.n_layers, b.n_layers)


def compare_part(a: Run, b: Run, part: int) -> tuple[StageDifference, ...]:
    """Compare the stages outside the blocks (part 0), or those of block ``part`` - 1.

    A block whose inside is not at hand runs again, once in each run.
    """
    if part == 0:
        stages = [stage for stage in catalogue(b.config) if stage.layer is None]
        return tuple(_compare(a, b, stage) for stage in stages)
    layer = part - 1
    for run, other, which in ((a, b, "A"), (b, a, "B")):
        if layer >= other.config.n_layers:
            return tuple(_only_in(which, run, stage) for stage in block_stages(run.config, layer))
    a, missing_a = _with_block(a, layer)
    b, missing_b = _with_block(b, layer)
    missing = missing_a or missing_b
    return tuple(_compare(a, b, stage, missing) for stage in block_stages(b.config, layer))


def in_order(differences: "Sequence[StageDifference]") -> tuple[StageDifference, ...]:
    """Order stages by execution: before the blocks, the blocks, after them."""

    def place(difference: StageDifference) -> tuple[int, int]:
        stage = difference.stage
        if stage.layer is not None:
            return stage.layer + 1, stage.index
        return (0 if stage.index < len(_START) else 1_000_000), stage.index

    return tuple(sorted(differences, key=place))


def first_tokens(count: int) -> str:
    """Say how many tokens were compared, where one run has more than the other."""
    return "first token" if count == 1 else f"first {count:,} tokens"


def relative_difference(a: Array, b: Array) -> tuple[float, float]:
    """Return ‖b - a‖ / ‖a‖ and the largest |b - a| of two arrays of one shape, in double precision.

    Equal infinities differ by nothing; any other infinity makes both infinite. NaN in one alone makes both NaN.
    If a is zero throughout, the first is 0 where b is zero too and infinite elsewhere.
    """
    flat_a, flat_b = a.reshape(-1), b.reshape(-1)
    difference = size = largest = 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, flat_a.size, _AT_ONCE):
            one, other = (flat[start : start + _AT_ONCE].astype(np.float64) for flat in (flat_a, flat_b))
            change = np.abs(other - one)
            if not np.isfinite(change).all():
                change[(one == other) | (np.isnan(one) & np.isnan(other))] = 0.0
                one = one[np.isfinite(one)]
            difference += float(np.dot(change, change))
            size += float(np.dot(one, one))
            largest = float(np.maximum(largest, change.max(initial=0.0)))
    if difference == 0 or np.isnan(difference):
        return difference, largest
    return (float(np.sqrt(difference / size)) if size > 0 else float("inf")), largest


# --- inside ----------------------------------------------------------------------------------------------


def _with_block(run: Run, layer: int) -> tuple[Run, str]:
    """Return the run with the inside of a block at hand, or as it is and why it can't be had."""
    if run.trace.has_block(layer):
        return run, ""
    if not run.trace.can_replay:
        return run, "not in the recording" if run.trace.is_recorded else "not kept, and its model is gone"
    return Run(run.trace.with_block(layer), run.row), ""


def _only_in(which: str, run: Run, stage: Stage) -> StageDifference:
    shape = run.trace.record(stage.name).output_shape
    shape_a, shape_b = (shape, None) if which == "A" else (None, shape)
    return StageDifference(stage, shape_a, shape_b, note=f"only in {which}")


def _compare(a: Run, b: Run, stage: Stage, missing: str = "") -> StageDifference:
    shape_a, shape_b = (run.trace.record(stage.name).output_shape for run in (a, b))
    found = StageDifference(stage, shape_a, shape_b)
    if not (a.trace.has(stage.name) and b.trace.has(stage.name)):
        return replace(found, note=missing or "not kept, as it is large")
    one, other = (_sequence(run, stage) for run in (a, b))
    dims = stage.dims.removeprefix("B")
    for letter, size_a, size_b in zip(dims, one.shape, other.shape, strict=True):
        if letter != "T" and size_a != size_b:
            return replace(found, note=f"{size_a:,} and {size_b:,} {_NAMES[letter]}")
    t = min(a.tokens, b.tokens)
    common = tuple(slice(t) if letter == "T" else slice(None) for letter in dims)
    one, other = one[common], other[common]
    if a.tokens != b.tokens:
        found = replace(found, note=first_tokens(t) if "T" in dims else "the last token of each")
    if not np.issubdtype(one.dtype, np.floating):
        return replace(found, differing=int((one != other).sum()))
    relative, largest = relative_difference(one, other)
    return replace(found, relative=relative, largest=largest)


def _sequence(run: Run, stage: Stage) -> Array:
    array = run.trace.array(stage.name)
    sequence: Array = array[run.row] if stage.dims.startswith("B") else array
    return sequence
