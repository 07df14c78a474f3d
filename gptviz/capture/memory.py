"""How much memory a trace takes, before it is made."""

from gptviz.model.config import GPTConfig

# Keeping more costs more than it saves: fresh memory has to be mapped and zeroed while the pass runs, which made it
# 10 to 40 % slower at 512 MiB, and a block is replayed in a twelfth of a pass. See CONTRIBUTING.md.
DEFAULT_BUDGET = 32 * 2**20  # bytes
_FLOAT = 4  # bytes


def block_bytes(config: GPTConfig, batch: int, tokens: int) -> int:
    """Bytes of one block's inside: 10 rows of E features a token, two of F, and four T x T maps for each head.

    The rows: norm1, three projections, context, merged heads, out_proj, shortcut1, norm2, the two of the
    feed-forward's middle, and its output. Heads are split without a copy.
    """
    rows = 10 * config.emb_dim + 2 * config.ff_dim
    maps = 4 * config.n_heads * tokens
    return _FLOAT * batch * tokens * (rows + maps)


def blocks_within(budget: int, config: GPTConfig, batch: int, tokens: int) -> int:
    """Return how many blocks' insides fit into ``budget`` bytes."""
    return max(0, min(config.n_layers, budget // block_bytes(config, batch, tokens)))
