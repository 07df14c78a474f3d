"""The sizes of a run, as questions use them."""

from dataclasses import dataclass

from gptviz.model.config import RELU, GPTConfig


@dataclass(frozen=True)
class Sizes:
    """A pass of a model of ``config`` on ``batch`` sequences of ``tokens`` tokens."""

    config: GPTConfig
    batch: int
    tokens: int

    @property
    def letters(self) -> tuple[int, int, int, int, int, int, int]:
        """B, T, E, H, D, F and V, as in the catalogue of stages."""
        c = self.config
        return self.batch, self.tokens, c.emb_dim, c.n_heads, c.head_dim, c.ff_dim, c.vocab_size

    @property
    def activation(self) -> str:
        """The function in the middle of the feed-forward network, as people call it."""
        return "ReLU" if self.config.activation == RELU else "GELU"


def shape(*sizes: int) -> str:
    """Write a shape as torch does, without its name."""
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
