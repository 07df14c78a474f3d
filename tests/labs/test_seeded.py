"""Seeded layers: torch's own numbers, without torch's global generator."""

import torch
from torch import nn

from gptviz.labs.seeded import linear, seeded


def test_a_layer_has_the_weights_that_the_seed_gives() -> None:
    torch.manual_seed(7)
    wanted = [nn.Linear(5, 6), nn.Linear(6, 1)]

    generator = seeded(7)
    made = [linear(5, 6, generator), linear(6, 1, generator)]

    for mine, theirs in zip(made, wanted, strict=True):
        assert torch.equal(mine.weight, theirs.weight)
        assert torch.equal(mine.bias, theirs.bias)


def test_a_model_that_is_initialised_meanwhile_is_not_disturbed() -> None:
    torch.manual_seed(7)
    before = torch.get_rng_state()

    linear(5, 6, seeded(123))

    assert torch.equal(torch.get_rng_state(), before)
