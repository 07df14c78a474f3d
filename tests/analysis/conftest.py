"""A trace of the small model with every tensor at hand."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gptviz.capture import Trace, capture
from gptviz.model import GPTModel

ROOMY = 2**30  # bytes


@pytest.fixture(scope="session")
def taught_model() -> GPTModel:
    """A small model whose LayerNorms have a scale and a shift of their own, as after training."""
    from gptviz.model import TINY, initialise

    model = initialise(TINY, seed=123)
    generator = torch.Generator().manual_seed(5)
    for module in model.modules():
        if hasattr(module, "shift"):
            torch.nn.init.uniform_(module.scale, 0.5, 2.0, generator=generator)
            torch.nn.init.uniform_(module.shift, -1.0, 1.0, generator=generator)
    return model


@pytest.fixture(scope="session")
def trace(taught_model: GPTModel) -> Trace:
    """Two sequences of five tokens; leave it as it is."""
    return capture(taught_model, torch.tensor([[15496, 11, 314, 716, 257], [40, 716, 257, 1332, 13]]), budget=ROOMY)


@pytest.fixture(scope="session")
def lean(taught_model: GPTModel, trace: Trace) -> Trace:
    """The same, with no block's inside at hand."""
    return capture(taught_model, trace.ids, budget=0)


@pytest.fixture
def tampered(trace: Trace) -> Callable[[str, Callable[[Tensor], object]], Trace]:
    """A function that returns the trace with one tensor changed in place by another function."""
    from dataclasses import replace

    def tampered(name: str, change: Callable[[Tensor], object]) -> Trace:
        tensor = trace[name].clone()
        change(tensor)
        return replace(trace, kept={**trace.kept, name: tensor})

    return tampered
