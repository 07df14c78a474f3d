from dataclasses import replace
from pathlib import Path

import pytest
import torch
from checkpoint_writers import SMALL, logits, nanogpt, nanogpt_tensors, random_model

from gptviz.checkpoints import CheckpointError, HeadsNeeded, load

NANOGPT = replace(SMALL, activation="gelu", tie_weights=True)
WITHOUT_BIAS = replace(NANOGPT, bias=False, qkv_bias=False)


@pytest.mark.parametrize("config", [NANOGPT, WITHOUT_BIAS])
@pytest.mark.parametrize("prefix", ["", "_orig_mod.", "module.", "_orig_mod.module."])
def test_a_checkpoint_opens_with_bias_and_without_compiled_or_not(tmp_path, config, prefix) -> None:
    model = random_model(config)

    checkpoint = load(nanogpt(tmp_path / "ckpt.pt", model, prefix))

    assert checkpoint.model.config == config
    assert torch.equal(logits(checkpoint.model), logits(model))
    assert (checkpoint.format, checkpoint.tied, checkpoint.notes) == ("nanoGPT", True, ())


def test_a_model_without_bias_has_no_bias_parameters(tmp_path: Path) -> None:
    model = load(nanogpt(tmp_path / "ckpt.pt", random_model(WITHOUT_BIAS))).model

    assert not [name for name, _ in model.named_parameters() if name.endswith(("bias", "shift"))]


def test_the_training_folder_opens_as_well_as_the_file_in_it(tmp_path: Path) -> None:
    nanogpt(tmp_path / "ckpt.pt", random_model(NANOGPT))

    assert load(tmp_path).name == f"{tmp_path.name}/ckpt.pt"


def test_a_checkpoint_from_before_the_setting_bias_was_trained_with_the_tanh_form(tmp_path: Path) -> None:
    checkpoint = load(nanogpt(tmp_path / "ckpt.pt", random_model(NANOGPT), bias=None))

    assert checkpoint.model.config.activation == "gelu_tanh"


def test_weights_alone_ask_for_the_heads_and_say_which_gelu_is_taken(tmp_path: Path) -> None:
    model = random_model(replace(NANOGPT, drop_rate=0.0))
    torch.save(nanogpt_tensors(model), tmp_path / "weights.pt")

    with pytest.raises(HeadsNeeded):
        load(tmp_path / "weights.pt")
    checkpoint = load(tmp_path / "weights.pt", heads=3)

    assert torch.equal(logits(checkpoint.model), logits(model))
    assert checkpoint.notes == ("the exact GELU, as in nanoGPT: the file does not say which",)


def test_mask_buffers_of_slow_attention_are_ignored(tmp_path: Path) -> None:
    model = random_model(NANOGPT)
    tensors = nanogpt_tensors(model) | {
        f"transformer.h.{layer}.attn.bias": torch.ones(1, 1, 10, 10).tril() for layer in (0, 1)
    }
    torch.save({"model": tensors, "model_args": {"n_head": 3, "bias": True}}, tmp_path / "ckpt.pt")

    assert torch.equal(logits(load(tmp_path).model), logits(model))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"n_layer": 3}, "say n_layer = 3, but its tensors have 2"),
        ({"vocab_size": 50304}, "say vocab_size = 50304, but its tensors have 61"),
        ({"vocab_size": torch.tensor([61, 61])}, "say vocab_size = ‹Tensor›, but its tensors have 61"),
        ({"bias": False}, "say bias = False, but its tensors have biases"),
        ({"n_head": 10**500}, "n_heads must be a whole number, but is '‹int›'"),
        ({"n_head": float("nan")}, "n_heads must be a whole number, but is nan"),
        ({"n_head": 7}, "12 / 7 leaves 5"),
        ({"dropout": 2.0}, "drop_rate must be at least 0 and below 1"),
    ],
)
def test_settings_that_do_not_fit_the_tensors_are_refused(tmp_path, changed, said) -> None:
    with pytest.raises(CheckpointError, match=said):
        load(nanogpt(tmp_path / "ckpt.pt", random_model(NANOGPT), **changed))
