"""The chapter's own state dict: the names of GPTModel. Sizes are read off the tensors; heads can't be.

A training script may have put the chapter's dictionary of settings beside it, which tells them.
"""

import re
from dataclasses import dataclass

from gptviz.checkpoints import plan
from gptviz.checkpoints.plan import Plan, Stored, one
from gptviz.checkpoints.settings import settings_with
from gptviz.checkpoints.tensor_file import TensorFile

FORMAT = "state dict of the chapter's GPTModel"
_MARK = "tok_emb.weight"
_MASKS = re.compile(r"trf_blocks\.\d+\.att\.(mask|masked\.future)$")


def prefix_of(file: TensorFile) -> str | None:
    """Return what stands before the names (``module.``, ``_orig_mod.``); None if this is another format."""
    return next((key.removesuffix(_MARK) for key in file.entries if key == _MARK or key.endswith(f".{_MARK}")), None)


@dataclass(frozen=True)
class _Sizes:
    V: int
    C: int
    E: int
    F: int
    L: int
    qkv_bias: bool
    bias: bool


def plan_for(file: TensorFile, name: str, heads: int | None) -> Plan:
    """Plan the model; see ``gptviz.checkpoints.load`` for what is raised."""
    p = prefix_of(file) or ""
    V, E = plan.size_of(file, f"{p}{_MARK}", name)
    C, _ = plan.size_of(file, f"{p}pos_emb.weight", name)
    L = plan.block_count(file.entries, f"{p}trf_blocks.", name)
    first = f"{p}trf_blocks.0"
    F, _ = plan.size_of(file, f"{first}.ff.layers.0.weight", name)
    qkv_bias = f"{first}.att.W_query.bias" in file.entries
    bias = any(f"{first}.{key}" in file.entries for key in ("att.out_proj.bias", "norm1.shift"))
    settings = settings_with("n_heads", file.rest)
    plan.check_sizes(settings, name, {"n_layers": L, "emb_dim": E, "vocab_size": V, "context_length": C})
    stored = {f"{p}{key}": value for key, value in _stored(_Sizes(V, C, E, F, L, qkv_bias, bias)).items()}
    plan.check(stored, file, name, _MASKS, "the other tensors")
    config = plan.make_config(
        name,
        vocab_size=V,
        context_length=C,
        emb_dim=E,
        n_heads=settings["n_heads"] if settings else plan.heads_or_ask(heads, E, name),
        n_layers=L,
        drop_rate=0.0,
        qkv_bias=qkv_bias,
        n_inner=None if F == 4 * E else F,
        bias=bias,
        tie_weights=file.same(f"{p}{_MARK}", f"{p}out_head.weight"),
    )
    return Plan(FORMAT, config, stored, {})


def _stored(sizes: _Sizes) -> dict[str, Stored]:
    V, C, E, F = sizes.V, sizes.C, sizes.E, sizes.F
    shapes: dict[str, tuple[int, ...]] = {"tok_emb.weight": (V, E), "pos_emb.weight": (C, E)}
    for layer in range(sizes.L):
        block = f"trf_blocks.{layer}"
        for linear in ("W_query", "W_key", "W_value"):
            shapes |= _linear(f"{block}.att.{linear}", E, E, sizes.qkv_bias)
        shapes |= _linear(f"{block}.att.out_proj", E, E, sizes.bias)
        shapes |= _linear(f"{block}.ff.layers.0", F, E, sizes.bias)
        shapes |= _linear(f"{block}.ff.layers.2", E, F, sizes.bias)
        shapes |= _norm(f"{block}.norm1", E, sizes.bias)
        shapes |= _norm(f"{block}.norm2", E, sizes.bias)
    shapes |= _norm("final_norm", E, sizes.bias)
    shapes["out_head.weight"] = (V, E)
    return {key: one(key, shape) for key, shape in shapes.items()}


def _linear(name: str, out: int, into: int, bias: bool) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": (out, into)}
    return shapes | {f"{name}.bias": (out,)} if bias else shapes


def _norm(name: str, size: int, bias: bool) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {f"{name}.scale": (size,)}
    return shapes | {f"{name}.shift": (size,)} if bias else shapes
