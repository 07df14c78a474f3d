"""GPT-2's architecture: embeddings, pre-norm transformer blocks, final norm, output head."""

import torch
from torch import Tensor, nn

from gptviz.model.attention import MultiHeadAttention
from gptviz.model.config import GPTConfig
from gptviz.model.layers import FeedForward, LayerNorm, LayerNormWithoutShift


class InputError(ValueError):
    """The token IDs do not fit the model; the message says why."""


class TransformerBlock(nn.Module):
    """Attention, then feed-forward; each normalised before, and added to what came in (a shortcut)."""

    def __init__(self, config: GPTConfig, layer: int = 0) -> None:
        super().__init__()
        self.att = MultiHeadAttention(
            config.emb_dim,
            config.context_length,
            config.n_heads,
            config.drop_rate,
            config.qkv_bias,
            bias=config.bias,
            divisor=None if config.scaled_by_root else config.score_divisor(layer),
        )
        self.ff = FeedForward(config.emb_dim, config.ff_dim, config.activation, config.bias)
        norm = LayerNorm if config.bias else LayerNormWithoutShift
        self.norm1 = norm(config.emb_dim, config.norm_eps)
        self.norm2 = norm(config.emb_dim, config.norm_eps)
        self.drop_shortcut = nn.Dropout(config.drop_rate)

    def forward(self, x: Tensor) -> Tensor:
        # every line keeps the shape (B, T, E)
        shortcut = x
        x = self.norm1(x)
        x = self.att(x)
        x = self.drop_shortcut(x)
        x = x + shortcut

        shortcut = x
        x = self.norm2(x)
        x = self.ff(x)
        x = self.drop_shortcut(x)
        x = x + shortcut
        return x


class GPTModel(nn.Module):
    """Token IDs in, raw logits over the vocabulary out, one row of logits for every position.

    The modules have the chapter's names and are made in its order, so that the same seed gives the same
    weights. Source: Radford et al. (2019), "Language Models are Unsupervised Multitask Learners".
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tok_emb = nn.Embedding(config.vocab_size, config.emb_dim)
        self.pos_emb = nn.Embedding(config.context_length, config.emb_dim)
        self.drop_emb = nn.Dropout(config.drop_rate)
        self.trf_blocks = nn.Sequential(*[TransformerBlock(config, layer) for layer in range(config.n_layers)])
        norm = LayerNorm if config.bias else LayerNormWithoutShift
        self.final_norm = norm(config.emb_dim, config.norm_eps)
        self.out_head = nn.Linear(config.emb_dim, config.vocab_size, bias=False)
        if config.tie_weights:
            self.out_head.weight = self.tok_emb.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (B, T, V) of the token IDs (B, T).

        Raises
        ------
        InputError
            If there is no token, an ID is outside the vocabulary, or T is over the context length.
        """
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


def check_ids(ids: Tensor, config: GPTConfig) -> None:
    """Raise InputError unless ``ids`` is a (B, T) tensor of token IDs that a model of ``config`` takes."""
    if ids.dim() != 2:
        raise InputError(f"token IDs must have the shape (batch, tokens), but have {tuple(ids.shape)}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise InputError(f"token IDs must be whole numbers (int64), but are {ids.dtype}")
    if ids.numel() == 0:
        raise InputError("there are no tokens: the model needs at least one")
    if ids.shape[1] > config.context_length:
        raise InputError(
            f"{ids.shape[1]:,} tokens are more than the model's context of {config.context_length:,}: "
            f"leave out {ids.shape[1] - config.context_length:,}"
        )
    if ids.is_meta:
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= config.vocab_size:
        wrong = low if low < 0 else high
        raise InputError(f"token ID {wrong} is outside the vocabulary, which goes from 0 to {config.vocab_size - 1}")
