"""GPT-2's published names (wte, wpe, h.0.attn.c_attn …), which Hugging Face and nanoGPT share."""

import re
from dataclasses import dataclass
from pathlib import Path

from gptviz.checkpoints import plan
from gptviz.checkpoints.files import Found
from gptviz.checkpoints.plan import Stored, fused, one, transposed
from gptviz.checkpoints.tensor_file import TensorFile

MASKS = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)$")
_MARK = "wpe.weight"


@dataclass(frozen=True)
class Names:
    """How names begin: ``root`` stands before all (``_orig_mod.``), ``body`` before all but the head's."""

    root: str
    body: str

    @property
    def embedding(self) -> str:
        return f"{self.body}wte.weight"

    @property
    def head(self) -> str:
        return f"{self.root}lm_head.weight"


def names_in(file: TensorFile) -> Names | None:
    """Return how the file's names begin; None if it has none of these names."""
    for key in file.entries:
        if key == _MARK or key.endswith(f".{_MARK}"):
            body = key.removesuffix(_MARK)
            return Names(body.removesuffix("transformer."), body)
    return None


@dataclass(frozen=True)
class Shapes:
    """What is read off the tensors; ``conv1d`` tells whether weights are stored (in, out), as OpenAI did."""

    V: int
    C: int
    E: int
    F: int
    L: int
    conv1d: bool
    bias: bool


@dataclass(frozen=True)
class Weights:
    """Tensors with GPT-2's names, what to call them, and the config.json beside them, if any."""

    file: TensorFile
    name: str
    config: Path | None
    names: Names
    shapes: Shapes


def weights_in(file: TensorFile, found: Found) -> Weights | None:
    """Return what has GPT-2's names in ``file``; None if nothing has."""
    names = names_in(file)
    if names is None:
        return None
    return Weights(file, found.name, found.config, names, shapes_in(file, names, found.name))


def shapes_in(file: TensorFile, names: Names, name: str) -> Shapes:
    """Read the sizes off the tensors. A square matrix can't tell how it is stored: c_attn, three times as wide, can."""
    embedding = names.embedding if names.embedding in file.entries else names.head
    V, E = plan.size_of(file, embedding, name)
    C, _ = plan.size_of(file, f"{names.body}{_MARK}", name)
    L = plan.block_count(file.entries, f"{names.body}h.", name)
    conv1d = plan.size_of(file, f"{names.body}h.0.attn.c_attn.weight", name)[0] == E
    F = plan.size_of(file, f"{names.body}h.0.mlp.c_fc.weight", name)[1 if conv1d else 0]
    biases = ("attn.c_attn.bias", "mlp.c_fc.bias", "ln_1.bias")
    return Shapes(V, C, E, F, L, conv1d, any(f"{names.body}h.0.{key}" in file.entries for key in biases))


def stored_as(names: Names, s: Shapes) -> dict[str, Stored]:
    """List all tensors but the output head's, and which parameters they are."""
    b = names.body
    stored = {names.embedding: one("tok_emb.weight", (s.V, s.E)), f"{b}{_MARK}": one("pos_emb.weight", (s.C, s.E))}
    for layer in range(s.L):
        here, there = f"{b}h.{layer}", f"trf_blocks.{layer}"
        width = (s.E, 3 * s.E) if s.conv1d else (3 * s.E, s.E)
        stored[f"{here}.attn.c_attn.weight"] = fused(f"{there}.att", "weight", width, s.conv1d)
        if s.bias:
            stored[f"{here}.attn.c_attn.bias"] = fused(f"{there}.att", "bias", (3 * s.E,), s.conv1d)
        stored |= _linear(f"{here}.attn.c_proj", f"{there}.att.out_proj", (s.E, s.E), s)
        stored |= _linear(f"{here}.mlp.c_fc", f"{there}.ff.layers.0", (s.E, s.F), s)
        stored |= _linear(f"{here}.mlp.c_proj", f"{there}.ff.layers.2", (s.F, s.E), s)
        stored |= _norm(f"{here}.ln_1", f"{there}.norm1", s)
        stored |= _norm(f"{here}.ln_2", f"{there}.norm2", s)
    return stored | _norm(f"{b}ln_f", "final_norm", s)


def _linear(key: str, target: str, sizes: tuple[int, int], s: Shapes) -> dict[str, Stored]:
    """``sizes`` are the features that go in and that come out."""
    weight = transposed if s.conv1d else one
    stored = {f"{key}.weight": weight(f"{target}.weight", sizes if s.conv1d else sizes[::-1])}
    return stored | ({f"{key}.bias": one(f"{target}.bias", sizes[1:])} if s.bias else {})


def _norm(key: str, target: str, s: Shapes) -> dict[str, Stored]:
    stored = {f"{key}.weight": one(f"{target}.scale", (s.E,))}
    return stored | ({f"{key}.bias": one(f"{target}.shift", (s.E,))} if s.bias else {})
