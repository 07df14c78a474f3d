"""Invariants of the forward pass, measured on a trace."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.operands import inputs_of
from gptviz.capture.stages import block_input_name

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Check:
    """An invariant, the largest error found, where it is, and whether it is within ``tolerance``."""

    name: str
    max_error: float
    where: str
    tolerance: float

    @property
    def ok(self) -> bool:
        return self.max_error <= self.tolerance


def run_checks(trace: "Trace") -> tuple[Check, ...]:
    """Measure all checks on ``trace``; blocks that were not kept are replayed one after the other."""
    worst: dict[str, Check] = {}
    for check in _all_errors(trace):
        if check.name not in worst or not check.max_error <= worst[check.name].max_error:
            worst[check.name] = check
    return tuple(worst.values())


def _all_errors(trace: "Trace") -> Iterator[Check]:
    for layer in range(trace.config.n_layers):
        trace = trace.with_block(layer)
        yield from _block_errors(trace, layer)
    yield from _norm_errors(trace, "final_norm")
    logits, last = trace.array("out_head"), trace.array("last")
    normed, head = trace.array("final_norm")[:, -1], trace.parameter("out_head.weight")
    size = float(np.abs(last).max())
    yield Check("logits = head · final norm", _largest(normed @ head.T - last) / max(size, 1.0), "out_head", 1e-4)
    yield Check("last = logits of the last position", _largest(logits[:, -1] - last), "last", 0.0)


def _block_errors(trace: "Trace", layer: int) -> Iterator[Check]:
    prefix = f"trf_blocks.{layer}"
    weights = trace.array(f"{prefix}.att.weights")
    name = f"{prefix}.att.weights"
    yield Check("attention rows sum to one", _largest(weights.sum(axis=-1, dtype=np.float64) - 1), name, 1e-5)
    future = np.triu(np.ones(weights.shape[-2:], dtype=bool), 1)
    above = float(np.abs(weights[..., future]).max()) if future.any() else 0.0
    yield Check("no weight above the diagonal", above, name, 0.0)
    stream = trace.array(f"{prefix}.shortcut1")
    source = trace.array(block_input_name(layer))
    branch = trace.array(f"{prefix}.drop_shortcut1")
    yield Check("shortcut 1 adds the block's input", _largest(source + branch - stream), f"{prefix}.shortcut1", 0.0)
    branch, out = trace.array(f"{prefix}.drop_shortcut2"), trace.array(f"{prefix}.shortcut2")
    yield Check("shortcut 2 adds shortcut 1", _largest(stream + branch - out), f"{prefix}.shortcut2", 0.0)
    for norm in ("norm1", "norm2"):
        yield from _norm_errors(trace, f"{prefix}.{norm}")


def _norm_errors(trace: "Trace", norm: str) -> Iterator[Check]:
    """Undo scale and shift, then compare with mean 0 and the variance that eps implies."""
    (source,) = inputs_of(trace.record(norm).stage, trace.config)
    before = trace.array(source).astype(np.float64)
    scale, shift = trace.parameter(f"{norm}.scale"), trace.parameter(f"{norm}.shift")
    if not scale.all():
        return  # where scale is 0, what was normalised can't be read off the output
    normalised = (trace.array(norm) - shift) / scale.astype(np.float64)
    variance = before.var(axis=-1)
    implied = variance / (variance + trace.eps(norm))
    yield Check("LayerNorm: mean 0", _largest(normalised.mean(axis=-1)), norm, 1e-4)
    yield Check("LayerNorm: variance that eps implies", _largest(normalised.var(axis=-1) - implied), norm, 1e-4)


def _largest(errors: Array) -> float:
    """Return the largest absolute error; NaN counts as infinite."""
    return float(np.nan_to_num(np.abs(errors), nan=np.inf).max()) if errors.size else 0.0
