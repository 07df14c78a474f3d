"""The shell with placeholders: which stages are there, which numbers change when a placeholder is replaced."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from gptviz.capture.recorder import record
from gptviz.capture.stages import Source, Stage
from gptviz.labs.machine import available_memory
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.shell_request import MOST_TOKENS, Change, ShellRequest
from gptviz.labs.shell_stages import PLACEHOLDER, shell_stages
from gptviz.model.gpt import GPTModel
from gptviz.model.parameters import shapes_alone
from gptviz.model.parts import ALL_PARTS
from gptviz.model.placeholders import DummyGPTModel
from gptviz.model.seeding import seeded
from gptviz.tokenizer import gpt2_tokenizer

_FLOAT = 4  # bytes

Array = np.ndarray[Any, np.dtype[Any]]


class Progress(Protocol):
    """What the lab tells and asks while it works; an exception ends the work."""

    def report(self, text: str, fraction: float | None = None) -> None: ...


@dataclass(frozen=True)
class ShellRow:
    """One stage: what came out, and how it compares with the run before."""

    stage: Stage
    shape: tuple[int, ...]
    parameters: int
    mean: float | None
    spread: float | None  # standard deviation; None for token IDs, and for −∞ in masked scores
    change: Change
    difference: float  # the largest absolute one; 0 where there is nothing to compare
    other_weights: bool  # its own weights are not those of the run before

    @property
    def placeholder(self) -> bool:
        return self.stage.operation == PLACEHOLDER


@dataclass(frozen=True)
class ShellRun:
    """One run of a shell; ``outputs`` and ``fingerprints`` are what the next run is compared with."""

    request: ShellRequest
    rows: tuple[ShellRow, ...]
    ids: tuple[tuple[int, ...], ...]
    logits: Array  # (B, T, V)
    parameters: int
    drawn: tuple[tuple[str, int], ...]  # random numbers, in the order in which the code draws them
    outputs: Mapping[str, Tensor] = field(repr=False)
    fingerprints: Mapping[str, int] = field(repr=False)  # of each module's own weights

    @property
    def input_shape(self) -> tuple[int, int]:
        return len(self.ids), len(self.ids[0])

    @property
    def first_change(self) -> ShellRow | None:
        """The first stage whose numbers are not those of the run before; None if sizes differ."""
        if any(row.change is Change.OTHER_SHAPE for row in self.rows):
            return None
        return next((row for row in self.rows if row.change in (Change.CHANGED, Change.NEW)), None)


def run(
    request: ShellRequest,
    before: ShellRun | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> ShellRun:
    """Build the shell of ``request``, run it on the texts, and compare it with the run ``before``.

    Weights are drawn in the order of the code, so a part that draws weights moves the numbers of all parts that are
    made after it. With ``keep_weights`` the whole GPTModel is made first and each real part is taken from it: then
    a part has the same weights whatever else is real.

    Raises
    ------
    RefusedInputError
        If the texts make no batch for this configuration, or the weights need more memory than there is.
    """
    ids = _tokens(request)
    _check_memory(request)
    say = progress.report if progress is not None else (lambda *_: None)
    say("Drawing the weights")
    with seeded(request.seed, lambda: say("Waiting until another model has its weights")):
        model = _assembled(request) if request.keep_weights else DummyGPTModel(request.config, request.real)
        model.train(request.dropout)
        say("Running the shell")
        records, outputs = record(model, torch.tensor(ids), shell_stages(model), _Flag(cancelled))
    fingerprints = {name: _fingerprint(module) for name, module in model.named_modules()}
    rows = tuple(_row(r.stage, r.parameters, outputs[r.name], fingerprints, before) for r in records)
    parameters = sum(p.numel() for p in model.parameters())
    logits = outputs["out_head"].numpy()
    return ShellRun(request, rows, ids, logits, parameters, _drawn(request), outputs, fingerprints)


@dataclass(frozen=True)
class _Flag:
    ask: Callable[[], bool]

    def is_set(self) -> bool:
        return self.ask()


def _tokens(request: ShellRequest) -> tuple[tuple[int, ...], ...]:
    tokenizer = gpt2_tokenizer()
    rows = tuple(tuple(tokenizer.encode(text)) for text in request.texts)
    most = min(MOST_TOKENS, request.config.context_length)
    for number, row in enumerate(rows, start=1):
        if not row:
            raise RefusedInputError(f"text {number}", "An empty text has no tokens: type at least one character.")
        if len(row) > most:
            raise RefusedInputError(
                f"text {number}", f"{len(row):,} tokens; the lab takes at most {most}: leave out {len(row) - most:,}."
            )
        if len(row) != len(rows[0]):
            raise RefusedInputError(
                f"text {number}",
                f"{_count(len(row))}, but the first text has {len(rows[0])}: the rows of a batch have equal lengths.",
            )
    return rows


def _count(tokens: int) -> str:
    return "1 token" if tokens == 1 else f"{tokens:,} tokens"


def _check_memory(request: ShellRequest) -> None:
    with shapes_alone():
        shell = DummyGPTModel(request.config, ALL_PARTS if request.keep_weights else request.real)
    needed = _FLOAT * sum(p.numel() for p in shell.parameters())
    there = available_memory()
    if needed > there:
        raise RefusedInputError(
            "size", f"The weights need {needed / 1e9:.1f} GB, and {there / 1e9:.1f} GB are free: choose tiny."
        )


def _assembled(request: ShellRequest) -> DummyGPTModel:
    """Take each real part, with its weights, from a whole model."""
    whole = GPTModel(request.config)
    with shapes_alone():
        shell = DummyGPTModel(request.config, request.real)
    for name, module in list(shell.named_modules()):
        if any(True for _ in module.parameters(recurse=False)) or any(True for _ in module.buffers(recurse=False)):
            shell.set_submodule(name, whole.get_submodule(name))
    return shell


def _row(
    stage: Stage, parameters: int, output: Tensor, fingerprints: Mapping[str, int], before: ShellRun | None
) -> ShellRow:
    change, difference = _compared(stage.name, output, before)
    mean = spread = None
    if output.is_floating_point():
        finite = bool(torch.isfinite(output).all())
        mean = float(output.double().mean()) if finite else None
        spread = float(output.double().std(unbiased=False)) if finite else None
    mine = fingerprints[stage.module] if stage.source is Source.OUTPUT and stage.module else 0
    theirs = before.fingerprints.get(stage.module, 0) if before is not None else 0
    other = (
        bool(parameters) and bool(theirs) and theirs != mine
    )  # a placeholder has no weights to be replaced by others
    return ShellRow(stage, tuple(output.shape), parameters, mean, spread, change, difference, other)


def _compared(name: str, output: Tensor, before: ShellRun | None) -> tuple[Change, float]:
    if before is None:
        return Change.FIRST, 0.0
    earlier = before.outputs.get(name)
    if earlier is None:
        return Change.NEW, 0.0
    if earlier.shape != output.shape:
        return Change.OTHER_SHAPE, 0.0
    if torch.equal(earlier, output):
        return Change.SAME, 0.0
    gap = (earlier.double() - output.double()).abs().nan_to_num(0.0)  # −∞ − −∞ of masked scores
    return Change.CHANGED, float(gap.max())


def _fingerprint(module: nn.Module) -> int:
    """Return a checksum of the module's own weights; 0 without any."""
    checksum = 0
    for parameter in module.parameters(recurse=False):
        checksum = zlib.crc32(parameter.detach().numpy().tobytes(), checksum)
    return checksum


def _drawn(request: ShellRequest) -> tuple[tuple[str, int], ...]:
    """List how many random numbers the components draw, in the order of the code; LayerNorm starts from 1 and 0."""
    with shapes_alone():
        shell = DummyGPTModel(request.config, ALL_PARTS if request.keep_weights else request.real)
    counts: dict[str, int] = {}
    for name, module in shell.named_modules():
        if isinstance(module, nn.Embedding | nn.Linear):
            component = name.split(".")[0]
            counts[component] = counts.get(component, 0) + sum(p.numel() for p in module.parameters(recurse=False))
    return tuple(counts.items())
