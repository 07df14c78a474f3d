"""Hugging Face's GPT-2: weights stored (in, out), query, key and value in one tensor, settings in config.json."""

import sys
from collections.abc import Mapping
from typing import Any

from gptviz.checkpoints import gpt2_names, plan
from gptviz.checkpoints.compare import equal
from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.files import CONFIG, read_json
from gptviz.checkpoints.gpt2_names import Names, Shapes, Weights
from gptviz.checkpoints.plan import Plan, one
from gptviz.checkpoints.tensor_file import TensorFile
from gptviz.model.config import GELU_EXACT, GELU_TANH, RELU

FORMAT = "Hugging Face GPT-2"
_ACTIVATIONS = {
    "gelu_new": GELU_TANH,
    "gelu_pytorch_tanh": GELU_TANH,
    "gelu_python_tanh": GELU_TANH,
    "gelu_accurate": GELU_TANH,
    "gelu_fast": GELU_TANH,
    "gelu": GELU_EXACT,
    "gelu_python": GELU_EXACT,
    "relu": RELU,
}
_ARCHITECTURES = ("GPT2LMHeadModel", "GPT2Model")
# our name of a size; its names in config.json; what transformers takes where there is none
_SIZES = (
    ("vocab_size", ("vocab_size",), 50257),
    ("context_length", ("n_positions", "max_position_embeddings", "n_ctx"), 1024),
    ("emb_dim", ("n_embd", "hidden_size"), 768),
    ("n_layers", ("n_layer", "num_hidden_layers"), 12),
    ("n_heads", ("n_head", "num_attention_heads"), 12),
)
_ANOTHER = "gptviz opens GPT-2's architecture alone: choose such a model"


def check_kind(settings: Mapping[str, Any], name: str) -> None:
    """Refuse another architecture by its name."""
    kind = settings.get("model_type", "gpt2")
    if kind != "gpt2":
        raise CheckpointError(f"{name} is a model of the type {str(kind)[:60]!r} and no GPT-2", _ANOTHER)
    architectures = settings.get("architectures") or _ARCHITECTURES
    if isinstance(architectures, list | tuple) and not any(known in architectures for known in _ARCHITECTURES):
        raise CheckpointError(
            f"{name} is a {', '.join(str(a)[:60] for a in architectures[:3])}, which has another head than a "
            "language model's",
            "Choose a GPT2LMHeadModel",
        )
    for key, what in (("add_cross_attention", "cross-attention"), ("quantization_config", "quantised weights")):
        if settings.get(key):
            raise CheckpointError(f"{name} has {what} ({key} in {CONFIG}), which is not supported", _ANOTHER)


def plan_for(weights: Weights, heads: int | None) -> Plan:
    """Plan the model; see ``gptviz.checkpoints.load`` for what is raised."""
    file, name, config, names, shapes = weights.file, weights.name, weights.config, weights.names, weights.shapes
    settings: Mapping[str, Any] = {} if config is None else read_json(config)
    check_kind(settings, name)
    asked = _asked(settings, shapes) if config is not None else {}
    if asked and asked["n_layers"] != shapes.L:
        raise CheckpointError(
            f"{CONFIG} says {asked['n_layers']:,} blocks, but the weights of {name} have {shapes.L:,}",
            "Check that the settings belong to these weights",
        )
    if asked:
        shapes = Shapes(
            asked["vocab_size"], asked["context_length"], asked["emb_dim"], asked["n_inner"], shapes.L, True, True
        )
    tied, stored = _head(settings, file, names, shapes)
    plan.check(stored, file, name, gpt2_names.MASKS, f"the settings in {CONFIG}" if asked else "the other tensors")
    if tied and {names.embedding, names.head} <= stored.keys():
        tied = equal(file, names.embedding, names.head)
    rates = {} if not asked else _drop_rates(settings)
    made = plan.make_config(
        CONFIG if asked else name,
        vocab_size=shapes.V,
        context_length=shapes.C,
        emb_dim=shapes.E,
        n_heads=asked["n_heads"] if asked else plan.heads_or_ask(heads, shapes.E, name),
        n_layers=shapes.L,
        drop_rate=rates.get("drop_shortcut", 0.0),
        qkv_bias=shapes.bias,
        n_inner=None if shapes.F == 4 * shapes.E else shapes.F,
        activation=_activation(settings),
        norm_eps=_number(settings, "layer_norm_epsilon", 1e-5),
        bias=shapes.bias,
        scale_attn_weights=settings.get("scale_attn_weights", True),
        scale_attn_by_inverse_layer_idx=settings.get("scale_attn_by_inverse_layer_idx", False),
        tie_weights=tied,
    )
    notes = () if asked else (f"no {CONFIG}: all settings but the sizes are taken to be GPT-2's",)
    return Plan(FORMAT, made, stored, rates, notes)


def _asked(settings: Mapping[str, Any], shapes: Shapes) -> dict[str, int]:
    """Return the sizes that config.json asks for."""
    asked: dict[str, int] = {}
    for ours, theirs, otherwise in _SIZES:
        key = next((key for key in theirs if settings.get(key) is not None), theirs[0])
        asked[ours] = _whole(key, settings.get(key, otherwise))
    inner = settings.get("n_inner")
    asked["n_inner"] = 4 * asked["emb_dim"] if inner is None else _whole("n_inner", inner)
    return asked


def _whole(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise CheckpointError(f"{CONFIG} says {key} = {str(value)[:40]}, which is no whole number", "Mend the file")
    if not 0 < value < 2**31:
        raise CheckpointError(
            f"{CONFIG} says {key} = {value if abs(value) < 10**20 else '…'}: no model has that", "Mend the file"
        )
    return value


def _head(
    settings: Mapping[str, Any], file: TensorFile, names: Names, shapes: Shapes
) -> tuple[bool, dict[str, plan.Stored]]:
    """Tie the head if the settings say so. A file that holds both all the same decides by their values.

    transformers does it like this. A file may hold either of two tied tensors alone.
    """
    stored = gpt2_names.stored_as(names, shapes)
    tied = settings.get("tie_word_embeddings", True)
    if not isinstance(tied, bool):
        raise CheckpointError(f"{CONFIG} says tie_word_embeddings = {str(tied)[:40]}, which is not true or false")
    if tied and names.embedding not in file.entries:
        del stored[names.embedding]
        stored[names.head] = one("tok_emb.weight", (shapes.V, shapes.E))
    elif not tied or names.head in file.entries:
        stored[names.head] = one("out_head.weight", (shapes.V, shapes.E))
    return tied, stored


def _activation(settings: Mapping[str, Any]) -> str:
    asked = settings.get("activation_function", "gelu_new")
    if not isinstance(asked, str) or asked not in _ACTIVATIONS:
        raise CheckpointError(
            f"the activation {str(asked)[:60]!r} is not supported; {', '.join(_ACTIVATIONS)} are",
            "Choose a model with one of these",
        )
    return _ACTIVATIONS[asked]


def _drop_rates(settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the rates of the three kinds of dropout, by the end of the modules' names."""
    keys = {"drop_emb": "embd_pdrop", "att.dropout": "attn_pdrop", "drop_shortcut": "resid_pdrop"}
    rates = {module: _number(settings, key, 0.1) for module, key in keys.items()}
    for module, rate in rates.items():
        if not 0 <= rate < 1:
            raise CheckpointError(f"{CONFIG} says {keys[module]} = {rate}, but it must be from 0 to below 1")
    return rates


def _number(settings: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = settings.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise CheckpointError(f"{CONFIG} says {key} = {str(value)[:40]}, which is no number", "Mend the file")
    return float(value)
