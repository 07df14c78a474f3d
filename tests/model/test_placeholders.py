"""The shell with placeholders. The figures are what the chapter's published code prints for its two texts."""

from dataclasses import replace

import pytest
import torch

from gptviz.model import GPT2_SMALL, TINY, GPTConfig, GPTModel, InputError
from gptviz.model.parts import ALL_PARTS, Part
from gptviz.model.placeholders import DummyGPTModel, DummyLayerNorm, DummyTransformerBlock

BATCH = torch.tensor(
    [[6109, 3626, 6100, 345], [6109, 1110, 6622, 257]]
)  # "Every effort moves you", "Every day holds a"

# torch.manual_seed(123); DummyGPTModel(GPT_CONFIG_124M)(batch): the first and the last three logits of each token
SHELL = [
    [-1.2034, 0.3201, -0.7130, -1.5548, -0.2390, -0.4667],
    [-0.1192, 0.4539, -0.4432, 0.2392, 1.3469, 1.2430],
    [0.5307, 1.6720, -0.4695, 1.1966, 0.0111, 0.5835],
    [0.0139, 1.6755, -0.3388, 1.1586, -0.0435, -1.0400],
    [-1.0908, 0.1798, -0.9484, -1.6047, 0.2439, -0.4530],
    [-0.7860, 0.5581, -0.0610, 0.4835, -0.0077, 1.6621],
    [0.3567, 1.2698, -0.6398, -0.0162, -0.1296, 0.3717],
    [-0.2407, -0.7349, -0.5102, 2.0057, -0.3694, 0.1814],
]
# the same with GPTModel
FINISHED = [
    [0.3613, 0.4222, -0.0711, 0.3483, 0.4661, -0.2838],
    [-0.1792, -0.5660, -0.9485, 0.0477, 0.5181, -0.3168],
    [0.7120, 0.0332, 0.1085, 0.1018, -0.4327, -0.2553],
    [-1.0076, 0.3418, -0.1190, 0.7195, 0.4023, 0.0532],
    [-0.2564, 0.0900, 0.0335, 0.2659, 0.4454, -0.6806],
    [0.1230, 0.3653, -0.2074, 0.7705, 0.2710, 0.2246],
    [1.0558, 1.0318, -0.2800, 0.6936, 0.3205, -0.3178],
    [-0.1565, 0.3926, 0.3288, 1.2630, -0.1858, 0.0388],
]


def ends(logits: torch.Tensor) -> list[list[float]]:
    flat = logits.flatten(0, 1)
    return torch.cat((flat[:, :3], flat[:, -3:]), dim=1).tolist()


@pytest.mark.parametrize("placeholder", [DummyLayerNorm(32), DummyTransformerBlock(TINY)])
def test_a_placeholder_returns_its_input(placeholder: torch.nn.Module) -> None:
    x = torch.rand(2, 3, 32)

    assert placeholder(x) is x


def test_ids_go_into_the_shell_and_logits_of_the_right_shape_come_out() -> None:
    logits = DummyGPTModel(TINY)(BATCH)

    assert logits.shape == (2, 4, 50257)


def test_the_shell_refuses_what_the_model_refuses() -> None:
    with pytest.raises(InputError, match="no tokens"):
        DummyGPTModel(TINY)(torch.zeros(1, 0, dtype=torch.int64))


@pytest.mark.parametrize("config", [TINY, replace(TINY, bias=False, n_inner=50, scale_attn_by_inverse_layer_idx=True)])
def test_with_all_parts_real_it_is_the_model_bit_for_bit(config: GPTConfig) -> None:
    torch.manual_seed(123)
    model = GPTModel(config).eval()
    torch.manual_seed(123)
    shell = DummyGPTModel(config, ALL_PARTS).eval()

    assert list(shell.state_dict()) == list(model.state_dict())
    assert torch.equal(shell(BATCH), model(BATCH))


@pytest.mark.parametrize("part", Part)
def test_every_part_on_its_own_keeps_the_shape(part: Part) -> None:
    assert DummyGPTModel(TINY, {part})(BATCH).shape == (2, 4, 50257)


def test_a_shortcut_around_a_placeholder_doubles_what_passes() -> None:
    block = DummyGPTModel(TINY, {Part.SHORTCUTS}).eval().trf_blocks[0]
    x = torch.rand(2, 3, 32)

    assert torch.equal(block(x), 4 * x)  # once for each half of the block


@pytest.mark.large
def test_the_chapters_run_of_its_shell() -> None:
    torch.manual_seed(123)
    model = DummyGPTModel(GPT2_SMALL)

    with torch.no_grad():
        logits = model(BATCH)  # in training mode, as the chapter runs it

    assert torch.allclose(torch.tensor(ends(logits)), torch.tensor(SHELL), atol=1.01e-4)  # printed with four places


@pytest.mark.large
def test_the_chapters_run_of_the_finished_model() -> None:
    torch.manual_seed(123)
    model = DummyGPTModel(GPT2_SMALL, ALL_PARTS)

    with torch.no_grad():
        logits = model(BATCH)

    assert torch.allclose(torch.tensor(ends(logits)), torch.tensor(FINISHED), atol=1.01e-4)
