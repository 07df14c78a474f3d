"""The outer architecture first: placeholders that return their input, to be replaced one after another.

A shell of placeholders answers one question, whether the parts are wired together: token IDs in, logits of the right
shape out. What the parts compute is another question.
"""

from collections.abc import Set as AbstractSet

import torch
from torch import Tensor, nn

from gptviz.model.attention import MultiHeadAttention
from gptviz.model.config import GPTConfig
from gptviz.model.gpt import TransformerBlock, check_ids
from gptviz.model.layers import FeedForward, LayerNorm, LayerNormWithoutShift
from gptviz.model.parts import BLOCK_PARTS, Part


class DummyLayerNorm(nn.Module):
    """Stands where a LayerNorm will be; takes the same arguments and returns its input."""

    def __init__(self, emb_dim: int, eps: float = 1e-5) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x  # (B, T, E)


class DummyAttention(nn.Module):
    """Stands where attention will be."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x  # (B, T, E)


class DummyFeedForward(nn.Module):
    """Stands where the feed-forward network will be."""

    def __init__(self, emb_dim: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x  # (B, T, E)


class DummyTransformerBlock(nn.Module):
    """Stands where a transformer block will be."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x  # (B, T, E)


class UnfinishedBlock(nn.Module):
    """A transformer block of which only the parts in ``real`` are there yet.

    Its modules are made in the finished block's order, so that with all parts it has the same weights.
    """

    def __init__(self, config: GPTConfig, real: AbstractSet[Part], layer: int = 0) -> None:
        super().__init__()
        self.att: nn.Module = DummyAttention(config)
        if Part.ATTENTION in real:
            self.att = MultiHeadAttention(
                config.emb_dim,
                config.context_length,
                config.n_heads,
                config.drop_rate,
                config.qkv_bias,
                bias=config.bias,
                divisor=None if config.scaled_by_root else config.score_divisor(layer),
            )
        self.ff: nn.Module = DummyFeedForward(config.emb_dim)
        if Part.FEED_FORWARD in real:
            self.ff = FeedForward(config.emb_dim, config.ff_dim, config.activation, config.bias)
        self.norm1 = make_norm(config, Part.BLOCK_NORMS in real)
        self.norm2 = make_norm(config, Part.BLOCK_NORMS in real)
        self.drop_shortcut = nn.Dropout(config.drop_rate) if Part.SHORTCUTS in real else None

    def forward(self, x: Tensor) -> Tensor:
        # every line keeps the shape (B, T, E)
        shortcut = x
        x = self.att(self.norm1(x))
        if self.drop_shortcut is not None:
            x = self.drop_shortcut(x) + shortcut

        shortcut = x
        x = self.ff(self.norm2(x))
        if self.drop_shortcut is not None:
            x = self.drop_shortcut(x) + shortcut
        return x


def make_norm(config: GPTConfig, real: bool) -> nn.Module:
    """Return a placeholder or a real LayerNorm."""
    if not real:
        return DummyLayerNorm(config.emb_dim, config.norm_eps)
    norm = LayerNorm if config.bias else LayerNormWithoutShift
    return norm(config.emb_dim, config.norm_eps)


def make_block(config: GPTConfig, real: AbstractSet[Part], layer: int) -> nn.Module:
    """Return a placeholder, the real block, or a block of which some parts are real."""
    if not BLOCK_PARTS & real:
        return DummyTransformerBlock(config)
    if real >= BLOCK_PARTS:
        return TransformerBlock(config, layer)
    return UnfinishedBlock(config, real, layer)


class DummyGPTModel(nn.Module):
    """GPTModel's outer architecture around placeholders; the parts in ``real`` are replaced by the real ones.

    Embeddings and output head are real from the beginning. Modules have GPTModel's names and are made in its order:
    with all parts real, the same seed gives the same weights and the same logits.
    """

    def __init__(self, config: GPTConfig, real: AbstractSet[Part] = frozenset()) -> None:
        super().__init__()
        self.config = config
        self.tok_emb = nn.Embedding(config.vocab_size, config.emb_dim)
        self.pos_emb = nn.Embedding(config.context_length, config.emb_dim)
        self.drop_emb = nn.Dropout(config.drop_rate)
        self.trf_blocks = nn.Sequential(*[make_block(config, real, layer) for layer in range(config.n_layers)])
        self.final_norm = make_norm(config, Part.FINAL_NORM in real)
        self.out_head = nn.Linear(config.emb_dim, config.vocab_size, bias=False)
        if config.tie_weights:
            self.out_head.weight = self.tok_emb.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (B, T, V) of the token IDs (B, T); raises InputError like GPTModel."""
        check_ids(ids, self.config)
        _, T = ids.shape
        tokens = self.tok_emb(ids)  # (B, T) → (B, T, E)
        positions = self.pos_emb(torch.arange(T, device=ids.device))  # (T) → (T, E)
        x = tokens + positions  # (B, T, E) + (T, E) → (B, T, E)
        x = self.drop_emb(x)
        x = self.trf_blocks(x)
        x = self.final_norm(x)
        logits: Tensor = self.out_head(x)  # (B, T, E) → (B, T, V)
        return logits
