from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, logits, random_model
from safetensors.torch import save_file
from torch import Tensor

from gptviz.checkpoints import CheckpointError, load
from gptviz.checkpoints.plan import propose_heads

CHAPTER = replace(SMALL, drop_rate=0.0)


def with_masks(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return state | {f"trf_blocks.{layer}.att.mask": torch.ones(10, 10).triu(1) for layer in (0, 1)}


def inside(key: str) -> Any:
    return lambda state: {key: state, "optimizer_state_dict": {"state": {}, "param_groups": []}, "epoch": 3}


@pytest.mark.parametrize(
    "config", [CHAPTER, replace(CHAPTER, qkv_bias=False), replace(CHAPTER, n_inner=20), replace(CHAPTER, bias=False)]
)
@pytest.mark.parametrize(
    "change",
    [dict, with_masks, inside("model_state_dict"), inside("model"), inside("state_dict")],
    ids=["plain", "masks", "model_state_dict", "model", "state_dict"],
)
def test_a_state_dict_opens_alone_with_masks_and_beside_an_optimizer(tmp_path, config, change) -> None:
    model = random_model(config)
    torch.save(change(model.state_dict()), tmp_path / "model.pth")

    checkpoint = load(tmp_path / "model.pth", heads=3)

    assert checkpoint.model.config == config
    assert torch.equal(logits(checkpoint.model), logits(model))


@pytest.mark.parametrize("key", ["net", "weights", "generator"])
def test_a_state_dict_is_found_by_its_names_whatever_a_script_calls_it(tmp_path: Path, key: str) -> None:
    model = random_model(CHAPTER)
    torch.save({"optimizer": {"state": {}}, key: model.state_dict()}, tmp_path / "model.pth")

    assert torch.equal(logits(load(tmp_path, heads=3).model), logits(model))


def test_settings_beside_the_state_dict_tell_the_number_of_heads(tmp_path: Path) -> None:
    model = random_model(CHAPTER)
    settings = {"vocab_size": 61, "context_length": 10, "emb_dim": 12, "n_heads": 3, "n_layers": 2, "qkv_bias": True}
    torch.save({"model_state_dict": model.state_dict(), "config": settings}, tmp_path / "model.pth")
    assert torch.equal(logits(load(tmp_path).model), logits(model))

    torch.save({"model_state_dict": model.state_dict(), "config": settings | {"n_layers": 12}}, tmp_path / "model.pth")
    with pytest.raises(CheckpointError, match="say n_layers = 12, but its tensors have 2"):
        load(tmp_path)


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "model."])
def test_names_may_have_a_prefix(tmp_path: Path, prefix: str) -> None:
    model = random_model(CHAPTER)
    torch.save({prefix + name: tensor for name, tensor in model.state_dict().items()}, tmp_path / "model.pth")

    assert torch.equal(logits(load(tmp_path, heads=3).model), logits(model))


def test_the_chapters_names_in_a_safetensors_file_open_too(tmp_path: Path) -> None:
    model = random_model(CHAPTER)
    save_file(model.state_dict(), tmp_path / "model.safetensors")

    assert torch.equal(logits(load(tmp_path, heads=3).model), logits(model))


def test_a_head_that_shares_the_embeddings_memory_is_tied(tmp_path: Path) -> None:
    model = random_model(replace(CHAPTER, tie_weights=True))
    torch.save(model.state_dict(), tmp_path / "model.pth")

    checkpoint = load(tmp_path, heads=3)

    assert checkpoint.tied
    assert checkpoint.model.out_head.weight is checkpoint.model.tok_emb.weight


def test_equal_but_separate_matrices_stay_two(tmp_path: Path) -> None:
    """As after the chapter's own loading of GPT-2, which copies the embedding into the head."""
    model = random_model(CHAPTER)
    model.out_head.weight.data = model.tok_emb.weight.data.clone()
    torch.save(model.state_dict(), tmp_path / "model.pth")

    assert not load(tmp_path, heads=3).tied


def test_a_parameter_that_is_a_view_of_a_larger_tensor_opens(tmp_path: Path) -> None:
    model = random_model(CHAPTER)
    state = dict(model.state_dict())
    larger = torch.zeros(12, 24)
    larger[:, ::2] = state["trf_blocks.0.att.W_key.weight"]
    state["trf_blocks.0.att.W_key.weight"] = larger[:, ::2]
    state["trf_blocks.1.att.out_proj.weight"] = state["trf_blocks.1.att.out_proj.weight"].T.contiguous().T
    torch.save(state, tmp_path / "model.pth")

    assert torch.equal(logits(load(tmp_path, heads=3).model), logits(model))


@pytest.mark.parametrize(("heads", "said"), [(5, "12 features can't be dealt out to 5 heads"), (0, "0 heads")])
def test_a_number_of_heads_that_does_not_divide_the_features_is_refused(tmp_path, heads, said) -> None:
    torch.save(random_model(CHAPTER).state_dict(), tmp_path / "model.pth")

    with pytest.raises(CheckpointError, match=said):
        load(tmp_path, heads=heads)


@pytest.mark.parametrize(
    ("features", "heads"),
    [(768, 12), (1024, 16), (1280, 20), (1600, 25), (384, 6), (128, 4), (32, 2), (16, 2), (7, 1), (1, 1)],
)
def test_the_proposed_number_of_heads_is_gpt2s_or_gives_heads_of_the_usual_size(features: int, heads: int) -> None:
    assert propose_heads(features) == heads


def drop(*names: str) -> Any:
    return lambda state: {name: tensor for name, tensor in state.items() if name not in names}


def put(**tensors: Tensor) -> Any:
    return lambda state: state | {name.replace("__", "."): tensor for name, tensor in tensors.items()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop("final_norm.shift"), r"lacks 1 of the 37 tensors needed \(final_norm.shift\)"),
        (
            drop(*(f"trf_blocks.{i}.norm{n}.scale" for i in (0, 1) for n in (1, 2))),
            r"lacks 4 of the 37 tensors needed \(trf_blocks.0.norm1.scale, .* and 1 more\)",
        ),
        (drop("pos_emb.weight"), "lacks the tensor pos_emb.weight"),
        (put(extra__weight=torch.zeros(2)), r"has 1 tensor that no GPT-2 has \(extra.weight\)"),
        (put(out_head__weight=torch.zeros(2, 12)), r"out_head.weight has the shape \(2, 12\)"),
        (put(out_head__weight=torch.zeros(61, 12, dtype=torch.int8)), "stored as int8; gptviz reads fp32"),
        (put(pos_emb__weight=torch.zeros(10)), r"pos_emb.weight has the shape \(10,\)"),
        (put(pos_emb__weight=torch.zeros(20_000, 12)), "context of 20,000 positions; gptviz shows at most 16,384"),
        (put(trf_blocks__5__norm1__scale=torch.zeros(12)), "but no block 2"),
    ],
)
def test_missing_surplus_and_misshapen_tensors_are_named(tmp_path: Path, change: Any, said: str) -> None:
    torch.save(change(dict(random_model(CHAPTER).state_dict())), tmp_path / "model.pth")

    with pytest.raises(CheckpointError, match=said):
        load(tmp_path, heads=3)
