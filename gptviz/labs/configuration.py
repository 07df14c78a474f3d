"""A configuration before it is built: its dictionary, its shapes, and what it would cost on this machine."""

from dataclasses import dataclass

from gptviz.capture.memory import DEFAULT_BUDGET, block_bytes
from gptviz.capture.stages import catalogue
from gptviz.labs.machine import available_memory
from gptviz.labs.parameters import FP32, check_countable, counted
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.timing import Basis, measure
from gptviz.model.config import GPTConfig


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

    @property
    def refusal(self) -> RefusedInputError:
        """What to say where it does not fit."""
        return _too_large(self.config, self.masks, self.needed, self.free)


@dataclass(frozen=True)
class ShapeRow:
    """A stage's shape, and what it is in the present model; ``{i}`` stands for every block."""

    name: str
    dims: str  # the letters of its sizes
    family: str
    shape: tuple[int, ...]
    present: tuple[int, ...] | None


@dataclass(frozen=True)
class ConfigurationReport:
    """The edited configuration and the present one."""

    edited: Estimate
    present: Estimate | None
    shapes: tuple[ShapeRow, ...]
    basis: Basis


def needed_memory(config: GPTConfig, batch: int, tokens: int) -> tuple[int, int, int]:
    """Return the bytes of weights, causal masks and one captured pass of (``batch``, ``tokens``)."""
    check_countable(config)
    count = counted(config)
    weights = FP32 * (count.total_tied if config.tie_weights else count.total)
    masks = config.n_layers * config.context_length**2
    tokens = min(tokens, config.context_length)
    outside = FP32 * batch * tokens * (config.vocab_size + (config.n_layers + 6) * config.emb_dim)
    inside = block_bytes(config, batch, tokens)
    kept = min(config.n_layers * inside, max(DEFAULT_BUDGET, inside))
    return weights, masks, outside + kept


def check_buildable(config: GPTConfig) -> None:
    """Raise RefusedInputError if ``config`` needs more memory than the machine can still give."""
    weights, masks, one_pass = needed_memory(config, 1, 1)
    needed, free = weights + masks + one_pass, available_memory()
    if needed > free:
        raise _too_large(config, masks, needed, free)


def _too_large(config: GPTConfig, masks: int, needed: int, free: int) -> RefusedInputError:
    """Blame the setting that most of the bytes come from."""
    blocks, vocabulary = 12 * config.n_layers * config.emb_dim**2, config.vocab_size * config.emb_dim
    if masks > needed / 2:
        blamed = "context_length"
    elif blocks < vocabulary:
        blamed = "vocab_size" if config.vocab_size > config.emb_dim else "emb_dim"
    else:
        blamed = "n_layers" if config.n_layers > config.emb_dim else "emb_dim"
    return RefusedInputError(blamed, f"It needs {_gb(needed)} of memory, and {_gb(free)} are free.")


def _estimate(config: GPTConfig, batch: int, tokens: int, basis: Basis, memory: tuple[int, int, int]) -> Estimate:
    weights, masks, one_pass = memory
    components = counted(config).components
    embeddings = components["tok_emb"] + components["pos_emb"]
    block = components["trf_blocks"] // config.n_layers
    drawn = components["trf_blocks"] + components["out_head"]  # a tied head is drawn too, and then dropped
    return Estimate(
        config=config,
        parameters=weights // FP32,
        weights=weights,
        masks=masks,
        one_pass=one_pass,
        free=available_memory(),
        build_seconds=embeddings * basis.normal + drawn * basis.uniform,
        pass_seconds=config.n_layers * basis.of_block(block) + components["out_head"] * basis.head_parameter,
        batch=batch,
        tokens=min(tokens, config.context_length),
    )


def report(
    config: GPTConfig, present: GPTConfig | None, batch: int, tokens: int, basis: Basis | None = None
) -> ConfigurationReport:
    """Say what ``config`` would cost beside the model that is there, for ``batch`` prompts of ``tokens`` tokens.

    Raises
    ------
    RefusedInputError
        If a size is beyond what can be counted.
    """
    edited_memory = needed_memory(config, batch, tokens)
    if basis is None or (basis.batch, basis.tokens) != (batch, tokens):
        basis = measure(batch, tokens)
    there = None if present is None else _estimate(present, batch, tokens, basis, needed_memory(present, batch, tokens))
    rows = _shape_rows(config, present, batch, tokens)
    return ConfigurationReport(_estimate(config, batch, tokens, basis, edited_memory), there, rows, basis)


def _shape_rows(config: GPTConfig, present: GPTConfig | None, batch: int, tokens: int) -> tuple[ShapeRow, ...]:
    """List the stages outside the blocks and those of the first block, which stands for all."""
    rows = []
    for stage in catalogue(config):
        if stage.layer in (None, 0):
            name = stage.name.replace("trf_blocks.0.", "trf_blocks.{i}.")
            before = None if present is None else stage.shape(present, batch, min(tokens, present.context_length))
            rows.append(
                ShapeRow(
                    name,
                    stage.dims,
                    stage.family,
                    stage.shape(config, batch, min(tokens, config.context_length)),
                    before,
                )
            )
    return tuple(rows)


def _gb(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
