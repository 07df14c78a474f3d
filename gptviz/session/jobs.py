"""What the worker runs. torch and NumPy are imported inside the functions: the window is painted before that."""

import ctypes
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gptviz.model.config import CONFIGS, GPTConfig
from gptviz.session.gate import Gate
from gptviz.session.requests import ModelRequest, UntrainedRequest
from gptviz.session.state import ModelInfo, PromptTokens
from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.analysis.attribution import StreamParts
    from gptviz.analysis.candidates import Candidate
    from gptviz.analysis.check import Check
    from gptviz.capture.trace import Trace
    from gptviz.model.gpt import GPTModel
    from gptviz.tokenizer import Piece, Tokenizer

TITLES = {
    "gpt2-small": "GPT-2 small",
    "gpt2-medium": "GPT-2 medium",
    "gpt2-large": "GPT-2 large",
    "gpt2-xl": "GPT-2 XL",
    "tiny": "tiny",
}
CANDIDATES_PER_STEP = 5
_UNNOTICED_SECONDS = 0.03  # a quiet job of about this length lets nobody wait


@dataclass(frozen=True)
class BuiltModel:
    """A model, its description, and what reads and writes its texts; None for GPT-2's own tokenizer."""

    model: "GPTModel"
    info: ModelInfo
    tokenizer: "Tokenizer | None" = None
    asks_for_table: bool = False


@dataclass(frozen=True)
class PassRequest:
    """A pass on ``rows`` of token IDs, with the inside of block ``layer`` at hand; a ``gate`` may hold it."""

    rows: Sequence[Sequence[int]]
    layer: int
    gate: Gate | None = None


@dataclass(frozen=True)
class PassResult:
    """A trace and the tokens of each of its rows."""

    trace: "Trace"
    rows: "tuple[tuple[Piece, ...], ...]"


def load_tokenizer(context: JobContext) -> "Tokenizer":
    """Read the bundled tokenizer files."""
    from gptviz.tokenizer import gpt2_tokenizer

    return gpt2_tokenizer()


def tokenise(tokenizer: "Tokenizer", texts: Sequence[str], shown: int, context: JobContext) -> tuple[PromptTokens, ...]:
    """Encode each of ``texts``, and describe its first ``shown`` tokens."""
    return tuple(_tokens_of(tokenizer, text, shown) for text in texts)


def _tokens_of(tokenizer: "Tokenizer", text: str, shown: int) -> PromptTokens:
    from gptviz.tokenizer import TextError

    try:
        ids = tokenizer.encode(text)
    except TextError as error:
        return PromptTokens(text, problem=str(error))
    return PromptTokens(text, tuple(ids), tokenizer.pieces(ids[:shown]))


def named(config: str | GPTConfig) -> str | GPTConfig:
    """Return the name of ``config`` if it has one, else the configuration itself."""
    return next((name for name, known in CONFIGS.items() if known == config), config)


def title_of(config: str | GPTConfig) -> str:
    """Return what a model of ``config``, or of the configuration with that name, is called."""
    known = named(config)
    return TITLES[known] if isinstance(known, str) else f"custom {known.n_layers} × {known.emb_dim}"


def make_model(request: ModelRequest, context: JobContext) -> BuiltModel:
    """Initialise an untrained model, or open a checkpoint."""
    if isinstance(request, UntrainedRequest):
        return build_model(request.config, request.seed, context)
    from gptviz.session.opening_jobs import open_checkpoint

    return open_checkpoint(request, context)


def build_model(wanted: str | GPTConfig, seed: int, context: JobContext) -> BuiltModel:
    """Initialise an untrained model of a configuration, or of one with that name."""
    context.report("Loading PyTorch")
    import torch

    from gptviz.labs.configuration import check_buildable
    from gptviz.model.parameters import initialise

    use_threads()
    config = CONFIGS[wanted] if isinstance(wanted, str) else wanted
    title = title_of(wanted)
    check_buildable(config)

    def on_progress(fraction: float) -> None:
        context.report(f"Initialising {title}", fraction)

    model = initialise(config, seed, on_progress)
    parameters = sum(p.numel() for p in model.parameters())
    return BuiltModel(model, ModelInfo(title, model.config, seed, parameters, torch.get_num_threads()))


