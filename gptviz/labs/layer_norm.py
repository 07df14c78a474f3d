"""LayerNorm by hand: every step of it on a row of numbers, and what batch normalisation averages over instead."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gptviz.labs.seeded import linear, seeded
from gptviz.model.layers import LayerNorm

Array = np.ndarray[Any, np.dtype[Any]]

SEED = 123
_INPUTS, _OUTPUTS, _ROWS = 5, 6, 2


@dataclass(frozen=True)
class Moments:
    """Mean and variance of some numbers."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Settings:
    """How a row is normalised: n or n - 1 under the variance, eps, and one scale and shift for all features."""

    unbiased: bool = False
    eps: float = 1e-5
    scale: float = 1.0
    shift: float = 0.0


@dataclass(frozen=True)
class Normalised:
    """A row (n,) on its way through LayerNorm, in single precision as in the model."""

    settings: Settings
    row: Array
    centred: Array  # row - mean
    normalised: Array  # centred / √(variance + eps)
    output: Array  # scale · normalised + shift
    before: Moments
    root: float  # √(variance + eps)
    after: Moments  # of ``normalised``, its variance with the same divisor
    predicted_variance: float  # variance / (variance + eps)
    is_constant: bool  # all numbers of the row are equal
    module_error: float | None  # the largest difference from the model's own LayerNorm; None if that has another rule


@dataclass(frozen=True)
class BothWays:
    """A batch (rows, features), normalised over its rows and over its columns; a moment for each of them."""

    batch: Array
    by_row: Array
    by_column: Array
    rows: tuple[Moments, ...]
    columns: tuple[Moments, ...]


@dataclass(frozen=True)
class LayerNormResult:
    """What the lab shows."""

    steps: Normalised
    both: BothWays
    replaced: bool  # whether the edited row stands in the batch, in place of its own


def chapter_batch() -> Array:
    """Return the chapter's activations (2, 6): Linear(5, 6) and ReLU on a random batch, seed 123."""
    generator = seeded(SEED)
    x = torch.randn(_ROWS, _INPUTS, generator=generator)  # (2, 5)
    layer = nn.Sequential(linear(_INPUTS, _OUTPUTS, generator), nn.ReLU())
    with torch.no_grad():
        activations: Array = layer(x).numpy()  # (2, 6)
    return activations


def layer_norm(values: Sequence[float] | None, place: int, settings: Settings) -> LayerNormResult:
    """Normalise the row ``values``, by default the chapter's row ``place``.

    The chapter's batch is normalised too, with the values in the row ``place`` where the lengths agree.
    """
    batch = torch.from_numpy(chapter_batch())
    if values is None:
        values = batch[place].tolist()
    replaced = len(values) == batch.shape[1]
    if replaced:
        batch[place] = torch.tensor(values, dtype=torch.float32)
    return LayerNormResult(normalise(values, settings), both_ways(batch, settings), replaced)


@torch.no_grad()
def normalise(values: Sequence[float], settings: Settings) -> Normalised:
    """Do what LayerNorm does to a row, one operation after the other.

    A division by zero gives what torch gives: NaN for 0 / 0, as with a constant row and eps 0, and for the sample
    variance of a single number.
    """
    x = torch.tensor(values, dtype=torch.float32)  # (n,)
    mean, variance = x.mean(), _variance(x, settings.unbiased)
    root = torch.sqrt(variance + settings.eps)
    centred = x - mean
    normalised = centred / root
    output = settings.scale * normalised + settings.shift
    exact = variance.double()
    return Normalised(
        settings=settings,
        row=_array(x),
        centred=_array(centred),
        normalised=_array(normalised),
        output=_array(output),
        before=Moments(mean.item(), variance.item()),
        root=root.item(),
        after=Moments(normalised.mean().item(), _variance(normalised, settings.unbiased).item()),
        predicted_variance=(exact / (exact + settings.eps)).item(),
        is_constant=bool((x == x[0]).all()),
        module_error=None if settings.unbiased else _module_error(x, output, settings),
    )


@torch.no_grad()
def both_ways(batch: Tensor, settings: Settings) -> BothWays:
    """Normalise ``batch`` (rows, features) row by row as LayerNorm does, and column by column as BatchNorm does."""
    results = []
    moments = []
    for dim in (1, 0):
        mean = batch.mean(dim=dim, keepdim=True)
        variance = batch.var(dim=dim, keepdim=True, unbiased=settings.unbiased)
        results.append((batch - mean) / torch.sqrt(variance + settings.eps))
        pairs = zip(mean.flatten().tolist(), variance.flatten().tolist(), strict=True)
        moments.append(tuple(Moments(*pair) for pair in pairs))
    return BothWays(_array(batch), _array(results[0]), _array(results[1]), moments[0], moments[1])


def _variance(x: Tensor, unbiased: bool) -> Tensor:
    if unbiased and x.numel() == 1:
        return torch.tensor(math.nan)  # 0 / 0; torch says the same with a warning
    return x.var(unbiased=unbiased)


def _module_error(x: Tensor, output: Tensor, settings: Settings) -> float:
    """Return how far the model's LayerNorm, with the same numbers, is from ``output``; NaN equals NaN."""
    module = LayerNorm(x.numel(), settings.eps)
    module.scale.fill_(settings.scale)
    module.shift.fill_(settings.shift)
    theirs: Tensor = module(x)
    if torch.allclose(theirs, output, rtol=0.0, atol=0.0, equal_nan=True):
        return 0.0
    return float((theirs - output).abs().max())


def _array(values: Tensor) -> Array:
    result: Array = values.numpy()
    return result
