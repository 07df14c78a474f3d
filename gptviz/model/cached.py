"""The same model, one token at a time: keys and values of the tokens before are kept instead of computed again.

A token's keys and values depend on its position, on itself and on the tokens before it: the causal mask sees to that.
So they stay valid while tokens are appended. Once the context is full and the first token falls out, every token has
another position, and all keys and values have to be computed again: GPT-2's positions are absolute.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gptviz.model.attention import MultiHeadAttention
from gptviz.model.gpt import GPTModel, TransformerBlock, check_ids


class KeyValueCache:
    """Room for the keys and values of a whole context, and which tokens they belong to so far."""

    def __init__(self, model: GPTModel, batch: int = 1) -> None:
        config = model.config
        one = next(model.parameters())
        self.model = model
        self.ids = torch.empty(batch, 0, dtype=torch.int64)  # (B, T) the tokens that are in it
        sizes = (config.n_layers, batch, config.n_heads, config.context_length, config.head_dim)
        self.keys = one.new_empty(sizes)  # (L, B, H, C, D), filled up to T
        self.values = one.new_empty(sizes)  # (L, B, H, C, D), filled up to T

    @property
    def tokens(self) -> int:
        """T, the number of tokens that are in it."""
        return self.ids.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all keys, which is that of all values too: (L, B, H, T, D)."""
        L, B, H, _, D = self.keys.shape
        return (L, B, H, self.tokens, D)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are in it."""
        return 2 * self.keys[:, :, :, : self.tokens].numel() * self.keys.element_size()

    def clear(self) -> None:
        """Forget all tokens."""
        self.ids = self.ids[:, :0]

    def new_of(self, context: Tensor) -> Tensor:
        """Return the tokens at the end of ``context`` (B, T) that are not in it yet; all if it began otherwise."""
        T = self.tokens
        if 0 < T < context.shape[1] and torch.equal(context[:, :T], self.ids):
            return context[:, T:]  # (B, T) → (B, N)
        return context


@torch.no_grad()
def cached_logits(
    context: Tensor, cache: KeyValueCache, on_block: Callable[[int], object] = lambda layer: None
) -> tuple[Tensor, int]:
    """Return the logits (B, N, V) of the tokens of ``context`` (B, T) that are new to ``cache``, and N.

    The logits of the last position are those of ``cache.model(context)``, up to rounding: a product of matrices with
    fewer rows may be summed in another order. ``on_block`` is called before each block, and may raise.

    Raises
    ------
    InputError
        If ``context`` does not fit the model.
    """
    model = cache.model
    check_ids(context, model.config)
    new = cache.new_of(context)
    T, N = context.shape[1], new.shape[1]
    cache.clear()  # until all blocks are done: nothing half filled is ever read
    tokens = model.tok_emb(new)  # (B, N) → (B, N, E)
    positions = model.pos_emb(torch.arange(T - N, T))  # (N) → (N, E)
    x = model.drop_emb(tokens + positions)
    for layer, block in enumerate(model.trf_blocks):
        assert isinstance(block, TransformerBlock)
        on_block(layer)
        x = _block(block, x, (cache.keys[layer], cache.values[layer]), T)
    x = model.final_norm(x)
    logits: Tensor = model.out_head(x)  # (B, N, E) → (B, N, V)
    cache.ids = context.clone()
    return logits, N


def _block(block: TransformerBlock, x: Tensor, kept: Sequence[Tensor], T: int) -> Tensor:
    # the block's own forward, with another attention; every line keeps the shape (B, N, E)
    shortcut = x
    x = block.norm1(x)
    x = _attention(block.att, x, kept, T)
    x = block.drop_shortcut(x)
    x = x + shortcut

    shortcut = x
    x = block.norm2(x)
    x = block.ff(x)
    x = block.drop_shortcut(x)
    x = x + shortcut
    return x


def _attention(att: MultiHeadAttention, x: Tensor, kept: Sequence[Tensor], T: int) -> Tensor:
    N = x.shape[1]
    kept_keys, kept_values = kept  # (B, H, C, D) each
    queries = att.queries(att.W_query(x))  # (B, H, N, D)
    kept_keys[:, :, T - N : T] = att.keys(att.W_key(x))  # (B, H, N, D), behind those that were there
    kept_values[:, :, T - N : T] = att.values(att.W_value(x))  # (B, H, N, D)
    scores = att.scores(queries, kept_keys[:, :, :T])  # (B, H, N, D) @ (B, H, D, T) → (B, H, N, T)
    scores = att.scaled(scores)
    future = att.masked.future[T - N : T, :T]  # the mask's last N rows: (N, T)
    scores = scores.masked_fill(future, -torch.inf)
    weights = att.dropout(att.weights(scores))  # (B, H, N, T)
    context = att.context(weights, kept_values[:, :, :T])  # (B, H, N, T) @ (B, H, T, D) → (B, H, N, D)
    out: Tensor = att.out_proj(att.merged(context))  # (B, N, E)
    return out
