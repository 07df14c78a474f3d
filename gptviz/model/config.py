"""The settings of a GPT model, checked when they are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

_SIZES = ("vocab_size", "context_length", "emb_dim", "n_heads", "n_layers")
_SWITCHES = ("qkv_bias", "bias", "scale_attn_weights", "scale_attn_by_inverse_layer_idx", "tie_weights")

GELU_TANH, GELU_EXACT, RELU = ACTIVATIONS = ("gelu_tanh", "gelu", "relu")


class ConfigError(ValueError):
    """A setting is out of range; the message names the field and the reason."""


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """The seven settings of the chapter; then what trained models of this family have otherwise.

    ``n_inner`` is the width of the feed-forward's middle, four times ``emb_dim`` where it is None. ``activation``
    is gelu_tanh, gelu (the exact one) or relu. ``norm_eps`` is LayerNorm's. ``bias`` is that of the LayerNorms
    (their shift) and of all linear layers besides query, key and value. Scores are divided by √D if
    ``scale_attn_weights``, and by the block's number, from 1, if ``scale_attn_by_inverse_layer_idx``.
    ``tie_weights`` lets the output head share the embedding's weights.

    Raises
    ------
    ConfigError
        If a size is no positive integer, ``emb_dim`` is not divisible by ``n_heads``, ``drop_rate`` is outside
        [0, 1), ``norm_eps`` outside (0, 1), or the activation unknown.
    """

    vocab_size: int = 50257  # V
    context_length: int = 1024  # the largest T
    emb_dim: int = 768  # E
    n_heads: int = 12  # H
    n_layers: int = 12  # L
    drop_rate: float = 0.1
    qkv_bias: bool = False
    n_inner: int | None = None
    activation: str = GELU_TANH
    norm_eps: float = 1e-5
    bias: bool = True
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    tie_weights: bool = False

    def __post_init__(self) -> None:
        for name in _SIZES:
            self._check_size(name)
        if self.n_inner is not None:
            self._check_size("n_inner")
        if self.emb_dim % self.n_heads:
            raise ConfigError(
                f"emb_dim must be divisible by n_heads, so that every head gets the same number of features, "
                f"but {self.emb_dim} / {self.n_heads} leaves {self.emb_dim % self.n_heads}"
            )
        for name in ("drop_rate", "norm_eps"):
            self._check_number(name)
        if not 0 <= self.drop_rate < 1:
            raise ConfigError(f"drop_rate must be at least 0 and below 1, but is {self.drop_rate}")
        if not 0 < self.norm_eps < 1:
            raise ConfigError(f"norm_eps must be above 0 and below 1, but is {self.norm_eps}")
        if self.activation not in ACTIVATIONS:
            raise ConfigError(f"activation must be one of {', '.join(ACTIVATIONS)}, but is {self.activation!r}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be True or False, but is {getattr(self, name)!r}")

    def _check_size(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigError(f"{name} must be a whole number, but is {value!r}")
        if value < 1:
            raise ConfigError(f"{name} must be at least 1, but is {value}")

    def _check_number(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{name} must be a number, but is {value!r}")

    @property
    def head_dim(self) -> int:
        """D, the number of features of one head: E / H."""
        return self.emb_dim // self.n_heads

    @property
    def ff_dim(self) -> int:
        """F, the number of features in the feed-forward's middle: 4E unless ``n_inner`` says otherwise."""
        return 4 * self.emb_dim if self.n_inner is None else self.n_inner

    @property
    def scaled_by_root(self) -> bool:
        """Whether attention scores are divided by √D and nothing else, as in GPT-2."""
        return self.scale_attn_weights and not self.scale_attn_by_inverse_layer_idx

    def score_divisor(self, layer: int) -> float:
        """Return what the attention scores of block ``layer`` are divided by; √D in GPT-2."""
        divisor = math.sqrt(self.head_dim) if self.scale_attn_weights else 1.0
        return divisor * (layer + 1) if self.scale_attn_by_inverse_layer_idx else divisor

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> "GPTConfig":
        """Make a configuration from the chapter's dictionary; unknown keys are refused by name."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ConfigError(f"unknown setting {', '.join(unknown)}: the settings are {', '.join(sorted(known))}")
        return cls(**settings)  # type: ignore[arg-type]


GPT2_SMALL = GPTConfig()
GPT2_MEDIUM = GPTConfig(emb_dim=1024, n_layers=24, n_heads=16)
GPT2_LARGE = GPTConfig(emb_dim=1280, n_layers=36, n_heads=20)
GPT2_XL = GPTConfig(emb_dim=1600, n_layers=48, n_heads=25)
TINY = GPTConfig(context_length=64, emb_dim=32, n_layers=2, n_heads=2)

CONFIGS: Mapping[str, GPTConfig] = MappingProxyType(
    {
        "gpt2-small": GPT2_SMALL,
        "gpt2-medium": GPT2_MEDIUM,
        "gpt2-large": GPT2_LARGE,
        "gpt2-xl": GPT2_XL,
        "tiny": TINY,
    }
)
