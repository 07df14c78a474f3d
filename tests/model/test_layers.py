from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from gptviz.model import GELU, FeedForward, LayerNorm


def test_layernorm_is_pytorchs() -> None:
    torch.manual_seed(0)
    x = 3 * torch.randn(2, 5, 16) + 7
    norm = LayerNorm(16)
    nn.init.normal_(norm.scale)
    nn.init.normal_(norm.shift)

    assert_close(norm(x), F.layer_norm(x, (16,), norm.scale, norm.shift, eps=1e-5))


def test_layernorm_changes_nothing_else_before_training() -> None:
    x = torch.randn(2, 5, 16)

    assert_close(LayerNorm(16)(x), F.layer_norm(x, (16,)))


def test_layernorm_of_a_constant_row_is_its_shift() -> None:
    norm = LayerNorm(4)
    nn.init.constant_(norm.shift, 0.25)

    assert norm(torch.full((1, 4), 9.0)).tolist() == [[0.25] * 4]


def test_layernorm_gives_the_chapters_example(figures: dict) -> None:
    expected = figures["layernorm_example_seed_123"]
    torch.manual_seed(123)
    x = torch.randn(2, 5)
    activations = nn.Sequential(nn.Linear(5, 6), nn.ReLU())(x)
    assert_close(activations, torch.tensor(expected["activations"]), atol=1e-6, rtol=0)

    normalized = LayerNorm(6)(activations)

    assert_close(normalized, torch.tensor(expected["normalized"]), atol=2e-6, rtol=0)
    assert_close(normalized.mean(dim=-1), torch.zeros(2), atol=1e-6, rtol=0)
    assert_close(normalized.var(dim=-1, unbiased=False), torch.tensor(expected["variance_after"]), atol=1e-6, rtol=0)


def test_gelu_is_pytorchs_tanh_form() -> None:
    x = torch.linspace(-8, 8, 1601)

    assert_close(GELU()(x), F.gelu(x, approximate="tanh"))


def test_gelu_gives_the_chapters_table(figures: dict) -> None:
    table = figures["gelu_tanh"]
    x = torch.tensor([float(key) for key in table])

    assert_close(GELU()(x), torch.tensor(list(table.values())), atol=1e-6, rtol=0)


def test_feed_forward_is_two_linear_layers_around_a_gelu() -> None:
    ff = FeedForward(8)
    x = torch.randn(2, 3, 8)
    first, _, last = ff.layers

    hidden = F.gelu(F.linear(x, first.weight, first.bias), approximate="tanh")

    assert_close(ff(x), F.linear(hidden, last.weight, last.bias))


def test_feed_forward_widens_fourfold_and_narrows_again(figures: dict) -> None:
    x = torch.rand(2, 3, 768)
    shapes = [["input", list(x.shape)]]

    for index, layer in enumerate(FeedForward(768).layers):
        x = layer(x)
        shapes.append([f"layers.{index} {type(layer).__name__}", list(x.shape)])

    assert shapes == figures["feed_forward_shapes"]


def mean_gradients(sizes: list[int], x: torch.Tensor, target: torch.Tensor, *, shortcuts: bool) -> torch.Tensor:
    """The mean size of each layer's weight gradients in a deep network of our GELUs, as in the chapter."""
    torch.manual_seed(123)
    layers = [nn.Sequential(nn.Linear(n_in, n_out), GELU()) for n_in, n_out in pairwise(sizes)]
    for layer in layers:
        out = layer(x)
        x = x + out if shortcuts and x.shape == out.shape else out
    F.mse_loss(x, target).backward()
    return torch.stack([layer[0].weight.grad.abs().mean() for layer in layers])


def test_gradients_vanish_without_shortcuts_as_in_the_chapter(figures: dict) -> None:
    expected = figures["shortcut_gradients_seed_123"]
    x, target = torch.tensor([expected["input"]]), torch.tensor([[expected["target"]]])

    plain = mean_gradients(expected["layer_sizes"], x, target, shortcuts=False)
    with_shortcuts = mean_gradients(expected["layer_sizes"], x, target, shortcuts=True)

    assert_close(plain, torch.tensor(expected["plain"]), atol=1e-8, rtol=1e-5)
    assert_close(with_shortcuts, torch.tensor(expected["with_shortcuts"]), atol=1e-8, rtol=1e-5)
