"""Gradients of a deep network with and without shortcuts."""

from typing import Any

import pytest
import torch
from torch import nn

from gptviz.labs import gradients
from gptviz.labs.gradients import DeepNetwork, gradient_flow
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.seeded import seeded


def test_the_chapter_has_the_same_gradients(figures: dict[str, Any]) -> None:
    chapter = figures["shortcut_gradients_seed_123"]

    flow = gradient_flow(seed=123, depth=5, width=3)

    assert list(flow.sizes) == chapter["layer_sizes"]
    assert list(flow.inputs) == chapter["input"]
    assert flow.plain.gradients == pytest.approx(chapter["plain"], rel=1e-6, abs=5e-9)
    assert flow.with_shortcuts.gradients == pytest.approx(chapter["with_shortcuts"], rel=1e-6, abs=5e-9)


def test_the_ratio_is_the_first_layer_over_the_last() -> None:
    flow = gradient_flow(seed=123, depth=5, width=3)

    assert flow.plain.ratio == flow.plain.gradients[0] / flow.plain.gradients[4]
    assert flow.with_shortcuts.ratio > 4 * flow.plain.ratio


def test_a_shortcut_adds_the_input_where_the_shapes_agree() -> None:
    plain = DeepNetwork([3, 3, 3, 1], use_shortcut=False, generator=seeded(1))
    network = DeepNetwork([3, 3, 3, 1], use_shortcut=True, generator=seeded(1))
    x = torch.tensor([[0.5, -1.0, 2.0]])
    first, second, last = plain.layers

    with torch.no_grad():
        a = x + first(x)
        b = a + second(a)
        assert torch.equal(network(x), last(b))
        assert torch.equal(plain(x), last(second(first(x))))


def test_the_gradients_are_those_of_autograd() -> None:
    flow = gradient_flow(seed=7, depth=3, width=4)
    torch.manual_seed(7)
    layers = [nn.Sequential(nn.Linear(4, out), nn.GELU(approximate="tanh")) for out in (4, 4, 1)]
    x = torch.tensor([[1.0, 1 / 3, -1 / 3, -1.0]])
    for layer in layers:
        x = layer(x)
    (x**2).mean().backward()

    assert flow.plain.gradients == pytest.approx([layer[0].weight.grad.abs().mean().item() for layer in layers])
    assert flow.shortcuts == (True, True, False)


@pytest.mark.parametrize(("depth", "width"), [(1, 1), (1, 3), (2, 1), (60, 2)])
def test_any_size_gives_a_gradient_for_each_layer(depth: int, width: int) -> None:
    flow = gradient_flow(seed=123, depth=depth, width=width)

    assert len(flow.plain.gradients) == len(flow.with_shortcuts.gradients) == depth


def test_gradients_that_vanish_give_a_ratio_of_zero() -> None:
    assert gradient_flow(seed=123, depth=300, width=3).plain.ratio == 0.0


def test_what_would_not_answer_at_once_is_refused_by_its_largest_size() -> None:
    with pytest.raises(RefusedInputError, match="10,000,000") as refused:
        gradient_flow(seed=123, depth=12, width=1000)

    assert refused.value.field == "width"


def test_what_needs_more_memory_than_is_free_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients, "available_memory", lambda: 2_000_000_000)

    with pytest.raises(RefusedInputError, match=r"need 12,000 GB, and 2\.0 GB are free"):
        gradient_flow(seed=123, depth=2, width=1_000_000)


def test_it_can_be_stopped() -> None:
    def stop(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        gradient_flow(seed=123, depth=5, width=3, on_progress=stop)