def use_threads() -> None:
    """Leave the GUI a core where there are more than two."""
    import torch

    cores = os.cpu_count() or 1
    wanted = cores - 1 if cores > 2 else cores
    if torch.get_num_threads() != wanted:
        torch.set_num_threads(wanted)


def run_pass(model: "GPTModel", tokenizer: "Tokenizer", request: PassRequest, context: JobContext) -> PassResult:
    """Capture one forward pass; while its gate holds it, tell the GUI the trace so far as a PassResult."""
    import torch

    from gptviz.analysis.attention import WEIGHTS, tile_maximum
    from gptviz.capture.recorder import capture

    model.eval()
    gate = request.gate
    pieces = tuple(tokenizer.pieces(row) for row in request.rows)

    def hold(trace: "Trace") -> None:
        assert gate is not None
        gate.hold(trace, context.cancel, lambda held: context.tell(PassResult(held, pieces)))

    if gate is not None:
        context.wake = gate.wake
    trace = capture(
        model,
        torch.tensor(request.rows, dtype=torch.int64),
        on_stage=context.records.append,
        cancel=context.cancel,
        digests={WEIGHTS: lambda weights: tile_maximum(weights.numpy())},
        on_partial=None if gate is None else hold,
    )
    return PassResult(trace.with_block(request.layer), pieces)


def replay_block(trace: "Trace", layer: int, stage: str | None, context: JobContext) -> "Trace":
    """Return the trace with the inside of block ``layer`` at hand; tell the GUI once ``stage`` is there."""
    return trace.with_block(layer, stage, context.tell)


def check_part(trace: "Trace", part: int, context: JobContext) -> "tuple[Check, ...]":
    """Measure the checks outside the blocks (part 0), or those of block ``part`` - 1."""
    from gptviz.analysis.checks import block_checks, outer_checks

    if part == 0:
        return outer_checks(trace)
    return block_checks(trace.with_block_if_it_can(part - 1), part - 1)


def check_causality(trace: "Trace", context: JobContext) -> "Check":
    """Compare the trace with one in which the last token is another."""
    from gptviz.analysis.checks import causality_check
    from gptviz.capture.recorder import perturbed_pass

    return causality_check(trace, perturbed_pass(trace.replay.model, trace.ids, context.cancel))


def read_parts(
    trace: "Trace", place: tuple[int, int], begun: "StreamParts | None", context: JobContext
) -> "StreamParts":
    """Read on what was added to the stream at ``place`` (row, position): one block, or as many as nobody waits for."""
    from gptviz.analysis.attribution import StreamParts

    until = time.perf_counter() + _UNNOTICED_SECONDS
    parts = (begun or StreamParts(*place)).extended(trace)
    while parts.blocks < trace.config.n_layers and time.perf_counter() < until and not context.cancel.is_set():
        parts = parts.extended(trace)
    return parts


def give_memory_back(context: JobContext) -> None:
    """Return freed memory to the system, where the C library can be asked to (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def likeliest(trace: "Trace") -> "tuple[Candidate, ...]":
    """Read the likeliest next tokens off a trace."""
    from gptviz.analysis.candidates import top_candidates

    return top_candidates(trace.array("last")[0], CANDIDATES_PER_STEP)


def hash_weights(model: "GPTModel | None", context: JobContext) -> str:
    """Return the hash by which a run knows the weights that it was computed with."""
    from gptviz.runs.weights_hash import weights_hash

    assert model is not None
    return weights_hash(model, lambda share: context.report("Hashing the weights", share))
