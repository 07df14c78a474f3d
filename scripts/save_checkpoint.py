#!/usr/bin/env python3
"""Save a model for other programs, and for gptviz itself: as the chapter's state dict, or as Hugging Face's GPT-2.

    scripts/save_checkpoint.py model.pth --config tiny                 # the chapter's names, torch.save
    scripts/save_checkpoint.py FOLDER --weights ckpt.pt                # config.json and model.safetensors

The ending decides: .pth and .pt are the chapter's state dict; anything else is a folder for Hugging Face.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from gptviz.model import GPTConfig, GPTModel

ACTIVATIONS = {"gelu_tanh": "gelu_new", "gelu": "gelu", "relu": "relu"}


def main() -> int:
    from gptviz.model import CONFIGS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="a .pth file, or a folder")
    parser.add_argument("--config", choices=list(CONFIGS), default="gpt2-small", help="an untrained model of this size")
    parser.add_argument("--seed", type=int, default=123, help="seed of the untrained model's weights")
    parser.add_argument("--weights", type=Path, help="a checkpoint to save in the other format")
    parser.add_argument("--heads", type=int, help="its number of attention heads, if the file can't tell")
    options = parser.parse_args()
    try:
        written = save(the_model(options), options.out)
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    print("\n".join(str(path) for path in written))
    return 0


def the_model(options: argparse.Namespace) -> "GPTModel":
    if options.weights is not None:
        import gptviz

        return gptviz.load(options.weights, heads=options.heads).model
    from gptviz.model import CONFIGS, initialise

    return initialise(CONFIGS[options.config], options.seed)


def save(model: "GPTModel", out: Path) -> list[Path]:
    """Save ``model`` at ``out`` in the format that its ending asks for; return what was written."""
    if out.suffix in (".pth", ".pt"):
        save_for_the_chapter(model, out)
        return [out]
    return save_for_hugging_face(model, out)


def save_for_the_chapter(model: "GPTModel", path: Path) -> None:
    import torch

    from gptviz.model import GPTConfig

    usual, config = GPTConfig(), model.config
    for setting in (
        "n_inner",
        "activation",
        "norm_eps",
        "bias",
        "scale_attn_weights",
        "scale_attn_by_inverse_layer_idx",
    ):
        if getattr(config, setting) != getattr(usual, setting):
            raise ValueError(
                f"a state dict can't tell that {setting} is {getattr(config, setting)}, and the chapter's model has "
                f"{getattr(usual, setting)}: save it as a folder for Hugging Face"
            )
    torch.save(model.state_dict(), path)


def save_for_hugging_face(model: "GPTModel", folder: Path) -> list[Path]:
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config, weights = folder / "config.json", folder / "model.safetensors"
    config.write_text(json.dumps(hugging_face_config(model.config), indent=2) + "\n", encoding="utf-8")
    save_file(hugging_face_tensors(model), weights, metadata={"format": "pt"})
    return [config, weights]


def hugging_face_config(config: "GPTConfig") -> dict[str, Any]:
    """Our settings by transformers' names."""
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": config.vocab_size,
        "n_positions": config.context_length,
        "n_embd": config.emb_dim,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "n_inner": config.n_inner,
        "activation_function": ACTIVATIONS[config.activation],
        "layer_norm_epsilon": config.norm_eps,
        "embd_pdrop": config.drop_rate,
        "attn_pdrop": config.drop_rate,
        "resid_pdrop": config.drop_rate,
        "scale_attn_weights": config.scale_attn_weights,
        "scale_attn_by_inverse_layer_idx": config.scale_attn_by_inverse_layer_idx,
        "tie_word_embeddings": config.tie_weights,
        "dtype": "float32",
    }


def hugging_face_tensors(model: "GPTModel") -> "dict[str, Tensor]":
    """Our weights by GPT-2's names: stored (in, out), query, key and value side by side; zeros for absent biases."""
    import torch

    state = model.state_dict()
    width = model.config.emb_dim

    def linear(ours: str) -> "dict[str, Tensor]":
        weight = state[f"{ours}.weight"]
        return {"weight": weight.T, "bias": state.get(f"{ours}.bias", torch.zeros(len(weight)))}

    def norm(ours: str) -> "dict[str, Tensor]":
        return {"weight": state[f"{ours}.scale"], "bias": state.get(f"{ours}.shift", torch.zeros(width))}

    parts = {"wte": {"weight": state["tok_emb.weight"]}, "wpe": {"weight": state["pos_emb.weight"]}}
    for layer in range(model.config.n_layers):
        ours, theirs = f"trf_blocks.{layer}", f"h.{layer}"
        qkv = [linear(f"{ours}.att.{name}") for name in ("W_query", "W_key", "W_value")]
        parts[f"{theirs}.attn.c_attn"] = {
            kind: torch.cat([part[kind] for part in qkv], dim=-1) for kind in ("weight", "bias")
        }
        parts[f"{theirs}.attn.c_proj"] = linear(f"{ours}.att.out_proj")
        parts[f"{theirs}.mlp.c_fc"] = linear(f"{ours}.ff.layers.0")
        parts[f"{theirs}.mlp.c_proj"] = linear(f"{ours}.ff.layers.2")
        parts[f"{theirs}.ln_1"] = norm(f"{ours}.norm1")
        parts[f"{theirs}.ln_2"] = norm(f"{ours}.norm2")
    parts["ln_f"] = norm("final_norm")
    tensors = {
        f"transformer.{name}.{kind}": tensor.detach().contiguous()
        for name, part in parts.items()
        for kind, tensor in part.items()
    }
    if not model.config.tie_weights:
        tensors["lm_head.weight"] = state["out_head.weight"].detach().contiguous()
    return tensors


if __name__ == "__main__":
    sys.exit(main())
