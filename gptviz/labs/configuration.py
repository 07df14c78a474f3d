"""A configuration before it is built: its dictionary, its shapes, and what it would cost on this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from gptviz.capture.memory import DEFAULT_BUDGET, block_bytes
from gptviz.capture.stages import block_stages, catalogue
from gptviz.labs.machine import available_memory
from gptviz.labs.parameters import FP32, check_countable
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.seeded import linear, seeded
from gptviz.model.config import GPT2_SMALL, GPTConfig
from gptviz.model.gpt import TransformerBlock
from gptviz.model.parameters import count_parameters

_DRAWN = 2_000_000  # random numbers, to time drawing into fresh memory
_HEAD = 16_384  # rows of a head, to time one
_REPEATS, _ENOUGH_SECONDS = 20, 0.08


@dataclass(frozen=True)
class Basis:
    """What was timed on this machine, for a prompt of ``tokens`` tokens; all in seconds."""

    tokens: int
    block: float  # one block of GPT-2 small's width
    block_parameters: int
    small_block: float  # a block so narrow that it costs hardly more than its calls
    head_parameter: float  # the head, for each parameter
    normal: float  # for each random number of an embedding
    uniform: float  # for each random number of a Linear


@dataclass(frozen=True)
class Estimate:
    """What a configuration would cost: exact counts, bytes from them, and seconds from a Basis."""

    config: GPTConfig
    parameters: int
    weights: int  # bytes, fp32
    masks: int  # bytes of the causal masks, one in each block
    one_pass: int  # bytes that a pass on ``batch`` prompts of ``tokens`` tokens adds
    free: int  # bytes that the machine can still give
    build_seconds: float
    pass_seconds: float
    batch: int
    tokens: int

    @property
    def needed(self) -> int:
        """Bytes in all."""
        return self.weights + self.masks + self.one_pass

    @property
    def fits(self) -> bool:
        return self.needed <= self.free


def needed_memory(config: GPTConfig, batch: int, tokens: int) -> tuple[int, int, int]:
    """Return the bytes of weights, causal masks and one captured pass of (``batch``, ``tokens``)."""
    check_countable(config)
    count = count_parameters(config)
    weights = FP32 * (count.total_tied if config.tie_weights else count.total)
    masks = config.n_layers * config.context_length**2
    tokens = min(tokens, config.context_length)
    outside = FP32 * batch * tokens * (config.vocab_size + (config.n_layers + 6) * config.emb_dim)
    inside = block_bytes(config, batch, tokens)
    kept = min(config.n_layers * inside, max(DEFAULT_BUDGET, inside))
    return weights, masks, outside + kept


def check_buildable(config: GPTConfig, batch: int = 1, tokens: int = 1) -> None:
    """Raise RefusedInputError if ``config`` needs more memory than the machine can still give."""
    weights, masks, one_pass = needed_memory(config, batch, tokens)
    needed, free = weights + masks + one_pass, available_memory()
    if needed > free:
        masks_too = f", {_gb(masks)} of them causal masks" if masks > weights else ""
        raise RefusedInputError(
            "context_length" if masks > weights else _most_expensive(config),
            f"It needs {_gb(needed)} of memory{masks_too}, and {_gb(free)} are free.",
        )


def _most_expensive(config: GPTConfig) -> str:
    """Return the setting that most of the weights come from."""
    blocks = 12 * config.n_layers * config.emb_dim**2
    if blocks < config.vocab_size * config.emb_dim:
        return "vocab_size" if config.vocab_size > config.emb_dim else "emb_dim"
    return "n_layers" if config.n_layers > config.emb_dim else "emb_dim"


def estimate(config: GPTConfig, batch: int, tokens: int, basis: Basis) -> Estimate:
    """Say what ``config`` would cost.

    Raises
    ------
    RefusedInputError
        If a size is beyond what can be counted.
    """
    weights, masks, one_pass = needed_memory(config, batch, tokens)
    count = count_parameters(config)
    embeddings = count.components["tok_emb"] + count.components["pos_emb"]
    drawn = count.total - embeddings  # a tied head is drawn too, and then dropped
    block = count.components["trf_blocks"] / config.n_layers
    each = max(basis.small_block, basis.block * block / basis.block_parameters)
    return Estimate(
        config=config,
        parameters=weights // FP32,
        weights=weights,
        masks=masks,
        one_pass=one_pass,
        free=available_memory(),
        build_seconds=embeddings * basis.normal + drawn * basis.uniform,
        pass_seconds=config.n_layers * each + count.components["out_head"] * basis.head_parameter,
        batch=batch,
        tokens=min(tokens, config.context_length),
    )


def measure(batch: int, tokens: int, report: Callable[[str], None] = lambda _: None) -> Basis:
    """Time a block, a head and the drawing of random numbers, for ``batch`` prompts of ``tokens`` tokens."""
    report("Timing a block on this machine")
    generator = seeded(0)
    x = torch.rand(batch, tokens, GPT2_SMALL.emb_dim, generator=generator)
    block, parameters = _block(GPT2_SMALL, tokens, generator)
    narrow = GPTConfig(emb_dim=8, n_heads=1, context_length=tokens)
    small, _ = _block(narrow, tokens, generator)
    head = linear(GPT2_SMALL.emb_dim, _HEAD, generator)
    with torch.no_grad():
        return Basis(
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
    with torch.device("meta"):
        block = TransformerBlock(GPTConfig(**{**vars(config), "context_length": tokens}))
    block = block.to_empty(device="cpu").eval()
    block.att.masked.future.copy_(torch.ones(tokens, tokens, dtype=torch.bool).triu(1))
    for parameter in block.parameters():
        nn.init.uniform_(parameter, -0.02, 0.02, generator=generator)
    return block, sum(parameter.numel() for parameter in block.parameters())


def _seconds(call: Callable[[], object]) -> float:
    """Time ``call``: the shortest of some runs, after one that warms up."""
    call()
    times: list[float] = []
    while len(times) < _REPEATS and sum(times) < _ENOUGH_SECONDS:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def shapes(config: GPTConfig, batch: int, tokens: int) -> Sequence[tuple[str, str, tuple[int, ...]]]:
    """List the stages with their letters and shapes: those outside the blocks, and those of one block as ``{i}``."""
    rows = []
    inside = {stage.name: stage for stage in block_stages(config, 0)}
    for stage in catalogue(config):
        if stage.layer in (None, 0):
            name = f"trf_blocks.{{i}}.{stage.local_name}" if stage.name in inside else stage.name
            rows.append((name, stage.dims, stage.shape(config, batch, min(tokens, config.context_length))))
    return rows


def _gb(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
