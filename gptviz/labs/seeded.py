"""Layers with the weights that ``torch.manual_seed`` gives, drawn from a generator of their own.

torch's global generator belongs to whoever is initialising a model, maybe in another thread at this moment.
"""

import math

import torch
from torch import nn

from gptviz.model.parameters import WithoutValues


def seeded(seed: int) -> torch.Generator:
    """Return a generator that draws what torch draws after ``torch.manual_seed(seed)``."""
    return torch.Generator().manual_seed(seed)


def linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """Return ``nn.Linear(inputs, outputs)`` with its own initialisation, drawn from ``generator``.

    Weight (outputs, inputs), then bias (outputs,), both uniform within 1/√inputs, as nn.Linear draws them.
    """
    with WithoutValues():
        layer = nn.Linear(inputs, outputs)
    nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5), generator=generator)
    bound = 1 / math.sqrt(inputs)
    nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
    return layer
