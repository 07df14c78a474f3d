"""The catalogue: every operation of a forward pass, in execution order, and the hook that delivers it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from gptviz.model.config import GELU_EXACT, GELU_TANH, RELU, GPTConfig


class Family(StrEnum):
    """The part of the model that a stage belongs to; it decides the stage's colour."""

    EMBEDDING = "embedding"
    NORM = "norm"
    ATTENTION = "attention"
    FEED_FORWARD = "feed-forward"
    SHORTCUT = "shortcut"
    HEAD = "head"


class Source(StrEnum):
    """Where the stage's tensor is seen: what a module is given, what it returns, or after the model's end."""

    INPUT = "input"
    OUTPUT = "output"
    AFTER = "after"


@dataclass(frozen=True)
class Stage:
    """One operation of the forward pass.

    ``dims`` are the output's sizes as letters: B sequences, T tokens, E features, H heads, D features of
    a head, F features of the feed-forward's middle, V tokens of the vocabulary; a digit is itself.
    """

    index: int
    name: str
    operation: str
    family: Family
    layer: int | None
    dims: str
    module: str
    source: Source
    call: int = 0  # drop_shortcut runs twice in a block: 0 or 1

    @cached_property
    def local_name(self) -> str:
        """The name within its block, such as ``att.weights``; the whole name outside the blocks."""
        return self.name if self.layer is None else self.name.split(".", 2)[2]

    def shape(self, config: GPTConfig, batch: int, tokens: int) -> tuple[int, ...]:
        """Return the output's shape for ``batch`` sequences of ``tokens`` tokens."""
        sizes = {
            "B": batch,
            "T": tokens,
            "E": config.emb_dim,
            "H": config.n_heads,
            "D": config.head_dim,
            "F": config.ff_dim,
            "V": config.vocab_size,
            "1": 1,
        }
        return tuple(sizes[letter] for letter in self.dims)


# local name, operation, family, dims, module, source, call
_Row = tuple[str, str, Family, str, str, Source, int]

_IN, _OUT, _AFTER = Source.INPUT, Source.OUTPUT, Source.AFTER
_EMB, _NORM, _ATT, _FF, _ADD, _HEAD = Family

_START: tuple[_Row, ...] = (
    ("ids", "token IDs", _EMB, "BT", "", _IN, 0),
    ("tok_emb", "look-up", _EMB, "BTE", "tok_emb", _OUT, 0),
    ("pos_emb", "look-up", _EMB, "TE", "pos_emb", _OUT, 0),
    ("embeddings", "token + position", _EMB, "BTE", "drop_emb", _IN, 0),
    ("drop_emb", "dropout", _EMB, "BTE", "drop_emb", _OUT, 0),
)
_BLOCK: tuple[_Row, ...] = (
    ("norm1", "LayerNorm", _NORM, "BTE", "norm1", _OUT, 0),
    ("att.W_query", "linear", _ATT, "BTE", "att.W_query", _OUT, 0),
    ("att.W_key", "linear", _ATT, "BTE", "att.W_key", _OUT, 0),
    ("att.W_value", "linear", _ATT, "BTE", "att.W_value", _OUT, 0),
    ("att.queries", "split heads", _ATT, "BHTD", "att.queries", _OUT, 0),
    ("att.keys", "split heads", _ATT, "BHTD", "att.keys", _OUT, 0),
    ("att.values", "split heads", _ATT, "BHTD", "att.values", _OUT, 0),
    ("att.scores", "queries · keysᵀ", _ATT, "BHTT", "att.scores", _OUT, 0),
    ("att.scaled", "÷ √D", _ATT, "BHTT", "att.scaled", _OUT, 0),
    ("att.masked", "causal mask", _ATT, "BHTT", "att.masked", _OUT, 0),
    ("att.weights", "softmax", _ATT, "BHTT", "att.weights", _OUT, 0),
    ("att.dropout", "dropout", _ATT, "BHTT", "att.dropout", _OUT, 0),
    ("att.context", "weights · values", _ATT, "BHTD", "att.context", _OUT, 0),
    ("att.merged", "merge heads", _ATT, "BTE", "att.merged", _OUT, 0),
    ("att.out_proj", "linear", _ATT, "BTE", "att.out_proj", _OUT, 0),
    ("drop_shortcut1", "dropout", _ADD, "BTE", "drop_shortcut", _OUT, 0),
    ("shortcut1", "+ block input", _ADD, "BTE", "norm2", _IN, 0),
    ("norm2", "LayerNorm", _NORM, "BTE", "norm2", _OUT, 0),
    ("ff.layers.0", "linear, expand", _FF, "BTF", "ff.layers.0", _OUT, 0),
    ("ff.layers.1", "GELU", _FF, "BTF", "ff.layers.1", _OUT, 0),
    ("ff.layers.2", "linear, contract", _FF, "BTE", "ff.layers.2", _OUT, 0),
    ("drop_shortcut2", "dropout", _ADD, "BTE", "drop_shortcut", _OUT, 1),
    ("shortcut2", "+ shortcut1", _ADD, "BTE", "", _OUT, 0),
)
_END: tuple[_Row, ...] = (
    ("final_norm", "LayerNorm", _NORM, "BTE", "final_norm", _OUT, 0),
    ("out_head", "linear, logits", _HEAD, "BTV", "out_head", _OUT, 0),
    ("last", "last position", _HEAD, "BV", "", _AFTER, 0),
    ("next", "argmax", _HEAD, "B1", "", _AFTER, 0),
)


_ACTIVATIONS = {GELU_TANH: "GELU", GELU_EXACT: "exact GELU", RELU: "ReLU"}


@cache
def catalogue(config: GPTConfig) -> tuple[Stage, ...]:
    """List all stages of a model of ``config``: 9 and 23 for each block."""
    return tuple(Stage(index, *row) for index, row in enumerate(_rows(config)))


def block_stages(config: GPTConfig, layer: int) -> tuple[Stage, ...]:
    """List the stages of block ``layer``, with their places in the whole catalogue."""
    first = len(_START) + layer * len(_BLOCK)
    return catalogue(config)[first : first + len(_BLOCK)]


def block_name(layer: int) -> str:
    """Return the module path of block ``layer``, which is the prefix of its stages' names too."""
    return f"trf_blocks.{layer}"


def block_input_name(layer: int) -> str:
    """Return the stage whose output goes into block ``layer``."""
    return "drop_emb" if layer == 0 else f"{block_name(layer - 1)}.shortcut2"


def scaling(config: GPTConfig, layer: int) -> str:
    """Write what the attention scores of block ``layer`` are divided by."""
    by_layer = config.scale_attn_by_inverse_layer_idx
    if config.scale_attn_weights:
        return f"÷ (√D · {layer + 1})" if by_layer else "÷ √D"
    return f"÷ {layer + 1}" if by_layer else "not scaled"


def _rows(config: GPTConfig) -> Iterator[tuple[str, str, Family, int | None, str, str, Source, int]]:
    for name, operation, family, dims, module, source, call in _START:
        yield name, operation, family, None, dims, module, source, call
    for layer in range(config.n_layers):
        prefix = block_name(layer)
        varied = {"att.scaled": scaling(config, layer), "ff.layers.1": _ACTIVATIONS[config.activation]}
        for name, operation, family, dims, module, source, call in _BLOCK:
            path = f"{prefix}.{module}" if module else prefix
            yield f"{prefix}.{name}", varied.get(name, operation), family, layer, dims, path, source, call
    for name, operation, family, dims, module, source, call in _END:
        yield name, operation, family, None, dims, module, source, call
