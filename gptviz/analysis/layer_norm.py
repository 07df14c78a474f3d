"""What one LayerNorm does to one token: normalise, then scale and shift."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.operands import inputs_of

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Moments:
    """Mean and population variance of a token's features."""

    mean: float
    variance: float


@dataclass(frozen=True)
class LayerNormView:
    """One token's features (E,) on their way through a LayerNorm.

    ``before`` and ``after`` are the model's tensors; ``normalised`` is (before - mean) / √(variance + eps),
    and ``after`` is ``scale`` · ``normalised`` + ``shift``. ``error`` is the largest difference from that.
    A model without biases has no shift: it is 0, and ``shifts`` is False.
    """

    source: str  # the stage that goes in
    before: Array
    normalised: Array
    after: Array
    scale: Array
    shift: Array
    eps: float
    moments_before: Moments
    moments_normalised: Moments
    moments_after: Moments
    error: float
    shifts: bool


def layer_norm_view(trace: "Trace", norm: str, token: int, row: int = 0) -> LayerNormView | None:
    """Return what the LayerNorm stage ``norm`` did to ``token``; None while its block is not at hand."""
    if norm not in trace:
        return None
    (source,) = inputs_of(trace.record(norm).stage, trace.config)
    if not (trace.has(norm) and trace.has(source)):
        return None
    before = trace.array(source)[row, token]
    after = trace.array(norm)[row, token]
    scale, shift = scale_and_shift(trace, norm)
    eps = trace.eps(norm)
    exact = before.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # a broken model has infinities
        normalised = (exact - exact.mean()) / np.sqrt(exact.var() + eps)
        error = float(np.abs(scale * normalised + shift - after).max())
    return LayerNormView(
        source,
        before,
        normalised,
        after,
        scale,
        shift,
        eps,
        moments(before),
        moments(normalised),
        moments(after),
        error,
        trace.has_parameter(f"{norm}.shift"),
    )


def scale_and_shift(trace: "Trace", norm: str) -> tuple[Array, Array]:
    """Return the two learned vectors (E,) of the LayerNorm ``norm``; zeros where there is no shift."""
    scale = trace.parameter(f"{norm}.scale")
    path = f"{norm}.shift"
    return scale, trace.parameter(path) if trace.has_parameter(path) else np.zeros_like(scale)


def moments(values: Array) -> Moments:
    """Return mean and population variance of ``values`` in double precision."""
    exact = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return Moments(float(exact.mean()), float(exact.var()))
