"""Shortcuts and gradients: one deep network, run backwards with and without shortcut connections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from gptviz.labs.machine import available_memory
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.seeded import linear, seeded
from gptviz.model.layers import GELU

MOST_WEIGHTS = 10_000_000  # more would not answer at once
_COPIES = 3  # weights, their gradients, and what backward works with
_FLOAT = 4  # bytes


class DeepNetwork(nn.Module):
    """Linear layers with GELU, each of which may have a shortcut around it.

    A shortcut adds a layer's input to its output, where both have the same shape: so not around a last layer of
    width 1 that follows wider ones.
    """

    def __init__(self, sizes: Sequence[int], use_shortcut: bool, generator: torch.Generator) -> None:
        super().__init__()
        self.use_shortcut = use_shortcut
        self.layers = nn.ModuleList(nn.Sequential(linear(a, b, generator), GELU()) for a, b in pairwise(sizes))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            out = layer(x)  # (1, width)
            x = x + out if self.use_shortcut and x.shape == out.shape else out
        return x


@dataclass(frozen=True)
class Flow:
    """What one backward pass left: the mean absolute gradient of each layer's weights, first layer first."""

    gradients: tuple[float, ...]
    output: float
    loss: float

    @property
    def ratio(self) -> float:
        """The first layer's gradient as a share of the last one's: 0 if it vanished; NaN if both are 0."""
        first, last = self.gradients[0], self.gradients[-1]
        return first / last if last else float("nan") if not first else float("inf")


@dataclass(frozen=True)
class GradientFlow:
    """Both passes through the same initial weights."""

    sizes: tuple[int, ...]  # of the input and of each layer
    inputs: tuple[float, ...]  # the first and the last ones of a long input
    parameters: int
    shortcuts: tuple[bool, ...]  # around which layers
    plain: Flow
    with_shortcuts: Flow


def gradient_flow(
    seed: int, depth: int, width: int, on_progress: Callable[[float], None] = lambda _: None
) -> GradientFlow:
    """Run a network of ``depth`` layers of ``width`` (the last: 1) with and without shortcuts, and compare gradients.

    The input runs evenly from 1 to -1, which is [1, 0, -1] for a width of 3; the target is 0, the loss the squared
    error. ``on_progress`` is called with the share of work done; an exception that it raises ends the work.

    Raises
    ------
    RefusedInputError
        If the network needs more memory than there is, or would not answer at once.
    """
    sizes = (*[width] * depth, 1)
    _check(sizes, depth, width)
    network = DeepNetwork(sizes, use_shortcut=False, generator=seeded(seed))
    on_progress(1 / 3)
    x = torch.linspace(1.0, -1.0, width).unsqueeze(0)  # (1, width)
    plain = _flow(network, x)
    on_progress(2 / 3)
    network.use_shortcut = True  # the same weights
    shortcut = _flow(network, x)
    parameters = sum(p.numel() for p in network.parameters())
    around = tuple(a == b for a, b in pairwise(sizes))
    return GradientFlow(sizes, tuple(x[0].tolist()), parameters, around, plain, shortcut)


def _flow(network: DeepNetwork, x: Tensor) -> Flow:
    network.zero_grad()
    with torch.enable_grad():
        output = network(x)  # (1, 1)
        loss = nn.functional.mse_loss(output, torch.zeros(1, 1))
        loss.backward()  # type: ignore[no-untyped-call]
    weights = [parameter for name, parameter in network.named_parameters() if name.endswith("weight")]
    gradients = [weight.grad.abs().mean().item() for weight in weights if weight.grad is not None]
    return Flow(tuple(gradients), output.item(), loss.item())


def _check(sizes: Sequence[int], depth: int, width: int) -> None:
    """Refuse what can't be allocated or would take long, and name the size that has most to do with it."""
    weights = sum(a * b + b for a, b in pairwise(sizes))
    field = "width" if width > depth else "depth"
    needed, free = _COPIES * _FLOAT * weights, available_memory()
    if needed > free:
        raise RefusedInputError(
            field,
            f"{weights:,} weights and their gradients need {_gigabytes(needed)}, and {_gigabytes(free)} are free: "
            f"choose fewer layers or narrower ones.",
        )
    if weights > MOST_WEIGHTS:
        raise RefusedInputError(
            field,
            f"{weights:,} weights would not answer at once: at most {MOST_WEIGHTS:,}, with fewer or narrower layers.",
        )


def _gigabytes(size: int) -> str:
    if size >= 10**15:
        return "more than a million GB"
    return f"{size / 1e9:,.0f} GB" if size >= 1e11 else f"{size / 1e9:.1f} GB"
