"""What of a run fits into a budget, before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass

from gptviz.capture.memory import block_bytes
from gptviz.model.config import GPTConfig

_FLOAT, _ID = 4, 8  # bytes


@dataclass(frozen=True)
class PassSize:
    """A pass that could be recorded: its size, and of how many blocks the inside can be had."""

    batch: int
    tokens: int
    blocks: int


@dataclass(frozen=True)
class Plan:
    """How many blocks' insides are recorded of each pass, in the order given; None leaves the pass out."""

    blocks: tuple[int | None, ...]
    nbytes: int

    @property
    def fits(self) -> bool:
        """Whether the first pass, the one on screen, is recorded."""
        return bool(self.blocks) and self.blocks[0] is not None


def outside_bytes(config: GPTConfig, batch: int, tokens: int) -> int:
    """Bytes of what is outside the blocks, and of each block's output.

    E features a token: the token's and the summed embedding, the L outputs, the final norm; the position's once for
    all sequences; the V logits of each token, of which the last position's are a part; IDs.
    """
    rows = batch * tokens
    features = config.emb_dim * (rows * (config.n_layers + 3) + tokens)
    return _FLOAT * (features + rows * config.vocab_size) + _ID * (rows + batch)


def plan(config: GPTConfig, passes: Sequence[PassSize], budget: int) -> Plan:
    """Deal ``budget`` bytes out to ``passes``, the one on screen first.

    Of the first pass, as many blocks' insides as there is room for. Each of the others goes in whole while it fits,
    else without insides, else not at all.
    """
    left, found = budget, list[int | None]()
    for place, size in enumerate(passes):
        outside, inside = (count(config, size.batch, size.tokens) for count in (outside_bytes, block_bytes))
        if outside > left:
            found.append(None)
            continue
        left -= outside
        room = min(size.blocks, left // inside)
        blocks = room if place == 0 or room == size.blocks else 0
        left -= blocks * inside
        found.append(blocks)
    return Plan(tuple(found), budget - left)
