"""What the tests of the capture share: a small batch, and its trace."""

import pytest
import torch
from torch import Tensor

from gptviz.capture import Trace, capture
from gptviz.model import GPTModel

ROOMY = 2**30  # bytes: every block's inside is kept


@pytest.fixture(scope="session")
def ids() -> Tensor:
    return torch.tensor([[15496, 11, 314], [40, 716, 257]])


@pytest.fixture(scope="session")
def trace(tiny_model: GPTModel, ids: Tensor) -> Trace:
    """A trace with every tensor at hand, shared by all tests: leave it as it is."""
    return capture(tiny_model, ids, budget=ROOMY)
