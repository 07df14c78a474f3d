import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, logits, random_model, script
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.testing import assert_close

from gptviz import resources
from gptviz.checkpoints import CheckpointError, HeadsNeeded, load
from gptviz.model import GPTConfig

TIED = replace(SMALL, tie_weights=True)


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        TIED,
        replace(SMALL, n_inner=20),
        replace(SMALL, n_inner=12),  # every matrix of the feed-forward is square
        replace(SMALL, norm_eps=0.03),
        replace(SMALL, activation="gelu"),
        replace(SMALL, activation="relu"),
        replace(SMALL, scale_attn_weights=False),
        replace(SMALL, scale_attn_by_inverse_layer_idx=True),
        replace(SMALL, scale_attn_by_inverse_layer_idx=True, scale_attn_weights=False),
        replace(SMALL, drop_rate=0.0, n_heads=12),
    ],
)
def test_config_json_is_obeyed(tmp_path: Path, config: GPTConfig) -> None:
    model = random_model(config)

    checkpoint = load(hugging_face(tmp_path, model))

    assert checkpoint.model.config == config
    assert torch.equal(logits(checkpoint.model), logits(model))
    assert checkpoint.tied == config.tie_weights


def test_keys_without_the_prefix_and_with_mask_buffers_are_the_same_model(tmp_path: Path) -> None:
    def older(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        masks = {f"h.{layer}.attn.bias": torch.ones(1, 1, 10, 10, dtype=torch.uint8) for layer in (0, 1)}
        masks |= {f"h.{layer}.attn.masked_bias": torch.tensor(-1e4) for layer in (0, 1)}
        return {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()} | masks

    model = random_model(TIED)

    assert torch.equal(logits(load(hugging_face(tmp_path, model, change=older)).model), logits(model))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floating_point_types_are_computed_in_fp32_which_is_said(tmp_path: Path, dtype: torch.dtype) -> None:
    model = random_model(SMALL)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype).float()
    folder = hugging_face(tmp_path, model, change=lambda tensors: {k: t.to(dtype) for k, t in tensors.items()})

    checkpoint = load(folder)

    short = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}[dtype]
    assert checkpoint.notes == (f"stored as {short}, computed in fp32",)
    assert {parameter.dtype for parameter in checkpoint.model.parameters()} == {torch.float32}
    assert torch.equal(logits(checkpoint.model), logits(model))


def test_mixed_types_are_named_all(tmp_path: Path) -> None:
    def mixed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: t.half() if t.dim() == 2 else t for name, t in tensors.items()}

    checkpoint = load(hugging_face(tmp_path, random_model(SMALL), change=mixed))

    assert checkpoint.stored_as == "fp16 and fp32"


def test_pytorch_model_bin_is_the_same_model(tmp_path: Path) -> None:
    model = random_model(TIED)
    folder = hugging_face(tmp_path, model)
    (folder / "model.safetensors").unlink()
    tensors = script.hugging_face_tensors(model)
    tensors["lm_head.weight"] = tensors["transformer.wte.weight"]  # one storage, two names
    torch.save(tensors, folder / "pytorch_model.bin")

    checkpoint = load(folder)

    assert checkpoint.tied
    assert torch.equal(logits(checkpoint.model), logits(model))


def test_a_file_from_before_pytorchs_zips_opens_too(tmp_path: Path) -> None:
    model = random_model(SMALL)
    folder = hugging_face(tmp_path, model)
    (folder / "model.safetensors").unlink()
    torch.save(script.hugging_face_tensors(model), folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)

    assert torch.equal(logits(load(folder).model), logits(model))


@pytest.mark.parametrize("ending", ["safetensors", "bin"])
@pytest.mark.parametrize("opened", ["folder", "index", "config", "shard"])
def test_shards_are_one_checkpoint_from_wherever_it_is_opened(tmp_path: Path, ending: str, opened: str) -> None:
    model = random_model(SMALL)
    folder = sharded(tmp_path, script.hugging_face_tensors(model), ending)
    stem = "model" if ending == "safetensors" else "pytorch_model"
    path = {
        "folder": folder,
        "index": folder / f"{stem}.{ending}.index.json",
        "config": folder / "config.json",
        "shard": folder / f"{stem}-00002-of-00002.{ending}",
    }[opened]

    assert torch.equal(logits(load(path).model), logits(model))


