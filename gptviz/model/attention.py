"""Causal self-attention with several heads.

Every operation is a module, also those without weights: so a forward hook sees each intermediate tensor
as the model computed it, and nothing has to be computed a second time to be shown.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn


class SplitHeads(nn.Module):
    """Cut every token's E features into H heads of D features."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads

    def forward(self, x: Tensor) -> Tensor:
        B, T, E = x.shape
        x = x.view(B, T, self.n_heads, E // self.n_heads)  # (B, T, E) → (B, T, H, D)
        x = x.transpose(1, 2)  # (B, T, H, D) → (B, H, T, D)
        return x


class AttentionScores(nn.Module):
    """Compare each query with each key: their dot product."""

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        scores: Tensor = queries @ keys.transpose(2, 3)  # (B, H, T, D) @ (B, H, D, T) → (B, H, T, T)
        return scores


class ScaleScores(nn.Module):
    """Divide by √D, so that the scores' spread does not grow with the size of a head."""

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.head_dim = head_dim

    def forward(self, scores: Tensor) -> Tensor:
        return scores / math.sqrt(self.head_dim)


class DivideScores(nn.Module):
    """Divide by something else than √D, as models do that were trained so."""

    def __init__(self, divisor: float) -> None:
        super().__init__()
        self.divisor = divisor

    def forward(self, scores: Tensor) -> Tensor:
        return scores / self.divisor


class CausalMask(nn.Module):
    """Hide the future: a query may not look at keys that come after it."""

    future: Tensor

    def __init__(self, context_length: int) -> None:
        super().__init__()
        ones = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("future", torch.triu(ones, diagonal=1), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T = scores.shape[-1]
        future = self.future[:T, :T]  # True above the diagonal
        return scores.masked_fill(future, -torch.inf)


class WeightedSum(nn.Module):
    """Mix the values, each in proportion to its attention weight."""

    def forward(self, weights: Tensor, values: Tensor) -> Tensor:
        context: Tensor = weights @ values  # (B, H, T, T) @ (B, H, T, D) → (B, H, T, D)
        return context


class MergeHeads(nn.Module):
    """Put the heads side by side again."""

    def forward(self, context: Tensor) -> Tensor:
        B, H, T, D = context.shape
        context = context.transpose(1, 2)  # (B, H, T, D) → (B, T, H, D)
        return context.reshape(B, T, H * D)  # (B, T, H, D) → (B, T, E)


class MultiHeadAttention(nn.Module):
    """Let every token gather information from itself and the tokens before it.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.
    """

    def __init__(
        self,
        emb_dim: int,
        context_length: int,
        n_heads: int,
        drop_rate: float = 0.0,
        qkv_bias: bool = False,
        *,
        bias: bool = True,
        divisor: float | None = None,
    ) -> None:
        super().__init__()
        self.W_query = nn.Linear(emb_dim, emb_dim, bias=qkv_bias)
        self.W_key = nn.Linear(emb_dim, emb_dim, bias=qkv_bias)
        self.W_value = nn.Linear(emb_dim, emb_dim, bias=qkv_bias)
        self.queries = SplitHeads(n_heads)
        self.keys = SplitHeads(n_heads)
        self.values = SplitHeads(n_heads)
        self.scores = AttentionScores()
        self.scaled = ScaleScores(emb_dim // n_heads) if divisor is None else DivideScores(divisor)
        self.masked = CausalMask(context_length)
        self.weights = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(drop_rate)
        self.context = WeightedSum()
        self.merged = MergeHeads()
        self.out_proj = nn.Linear(emb_dim, emb_dim, bias=bias)
        self.register_load_state_dict_pre_hook(_drop_saved_mask)  # type: ignore[no-untyped-call]

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (B, T, E) each
        queries, keys, values = self.queries(q), self.keys(k), self.values(v)  # (B, H, T, D) each
        scores = self.scores(queries, keys)  # (B, H, T, T)
        scores = self.scaled(scores)
        scores = self.masked(scores)
        weights = self.weights(scores)  # each row over the keys sums to 1
        weights = self.dropout(weights)
        context = self.context(weights, values)  # (B, H, T, D)
        context = self.merged(context)  # (B, T, E)
        out: Tensor = self.out_proj(context)
        return out


def _drop_saved_mask(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: object) -> None:
    """Ignore the causal mask that the chapter's checkpoints carry: it follows from the context length."""
    state_dict.pop(prefix + "mask", None)
