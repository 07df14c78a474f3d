"""Writes checkpoints of a small model in the formats that people have."""

import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from gptviz.model import GPTConfig, GPTModel

SMALL = GPTConfig(vocab_size=61, context_length=10, emb_dim=12, n_heads=3, n_layers=2, drop_rate=0.1, qkv_bias=True)
IDS = torch.tensor([[7, 3, 60, 0, 12]])


def _script() -> ModuleType:
    path = Path(__file__).parents[1] / "scripts" / "save_checkpoint.py"
    spec = importlib.util.spec_from_file_location("save_checkpoint", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = _script()


def random_model(config: GPTConfig, seed: int = 0) -> GPTModel:
    """A model whose every parameter, norms and biases too, matters for the logits."""
    torch.manual_seed(seed)
    model = GPTModel(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()


def logits(model: GPTModel, ids: Tensor = IDS) -> Tensor:
    with torch.no_grad():
        return model(ids)


def hugging_face(
    folder: Path,
    model: GPTModel,
    settings: Mapping[str, Any] | None = None,
    change: Callable[[dict[str, Tensor]], dict[str, Tensor]] = lambda tensors: tensors,
) -> Path:
    """A folder with config.json and model.safetensors; ``settings`` and ``change`` spoil it, or make it older."""
    folder.mkdir(exist_ok=True)
    config = script.hugging_face_config(model.config) | dict(settings or {})
    (folder / "config.json").write_text(json.dumps(config))
    save_file(change(script.hugging_face_tensors(model)), folder / "model.safetensors")
    return folder


def nanogpt_tensors(model: GPTModel, prefix: str = "") -> dict[str, Tensor]:
    """GPT-2's names, but weights as PyTorch's Linear stores them, and the head beside the embedding that it is."""
    tensors = {}
    for name, tensor in script.hugging_face_tensors(model).items():
        turned = name.split(".")[-2] in ("c_attn", "c_proj", "c_fc") and tensor.dim() == 2
        if model.config.bias or not name.endswith(".bias"):
            tensors[prefix + name] = tensor.T.contiguous() if turned else tensor
    tensors[f"{prefix}lm_head.weight"] = tensors[f"{prefix}transformer.wte.weight"]
    return tensors


def nanogpt(path: Path, model: GPTModel, prefix: str = "", **changed: Any) -> Path:
    config = model.config
    args = {
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "n_embd": config.emb_dim,
        "block_size": config.context_length,
        "bias": config.bias,
        "vocab_size": config.vocab_size,
        "dropout": config.drop_rate,
    }
    args = {key: value for key, value in (args | changed).items() if value is not None}
    whole = {
        "model": nanogpt_tensors(model, prefix),
        "optimizer": {"state": {}, "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.95)}]},
        "model_args": args,
        "iter_num": 250,
        "best_val_loss": torch.tensor(3.1),
        "config": {"out_dir": "out", "dataset": "shakespeare"},
    }
    torch.save(whole, path)
    return path
