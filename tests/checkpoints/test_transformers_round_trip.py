"""What gptviz writes opens in transformers and the other way round, with equal logits."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import IDS, SMALL, logits, nanogpt, random_model, script
from torch import nn
from torch.testing import assert_close

from gptviz.checkpoints import load
from gptviz.model import GPTConfig

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own

transformers = pytest.importorskip("transformers", reason="pip install -e '.[interchange]'")


@pytest.fixture(scope="module", autouse=True)
def _spare_what_is_imported() -> Iterator[None]:
    """Leave transformers' modules, which are large, out of all later collections of garbage."""
    yield
    gc.freeze()


VARIANTS = [
    SMALL,
    replace(SMALL, tie_weights=True),
    replace(SMALL, qkv_bias=False),
    replace(SMALL, bias=False, qkv_bias=False),
    replace(SMALL, n_inner=20, norm_eps=0.01, activation="relu"),
    replace(SMALL, scale_attn_by_inverse_layer_idx=True, activation="gelu"),
    replace(SMALL, scale_attn_weights=False),
]


def theirs(folder: Path) -> torch.Tensor:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        return model(IDS).logits


@pytest.mark.parametrize("config", VARIANTS)
def test_what_is_saved_for_hugging_face_opens_in_transformers_and_here(tmp_path: Path, config: GPTConfig) -> None:
    model = random_model(config)

    script.save(model, tmp_path / "saved")

    assert_close(theirs(tmp_path / "saved"), logits(model), atol=1e-4, rtol=0)
    assert_close(logits(load(tmp_path / "saved").model), logits(model), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"tie_word_embeddings": False},
        {"n_inner": 12, "activation_function": "gelu"},
        {"activation_function": "relu", "layer_norm_epsilon": 1e-2},
        {"activation_function": "gelu_pytorch_tanh", "scale_attn_by_inverse_layer_idx": True},
        {"scale_attn_weights": False, "reorder_and_upcast_attn": True},
    ],
)
def test_what_transformers_saves_opens_here(tmp_path: Path, settings: dict[str, Any]) -> None:
    config = transformers.GPT2Config(vocab_size=61, n_positions=10, n_embd=12, n_head=3, n_layer=2, **settings)
    model = shaken(transformers.GPT2LMHeadModel(config))
    model.save_pretrained(tmp_path)

    checkpoint = load(tmp_path)

    assert_close(logits(checkpoint.model), model(IDS).logits.detach(), atol=1e-4, rtol=0)
    assert checkpoint.tied == settings.get("tie_word_embeddings", True)


def in_shards(model: Any, folder: Path) -> None:
    model.save_pretrained(folder, max_shard_size="4KB")
    assert (folder / "model.safetensors.index.json").exists()


def in_half_precision(model: Any, folder: Path) -> None:
    model.to(torch.float16).save_pretrained(folder)
    model.float()  # what was rounded stays


def as_bin(model: Any, folder: Path) -> None:
    model.config.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")


def without_head(model: Any, folder: Path) -> None:
    model.transformer.save_pretrained(folder)


@pytest.mark.parametrize("save", [in_shards, in_half_precision, as_bin, without_head])
def test_however_transformers_saves_it(tmp_path: Path, save: Callable[[Any, Path], None]) -> None:
    config = transformers.GPT2Config(vocab_size=61, n_positions=10, n_embd=12, n_head=3, n_layer=2)
    model = shaken(transformers.GPT2LMHeadModel(config))
    save(model, tmp_path)

    assert_close(logits(load(tmp_path).model), model(IDS).logits.detach(), atol=1e-4, rtol=0)


def test_a_nanogpt_checkpoint_is_carried_over(tmp_path: Path) -> None:
    model = random_model(replace(SMALL, activation="gelu", bias=False, qkv_bias=False, tie_weights=True))

    script.save(load(nanogpt(tmp_path / "ckpt.pt", model)).model, tmp_path / "saved")

    assert_close(theirs(tmp_path / "saved"), logits(model), atol=1e-4, rtol=0)


def shaken(model: Any) -> Any:
    """Give every parameter, norms and biases too, a value that matters."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()
