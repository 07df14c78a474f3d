"""The settings of a GPT model, checked when they are made."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

_SIZES = ("vocab_size", "context_length", "emb_dim", "n_heads", "n_layers")


class ConfigError(ValueError):
    """A setting is out of range; the message names the field and the reason."""


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """The seven settings of the chapter, and whether the output head shares the embedding's weights.

    Raises
    ------
    ConfigError
        If a size is no positive integer, ``emb_dim`` is not divisible by ``n_heads``,
        or ``drop_rate`` is outside [0, 1).
    """

    vocab_size: int = 50257  # V
    context_length: int = 1024  # the largest T
    emb_dim: int = 768  # E
    n_heads: int = 12  # H
    n_layers: int = 12  # L
    drop_rate: float = 0.1
    qkv_bias: bool = False
    tie_weights: bool = False

    def __post_init__(self) -> None:
        for name in _SIZES:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ConfigError(f"{name} must be a whole number, but is {value!r}")
            if value < 1:
                raise ConfigError(f"{name} must be at least 1, but is {value}")
        if self.emb_dim % self.n_heads:
            raise ConfigError(
                f"emb_dim must be divisible by n_heads, so that every head gets the same number of features, "
                f"but {self.emb_dim} / {self.n_heads} leaves {self.emb_dim % self.n_heads}"
            )
        if isinstance(self.drop_rate, bool) or not isinstance(self.drop_rate, int | float):
            raise ConfigError(f"drop_rate must be a number, but is {self.drop_rate!r}")
        if not 0 <= self.drop_rate < 1:
            raise ConfigError(f"drop_rate must be at least 0 and below 1, but is {self.drop_rate}")
        for name in ("qkv_bias", "tie_weights"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be True or False, but is {getattr(self, name)!r}")

    @property
    def head_dim(self) -> int:
        """D, the number of features of one head: E / H."""
        return self.emb_dim // self.n_heads

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
