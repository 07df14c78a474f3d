"""Invariants of the forward pass, measured on a trace."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.check import Check, merge
from gptviz.analysis.layer_norm import scale_and_shift
from gptviz.analysis.operands import inputs_of
from gptviz.capture.stages import block_input_name, block_name

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]


ROWS = "attention rows sum to one"
FUTURE = "nothing above the diagonal"
SHORTCUT1 = "shortcut 1 adds the block's input"
SHORTCUT2 = "shortcut 2 adds shortcut 1"
NORM_MEAN = "LayerNorm: mean 0 before scale and shift"
NORM_VARIANCE = "LayerNorm: variance that eps implies"
HEAD = "logits = head · final norm"
LAST = "last = logits of the last position"
CAUSALITY = "causality: the last token changes no earlier position"
_OF_A_BLOCK = (ROWS, FUTURE, SHORTCUT1, SHORTCUT2, NORM_MEAN, NORM_VARIANCE)
_TAKES_A_RUN = "causality takes another pass"

_QUIET = np.errstate(over="ignore", invalid="ignore")  # a broken model's numbers are measured, not warned of


def run_checks(trace: "Trace") -> tuple[Check, ...]:
    """Measure all checks on ``trace``; blocks that were not kept are replayed one after the other.

    What is not at hand and can't be had leaves a check that was not measured.
    """
    checks = merge((), outer_checks(trace))
    for layer in range(trace.config.n_layers):
        checks = merge(checks, block_checks(trace.with_block_if_it_can(layer), layer))
    return checks


@_QUIET
def block_checks(trace: "Trace", layer: int) -> tuple[Check, ...]:
    """Measure what holds inside block ``layer``; nothing where that is not at hand."""
    prefix = block_name(layer)
    name = f"{prefix}.att.weights"
    if not trace.has_block(layer):
        note = trace.lacking(name)
        return tuple(Check(check, None, name, note=note) for check in _OF_A_BLOCK)
    weights = trace.array(name)
    future = weights * np.triu(np.ones(weights.shape[-2:], dtype=weights.dtype), 1)
    source, branch = trace.array(block_input_name(layer)), trace.array(f"{prefix}.drop_shortcut1")
    stream = trace.array(f"{prefix}.shortcut1")
    second, out = trace.array(f"{prefix}.drop_shortcut2"), trace.array(f"{prefix}.shortcut2")
    return (
        Check(ROWS, _largest(weights.sum(axis=-1, dtype=np.float64) - 1), name, 1e-5),
        Check(FUTURE, _largest(future), name),
        Check(SHORTCUT1, _largest(source + branch - stream), f"{prefix}.shortcut1"),
        Check(SHORTCUT2, _largest(stream + second - out), f"{prefix}.shortcut2"),
        *_norm_checks(trace, f"{prefix}.norm1"),
        *_norm_checks(trace, f"{prefix}.norm2"),
    )


@_QUIET
def outer_checks(trace: "Trace") -> tuple[Check, ...]:
    """Measure what holds outside the blocks."""
    last = trace.array("last")
    lacks_head, lacks_logits = trace.lacking("out_head.weight"), trace.lacking("out_head")
    head = Check(HEAD, None, "out_head", note=lacks_head)
    if not lacks_head:
        normed, weights = trace.array("final_norm")[:, -1], trace.parameter("out_head.weight")
        size = max(float(np.abs(last).max()), 1.0)
        head = Check(HEAD, _largest(normed @ weights.T - last) / size, "out_head", 1e-4)
    copied = Check(LAST, None, "last", note=lacks_logits)
    if not lacks_logits:
        copied = Check(LAST, _largest(trace.array("out_head")[:, -1] - last), "last")
    unmeasured = (Check(CAUSALITY, None, "out_head", note=_TAKES_A_RUN),) if trace.is_recorded else ()
    return (*_norm_checks(trace, "final_norm"), head, copied, *unmeasured)


@_QUIET
def causality_check(trace: "Trace", perturbed: "Trace | None") -> Check:
    """Compare with a pass in which only the last token was another one; None if there is no earlier position."""
    if perturbed is None:
        return Check(CAUSALITY, None, "out_head", note="one token has no earlier position")
    difference = trace.array("out_head")[:, :-1] - perturbed.array("out_head")[:, :-1]
    return Check(CAUSALITY, _largest(difference), "out_head", 1e-4)


def _norm_checks(trace: "Trace", norm: str) -> tuple[Check, ...]:
    """Undo scale and shift, then compare with mean 0 and the variance that eps implies."""
    (source,) = inputs_of(trace.record(norm).stage, trace.config)
    scale, shift = scale_and_shift(trace, norm)
    if not scale.all():
        note = "a scale of 0 hides what was normalised"
        return Check(NORM_MEAN, None, norm, note=note), Check(NORM_VARIANCE, None, norm, note=note)
    normalised = (trace.array(norm) - shift) / scale.astype(np.float64)
    variance = trace.array(source).astype(np.float64).var(axis=-1)
    implied = variance / (variance + trace.eps(norm))
    return (
        Check(NORM_MEAN, _largest(normalised.mean(axis=-1)), norm, 1e-4),
        Check(NORM_VARIANCE, _largest(normalised.var(axis=-1) - implied), norm, 1e-4),
    )


def _largest(errors: Array) -> float:
    """Return the largest absolute error; NaN counts as infinite."""
    return float(np.nan_to_num(np.abs(errors), nan=np.inf).max()) if errors.size else 0.0
