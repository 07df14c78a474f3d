"""How fast this machine draws weights and runs blocks: the basis of estimates."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

from gptviz.labs.seeded import linear, seeded
from gptviz.model.config import GPT2_SMALL, GPTConfig
from gptviz.model.gpt import TransformerBlock
from gptviz.model.parameters import WithoutValues

_DRAWN = 9_000_000  # random numbers, so many that they get fresh memory each time
_HEAD = 16_384  # rows of a head, to time one
_LEAST, _MOST, _ENOUGH_SECONDS = 4, 20, 0.15


@dataclass(frozen=True)
class Basis:
    """What was timed on this machine, for a prompt of ``tokens`` tokens; all in seconds."""

    batch: int
    tokens: int
    block: float  # one block of GPT-2 small's width
    block_parameters: int
    small_block: float  # a block so narrow that it costs hardly more than its calls
    head_parameter: float  # the head, for each parameter
    normal: float  # for each random number of an embedding
    uniform: float  # for each random number of a Linear

    def of_block(self, parameters: int) -> float:
        """Return the seconds of a block of ``parameters``."""
        return self.small_block + max(0.0, self.block - self.small_block) * parameters / self.block_parameters


def measure(batch: int, tokens: int) -> Basis:
    """Time a block, a head and the drawing of random numbers, for ``batch`` prompts of ``tokens`` tokens."""
    generator = seeded(0)
    x = torch.rand(batch, tokens, GPT2_SMALL.emb_dim, generator=generator)
    block, parameters = _block(GPT2_SMALL, tokens, generator)
    narrow = GPTConfig(emb_dim=8, n_heads=1, context_length=tokens)
    small, _ = _block(narrow, tokens, generator)
    head = linear(GPT2_SMALL.emb_dim, _HEAD, generator)
    with torch.no_grad():
        return Basis(
            batch=batch,
            tokens=tokens,
            block=_seconds(lambda: block(x)),
            block_parameters=parameters,
            small_block=_seconds(lambda: small(x[..., :8])),
            head_parameter=_seconds(lambda: head(x)) / (GPT2_SMALL.emb_dim * _HEAD),
            normal=_seconds(lambda: torch.empty(_DRAWN).normal_(generator=generator)) / _DRAWN,
            uniform=_seconds(lambda: torch.empty(_DRAWN).uniform_(generator=generator)) / _DRAWN,
        )


def _block(config: GPTConfig, tokens: int, generator: torch.Generator) -> tuple[nn.Module, int]:
    """Make a block for timing, without torch's global random numbers."""
    with WithoutValues():
        block = TransformerBlock(replace(config, context_length=tokens)).eval()
    block.att.masked.future.copy_(torch.ones(tokens, tokens, dtype=torch.bool).triu(1))
    for parameter in block.parameters():
        nn.init.uniform_(parameter, -0.02, 0.02, generator=generator)
    return block, sum(parameter.numel() for parameter in block.parameters())


def _seconds(call: Callable[[], object]) -> float:
    """Time ``call``: the shortest of some runs, after one that warms up."""
    call()
    times: list[float] = []
    while len(times) < _LEAST or (len(times) < _MOST and sum(times) < _ENOUGH_SECONDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
