"""What the lab of configurations writes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gptviz.model.config import GPT2_SMALL, GPTConfig
from gptviz.widgets.text import data_size, number, shape
from gptviz.widgets.value_table import Row

if TYPE_CHECKING:
    from gptviz.labs.configuration import ConfigurationReport, Estimate


def cost_rows(report: "ConfigurationReport") -> list[Row]:
    """Write counts, bytes and estimated seconds of the present model and the edited one."""
    edited, present = report.edited, report.present
    rows = [
        _row("Parameters", edited, present, lambda e: e.parameters, lambda n: f"{n:,.0f}"),
        _row("Weights, fp32", edited, present, lambda e: e.weights, _size),
        _row("Causal masks, C · C bytes a block", edited, present, lambda e: e.masks, _size),
        _row(f"One pass: {_prompt(edited)}", edited, present, lambda e: e.one_pass, _size),
        _row("Memory in all", edited, present, lambda e: e.needed, _size),
        _row("Time to initialise, about", edited, present, lambda e: e.build_seconds, _time),
        _row("Time of the pass, about", edited, present, lambda e: e.pass_seconds, _time),
    ]
    if not edited.fits:
        rows[4] = Row(rows[4].cells, tones=("", "muted", "error", "error"), strong=True)
    return rows


def _row(
    name: str,
    edited: "Estimate",
    present: "Estimate | None",
    value: "Callable[[Estimate], float]",
    write: Callable[[float], str],
) -> Row:
    new = value(edited)
    old = None if present is None else value(present)
    times = f"× {number(new / old, 3)}" if old else ""
    same = old == new
    tone = "muted" if same or old is None else "accent"
    cells = (name, "" if old is None else write(old), write(new), "" if same else times)
    return Row(cells, tones=("", "muted", "" if same else "accent", tone))


def basis_of(report: "ConfigurationReport") -> str:
    """Say what the times are estimated from."""
    basis, free = report.basis, report.edited.free
    return (
        f"Basis, measured on this machine: a block of {basis.block_parameters / 1e6:.1f} M parameters took "
        f"{_time(basis.block)} for this prompt, a very narrow one {_time(basis.small_block)}, "
        f"a head {basis.head_parameter * 1e9:.2f} ns for each parameter, and a million random numbers "
        f"{_time(basis.uniform * 1e6)}. {data_size(free)} of memory are free."
    )


def shape_rows(report: "ConfigurationReport") -> list[Row]:
    """Write the shapes; those that differ from the model on screen stand out."""
    rows = []
    for row in report.shapes:
        other = row.present is not None and row.present != row.shape
        middle = "4E" if report.edited.config.n_inner is None else "F"
        sizes = ", ".join(middle if letter == "F" else letter for letter in row.dims)
        cells = (row.name, "" if row.present is None else shape(row.present), shape(row.shape), f"({sizes})")
        rows.append(Row(cells, tones=("", "muted", "accent" if other else "", "muted"), family=row.family))
    return rows


def warning_of(config: GPTConfig, tokens: Sequence[int]) -> str:
    """Say what of the window will not work with ``config``, though the model does."""
    said = []
    known = GPT2_SMALL.vocab_size
    if config.vocab_size < known:
        said.append(
            f"GPT-2's tokenizer gives IDs up to {known - 1:,}: a prompt with an ID of {config.vocab_size:,} or more "
            f"will be refused."
        )
    elif config.vocab_size > known:
        said.append(f"IDs from {known:,} on have no text in GPT-2's vocabulary; they are shown as ‹unused ID›.")
    if tokens and max(tokens) > config.context_length:
        said.append(f"The present prompt has {max(tokens):,} tokens, more than this context holds.")
    return " ".join(said)


def _prompt(estimate: "Estimate") -> str:
    tokens = "1 token" if estimate.tokens == 1 else f"{estimate.tokens:,} tokens"
    return tokens if estimate.batch == 1 else f"{estimate.batch:,} rows of {tokens}"


def _size(count: float) -> str:
    return data_size(round(count))


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"
