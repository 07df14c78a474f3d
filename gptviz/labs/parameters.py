"""Where a model's parameters are: each tensor, its formula, and the settings that control it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

from gptviz.labs.refusal import RefusedInputError
from gptviz.model.config import CONFIGS, GPTConfig
from gptviz.model.parameters import ParameterCount, count_parameters, skeleton

LARGEST_SIZE = 100_000_000
MOST_LAYERS = 200
NAMED = MappingProxyType({name: config for name, config in CONFIGS.items() if name.startswith("gpt2")})
CALLED = MappingProxyType({"gpt2-small": "124M", "gpt2-medium": "355M", "gpt2-large": "774M", "gpt2-xl": "1558M"})
FP32 = 4  # bytes of a number

_SETTING = MappingProxyType({"V": "vocab_size", "C": "context_length", "E": "emb_dim", "4E": "emb_dim", "F": "n_inner"})
_FAMILY = MappingProxyType(  # by the first word of the name within the model or the block
    {
        "tok_emb": "embedding",
        "pos_emb": "embedding",
        "att": "attention",
        "ff": "feed-forward",
        "norm1": "norm",
        "norm2": "norm",
        "final_norm": "norm",
        "out_head": "head",
    }
)


@dataclass(frozen=True)
class TensorRow:
    """One parameter tensor; a block's tensors stand once and count ``times`` blocks."""

    name: str  # within its block
    component: str  # tok_emb, pos_emb, trf_blocks, final_norm, out_head
    family: str
    symbols: tuple[str, ...]  # of V, C, E, 4E; F where the middle has a width of its own
    shape: tuple[int, ...]
    times: int  # 0 for a head that shares the embedding's tensor
    settings: tuple[str, ...]

    @property
    def each(self) -> int:
        """Parameters of one such tensor."""
        result = 1
        for size in self.shape:
            result *= size
        return result

    @property
    def total(self) -> int:
        return self.each * self.times

    @property
    def symbolic(self) -> str:
        """The formula in letters, such as L · 4E · E."""
        return " · ".join((*(("L",) if self.component == "trf_blocks" else ()), *self.symbols))

    @property
    def numeric(self) -> str:
        """The formula with the configuration's numbers."""
        sizes = [f"{size:,}" for size in self.shape]
        return " · ".join((*((f"{self.times:,}",) if self.component == "trf_blocks" else ()), *sizes))


@dataclass(frozen=True)
class SizeRow:
    """How many parameters a configuration has, counted in three ways."""

    key: str  # empty for one that is none of the four
    config: GPTConfig
    as_coded: int  # the head is a matrix of its own
    tied: int  # the head shares the embedding's
    as_published: int  # tied, and with biases in the projections to queries, keys and values

    @property
    def called(self) -> str:
        """What the size is called, such as 124M; empty for one without a name."""
        return CALLED.get(self.key, "")


@dataclass(frozen=True)
class ParameterTable:
    """All that is known of a configuration's parameters."""

    config: GPTConfig
    tensors: tuple[TensorRow, ...]
    total: int  # of the model as configured: with tie_weights the head counts nothing
    size: SizeRow

    @property
    def head(self) -> int:
        """Parameters of the output head as a matrix of its own."""
        return self.size.as_coded - self.size.tied

    def components(self) -> Mapping[str, int]:
        """Parameters by component."""
        counts: dict[str, int] = {}
        for row in self.tensors:
            counts[row.component] = counts.get(row.component, 0) + row.total
        return counts

    def families(self) -> Mapping[str, int]:
        """Parameters by family of operation, in the order of the model."""
        counts: dict[str, int] = {}
        for row in self.tensors:
            counts[row.family] = counts.get(row.family, 0) + row.total
        return counts


def check_countable(config: GPTConfig) -> None:
    """Raise RefusedInputError for sizes beyond what can be counted at once."""
    for name in ("vocab_size", "context_length", "emb_dim"):
        if getattr(config, name) > LARGEST_SIZE:
            raise RefusedInputError(name, f"Too large: at most {LARGEST_SIZE:,}.")
    if config.ff_dim > 4 * LARGEST_SIZE:
        raise RefusedInputError("emb_dim", f"n_inner, pasted besides, is too large: at most {4 * LARGEST_SIZE:,}.")
    if config.n_layers > MOST_LAYERS:
        raise RefusedInputError(
            "n_layers", f"At most {MOST_LAYERS:,} here: each block is made, without memory, to count."
        )


def parameter_table(config: GPTConfig) -> ParameterTable:
    """Count the parameters of ``config`` on a model without memory.

    Raises
    ------
    RefusedInputError
        If a size is beyond what can be counted.
    """
    check_countable(config)
    model = skeleton(replace(config, tie_weights=False))
    rows: dict[str, TensorRow] = {}
    for path, parameter in model.named_parameters():
        row = _row(path, tuple(parameter.shape), config)
        seen = rows.get(row.name)
        rows[row.name] = row if seen is None else replace(seen, times=seen.times + 1)
    if config.tie_weights:
        rows["out_head.weight"] = replace(rows["out_head.weight"], times=0)
    total = sum(row.total for row in rows.values())
    return ParameterTable(config, tuple(rows.values()), total, size_row(config))


@lru_cache(maxsize=64)
def counted(config: GPTConfig) -> ParameterCount:
    """Count the parameters of ``config`` by component; the latest counts are remembered."""
    return count_parameters(config)


def size_row(config: GPTConfig) -> SizeRow:
    """Count ``config`` as coded, tied, and as GPT-2 was published."""
    plain = counted(config)
    published = counted(replace(config, qkv_bias=True))
    key = next((name for name, named in NAMED.items() if _same_size(named, config)), "")
    return SizeRow(key, config, plain.total, plain.total_tied, published.total_tied)


@cache
def four_sizes() -> tuple[SizeRow, ...]:
    """Count GPT-2's four sizes."""
    return tuple(size_row(config) for config in NAMED.values())


def _same_size(one: GPTConfig, other: GPTConfig) -> bool:
    names = ("vocab_size", "context_length", "emb_dim", "n_heads", "n_layers")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _row(path: str, shape: tuple[int, ...], config: GPTConfig) -> TensorRow:
    component, _, name = path.partition(".")
    inside = component == "trf_blocks"
    local = name.split(".", 1)[1] if inside else path
    family = _FAMILY[local.split(".")[0]]
    symbols = _symbols(local, "4E" if config.n_inner is None else "F")
    settings = [_SETTING[symbol] for symbol in symbols]
    if inside:
        settings.append("n_layers")
    if local in ("att.W_query.bias", "att.W_key.bias", "att.W_value.bias"):
        settings.append("qkv_bias")
    if component == "out_head":
        settings.append("tie_weights")
    return TensorRow(local, component, family, symbols, shape, 1, tuple(dict.fromkeys(settings)))


def _symbols(name: str, middle: str) -> tuple[str, ...]:
    """Return the letters of a tensor's sizes; a Linear's weight has (out, in)."""
    known = {
        "tok_emb.weight": ("V", "E"),
        "pos_emb.weight": ("C", "E"),
        "out_head.weight": ("V", "E"),
        "ff.layers.0.weight": (middle, "E"),
        "ff.layers.0.bias": (middle,),
        "ff.layers.2.weight": ("E", middle),
    }
    if name in known:
        return known[name]
    return ("E", "E") if name.startswith("att.") and name.endswith(".weight") else ("E",)
