"""The shapes of a feed-forward network: a real run, step by step, up to the first place where numbers don't match."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gptviz.labs.feed_forward_sizes import Sizes, State, Verdict
from gptviz.labs.feed_forward_words import explain_addition, explain_linear
from gptviz.labs.machine import available_memory
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.seeded import linear, seeded
from gptviz.model.layers import GELU, LayerNorm

_FLOAT = 4  # bytes
_MOST_WEIGHTS = 100_000_000  # so that the lab answers at once
_MOST_PRODUCTS = 20_000_000_000
_SEED = 123


@dataclass(frozen=True)
class Step:
    """One operation: the shapes that went in and came out."""

    key: str
    operation: str  # as in code
    takes: tuple[int, ...] | None
    gives: tuple[int, ...] | None
    state: State
    error: str = ""  # torch's own


@dataclass(frozen=True)
class FeedForwardRun:
    """The steps up to the first that failed, and the reason in words."""

    sizes: Sizes
    steps: tuple[Step, ...]
    verdict: Verdict
    headline: str
    reason: str
    remedy: str
    parameters: int

    @property
    def first_mismatch(self) -> Step | None:
        """The first step in the order of the data whose numbers don't match."""
        return next((step for step in self.steps if step.state in (State.BROKEN, State.SILENT)), None)


def run(sizes: Sizes) -> FeedForwardRun:
    """Make the layers, and pass a random batch through them, the shortcut's addition and the next block's norm.

    Raises
    ------
    RefusedInputError
        If a size is below 1, or the run would need more memory or work than fits here.
    """
    _check(sizes)
    generator = seeded(_SEED)
    x = torch.rand(sizes.batch, sizes.tokens, sizes.features, generator=generator)
    expand = linear(sizes.expand_in, sizes.expand_out, generator)
    contract = linear(sizes.contract_in, sizes.contract_out, generator)
    norm = LayerNorm(sizes.features)
    operations: Sequence[tuple[str, str, int | None, Callable[[Tensor], Tensor]]] = (
        ("expand", f"Linear({sizes.expand_in}, {sizes.expand_out})", sizes.expand_in, expand),
        ("gelu", "GELU()", None, GELU()),
        ("contract", f"Linear({sizes.contract_in}, {sizes.contract_out})", sizes.contract_in, contract),
        ("shortcut", "x + ff(x)", sizes.features, lambda out: x + out),
        ("next", f"LayerNorm({sizes.features})", sizes.features, norm),
    )
    steps: list[Step] = [Step("input", f"torch.rand{tuple(x.shape)}", None, tuple(x.shape), State.FITS)]
    present: Tensor | None = x
    with torch.no_grad():
        for key, operation, wants, call in operations:
            step, present = _step(key, operation, wants, call, present)
            steps.append(step)
    parameters = sum(p.numel() for layer in (expand, contract) for p in layer.parameters())
    return _told(sizes, tuple(steps), parameters)


def _step(
    key: str, operation: str, wants: int | None, call: Callable[[Tensor], Tensor], given: Tensor | None
) -> tuple[Step, Tensor | None]:
    if given is None:
        return Step(key, operation, None, None, State.NOT_REACHED), None
    takes = tuple(given.shape)
    try:
        out = call(given)
    except RuntimeError as error:
        return Step(key, operation, takes, None, State.BROKEN, str(error)), None
    state = State.FITS if wants in (None, takes[-1]) else State.SILENT
    return Step(key, operation, takes, tuple(out.shape), state), out


def _told(sizes: Sizes, steps: tuple[Step, ...], parameters: int) -> FeedForwardRun:
    wrong = next((step for step in steps if step.state in (State.BROKEN, State.SILENT)), None)
    if wrong is None:
        reason = (
            f"Each layer takes what the one before returns, and {sizes.features:,} features come back: the shortcut "
            f"can add the input, and the next block finds what it expects. The {sizes.expand_out:,} in the middle "
            f"matter to these two layers alone."
        )
        return FeedForwardRun(sizes, steps, Verdict.FITS, "All numbers match", reason, "", parameters)
    if wrong.key in ("expand", "contract"):
        headline, reason, remedy = explain_linear(wrong.key, sizes.batch, sizes.tokens, wrong.takes or (), sizes)
        return FeedForwardRun(sizes, steps, Verdict.BREAKS_INSIDE, headline, reason, remedy, parameters)
    silent = wrong.state is State.SILENT
    headline, reason, remedy = explain_addition(sizes.contract_out, sizes.features, silent)
    verdict = Verdict.SILENT if silent else Verdict.WRONG_OUTSIDE
    return FeedForwardRun(sizes, steps, verdict, headline, reason, remedy, parameters)


def _check(sizes: Sizes) -> None:
    for field in fields(sizes):
        if getattr(sizes, field.name) < 1:
            raise RefusedInputError(field.name, "A size is at least 1.")
    rows = sizes.batch * sizes.tokens
    first, second = sizes.expand_in * sizes.expand_out, sizes.contract_in * sizes.contract_out
    numbers = first + second + rows * (2 * sizes.features + 2 * sizes.expand_out + 2 * sizes.contract_out)
    products = rows * (first + second)
    free = available_memory()
    if _FLOAT * numbers > free:
        raise RefusedInputError(
            _largest(sizes), f"Needs {_FLOAT * numbers / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free."
        )
    if first + second > _MOST_WEIGHTS:
        raise RefusedInputError(
            _largest(sizes, "expand", "contract"),
            f"{(first + second) / 1e6:,.0f} million weights; here at most {_MOST_WEIGHTS / 1e6:,.0f} million.",
        )
    if products > _MOST_PRODUCTS:
        raise RefusedInputError(
            _largest(sizes),
            f"{products / 1e9:,.0f} thousand million products; here at most {_MOST_PRODUCTS / 1e9:,.0f}.",
        )


def _largest(sizes: Sizes, *beginnings: str) -> str:
    names = [field.name for field in fields(sizes) if not beginnings or field.name.startswith(beginnings)]
    return max(names, key=lambda name: int(getattr(sizes, name)))