def sharded(folder: Path, tensors: dict[str, Tensor], ending: str = "safetensors") -> Path:
    hugging_face(folder, random_model(SMALL))
    (folder / "model.safetensors").unlink()
    stem = "model" if ending == "safetensors" else "pytorch_model"
    names = sorted(tensors)
    halves = {f"{stem}-00001-of-00002.{ending}": names[::2], f"{stem}-00002-of-00002.{ending}": names[1::2]}
    for file, half in halves.items():
        part = {name: tensors[name] for name in half}
        if ending == "safetensors":
            save_file(part, folder / file)
        else:
            torch.save(part, folder / file)
    weight_map = {name: file for file, half in halves.items() for name in half}
    (folder / f"{stem}.{ending}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return folder


@pytest.mark.parametrize("index", ["model.safetensors.index.fp16.json", "weights.safetensors.index.json"])
@pytest.mark.parametrize("opened", ["the folder", "the index", "a shard"])
def test_an_index_of_a_variant_or_another_name_is_found(tmp_path: Path, index: str, opened: str) -> None:
    stem = "model.fp16" if "fp16" in index else "weights"
    model = random_model(TIED)
    folder = hugging_face(tmp_path / "hf", model)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {name: f"{stem}-{1 + place % 2:05}-of-00002.safetensors" for place, name in enumerate(tensors)}
    for shard in set(places.values()):
        save_file({name: tensors[name] for name in tensors if places[name] == shard}, folder / shard)
    (folder / index).write_text(json.dumps({"weight_map": places}))

    what = {"the folder": "", "the index": index, "a shard": f"{stem}-00002-of-00002.safetensors"}[opened]

    assert torch.equal(logits(load(folder / what).model), logits(model))


def test_shards_without_their_index_are_told_to_be_so(tmp_path: Path) -> None:
    folder = hugging_face(tmp_path / "hf", random_model(SMALL))
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")

    with pytest.raises(CheckpointError, match=r"holds shards .* but not their index"):
        load(folder)


def test_a_head_of_its_own_stays_one_although_the_settings_say_tied(tmp_path: Path) -> None:
    """So does transformers: what the file holds decides where the two differ."""
    model = random_model(SMALL)

    checkpoint = load(hugging_face(tmp_path, model, {"tie_word_embeddings": True}))

    assert not checkpoint.tied
    assert torch.equal(logits(checkpoint.model), logits(model))


def test_a_head_that_repeats_the_embedding_is_tied(tmp_path: Path) -> None:
    model = random_model(TIED)

    def repeat(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return tensors | {"lm_head.weight": tensors["transformer.wte.weight"].clone()}

    checkpoint = load(hugging_face(tmp_path, model, change=repeat))

    assert checkpoint.tied
    assert torch.equal(logits(checkpoint.model), logits(model))


def test_the_head_alone_stands_for_the_embedding_it_is_tied_to(tmp_path: Path) -> None:
    model = random_model(TIED)

    def head_only(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return tensors | {"lm_head.weight": tensors.pop("transformer.wte.weight")}

    assert torch.equal(logits(load(hugging_face(tmp_path, model, change=head_only)).model), logits(model))


def test_a_separate_head_that_is_missing_is_not_made_up(tmp_path: Path) -> None:
    folder = hugging_face(tmp_path, random_model(TIED), {"tie_word_embeddings": False})

    with pytest.raises(CheckpointError, match=r"lacks 1 of the 29 tensors needed \(lm_head.weight\)"):
        load(folder)


def test_old_settings_without_newer_keys_have_transformers_defaults(tmp_path: Path) -> None:
    config = replace(TIED, vocab_size=50257, context_length=1024, n_heads=12)
    model = random_model(config)
    folder = hugging_face(tmp_path, model)
    (folder / "config.json").write_text(json.dumps({"n_ctx": 1024, "n_embd": 12, "n_layer": 2}))

    assert load(folder).model.config == config


def test_the_general_names_of_the_sizes_count_too(tmp_path: Path) -> None:
    folder = hugging_face(tmp_path, random_model(SMALL))
    settings = json.loads((folder / "config.json").read_text())
    for ours, general in (
        ("n_embd", "hidden_size"),
        ("n_head", "num_attention_heads"),
        ("n_layer", "num_hidden_layers"),
        ("n_positions", "max_position_embeddings"),
    ):
        settings[general] = settings.pop(ours)
    (folder / "config.json").write_text(json.dumps(settings))

    assert load(folder).model.config == SMALL


def test_each_kind_of_dropout_has_its_own_rate(tmp_path: Path) -> None:
    folder = hugging_face(tmp_path, random_model(SMALL), {"embd_pdrop": 0.2, "attn_pdrop": 0.3, "resid_pdrop": 0.4})

    model = load(folder).model

    block = model.trf_blocks[1]
    assert (model.drop_emb.p, block.att.dropout.p, block.drop_shortcut.p) == (0.2, 0.3, 0.4)


def test_a_file_without_config_json_asks_for_the_heads_and_says_what_it_takes_for_granted(tmp_path: Path) -> None:
    model = random_model(replace(TIED, drop_rate=0.0))
    folder = hugging_face(tmp_path, model)
    (folder / "config.json").unlink()

    with pytest.raises(HeadsNeeded):
        load(folder)
    checkpoint = load(folder / "model.safetensors", heads=3)

    assert torch.equal(logits(checkpoint.model), logits(model))
    assert "taken to be GPT-2's" in checkpoint.notes[0]


def test_a_folder_of_the_hubs_cache_opens_by_its_links(tmp_path: Path) -> None:
    real = hugging_face(tmp_path / "blobs", random_model(SMALL))
    cache = tmp_path / "models--someone--their-gpt2"
    snapshot = cache / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0123abcd")
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).symlink_to(real / name)

    for path in (cache, snapshot, snapshot / "model.safetensors"):
        assert load(path).name == "someone/their-gpt2"


def test_tokens_are_gpt2s_unless_the_size_or_a_vocabulary_beside_the_weights_says_otherwise(tmp_path: Path) -> None:
    ours = json.loads(resources.path("gpt2-bpe", "encoder.json").read_text(encoding="utf-8"))
    folder = hugging_face(tmp_path, random_model(replace(SMALL, vocab_size=50257)))
    assert load(folder).gpt2_tokens

    (folder / "vocab.json").write_text(json.dumps(ours))
    assert load(folder).gpt2_tokens
    (folder / "vocab.json").write_text(json.dumps(ours | {"the": 5, "\u0120the": 6}))
    assert not load(folder).gpt2_tokens
    (folder / "vocab.json").unlink()
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": {"der": 0, "die": 1}}}))
    assert not load(folder).gpt2_tokens
    (folder / "tokenizer.json").write_text("no JSON")
    assert load(folder).gpt2_tokens


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model_type": "llama"}, "is a model of the type 'llama' and no GPT-2"),
        ({"model_type": "gpt_neo"}, "is a model of the type 'gpt_neo'"),
        ({"architectures": ["GPT2ForSequenceClassification"]}, "is a GPT2ForSequenceClassification"),
        ({"add_cross_attention": True}, "cross-attention"),
        ({"quantization_config": {"bits": 4}}, "quantised"),
        ({"activation_function": "silu"}, "the activation 'silu' is not supported; gelu_new"),
        ({"n_layer": float("nan")}, "says n_layer = nan, which is no whole number"),
        ({"n_embd": float("nan")}, "says n_embd = nan"),
        ({"n_layer": 10**9}, "says 1,000,000,000 blocks, but the weights of .* have 2"),
        ({"n_layer": -2}, "says n_layer = -2: no model has that"),
        ({"vocab_size": 10**15}, "no model has that"),
        ({"vocab_size": 62}, r"has the shape \(61, 12\), but the settings in config.json ask for \(62, 12\)"),
        ({"n_embd": "12"}, "says n_embd = 12, which is no whole number"),
        ({"n_embd": 2**30}, "ask for"),
        ({"n_head": 5}, "emb_dim must be divisible by n_heads"),
        ({"n_head": True}, "no whole number"),
        ({"n_inner": 0}, "no model has that"),
        ({"layer_norm_epsilon": float("nan")}, "says layer_norm_epsilon = nan, which is no number"),
        ({"layer_norm_epsilon": 10**400}, "says layer_norm_epsilon = 1000.*, which is no number"),
        ({"layer_norm_epsilon": -1e-5}, "norm_eps must be above 0"),
        ({"resid_pdrop": 1.5}, "says resid_pdrop = 1.5"),
        ({"scale_attn_weights": "yes"}, "scale_attn_weights must be True or False"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings = 1"),
    ],
)
def test_settings_that_are_not_supported_or_absurd_are_refused_by_name(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    folder = hugging_face(tmp_path, random_model(SMALL), settings)

    with pytest.raises(CheckpointError, match=said):
        load(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "config.json is no JSON"),
        (b"\xff\xfe\x00", "config.json is no JSON"),
        (b"[" * 100_000, "config.json is no JSON"),
        (b'{"n_layer": ' + b"9" * 10_000 + b"}", "config.json is no JSON"),
        (b"[]", "config.json holds no JSON object, but a list"),
        (b"", "config.json is no JSON"),
    ],
)
def test_a_config_that_is_no_json_object_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    folder = hugging_face(tmp_path, random_model(SMALL))
    (folder / "config.json").write_bytes(content)

    with pytest.raises(CheckpointError, match=said):
        load(folder)


def test_activations_by_other_names_are_the_same_functions(tmp_path: Path) -> None:
    model = random_model(SMALL)
    for name in ("gelu_pytorch_tanh", "gelu_fast"):
        folder = hugging_face(tmp_path, model, {"activation_function": name})
        assert_close(logits(load(folder).model), logits(model))
