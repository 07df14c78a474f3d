"""What the lab of placeholders says about a run."""

from typing import TYPE_CHECKING

from gptviz.labs.shell_request import Change, ShellRequest
from gptviz.model.parts import Part
from gptviz.widgets.text import number, shape
from gptviz.widgets.value_table import Row

if TYPE_CHECKING:
    from gptviz.labs.shell import ShellRow, ShellRun

_NAMES = {
    Part.FINAL_NORM: "the final norm",
    Part.BLOCK_NORMS: "the norms in the blocks",
    Part.FEED_FORWARD: "feed-forward",
    Part.SHORTCUTS: "the shortcuts",
    Part.ATTENTION: "attention",
}
SHOWN = 3  # logits at either end of a row


def wiring(run: "ShellRun") -> str:
    """Say what went in and what came out."""
    return (
        f"{shape(run.input_shape)} token IDs  →  {len(run.rows)} stages  →  {shape(run.logits.shape)} logits"
        f"   ·   {run.parameters:,} parameters"
    )


def comparison(run: "ShellRun", before: "ShellRun | None") -> str:
    """Say what is real, and where the numbers part from those of the run before."""
    real = [_NAMES[part] for part in Part if part in run.request.real]
    what = f"Real: {_listed(real)}." if real else "Only placeholders between embeddings and output head."
    doubled = _doubling(run.request)
    if before is None:
        return f"{what} The wiring holds: every token has a row of {run.logits.shape[-1]:,} logits.{doubled}"
    new = sum(row.change is Change.NEW for row in run.rows)
    changed = sum(row.change is Change.CHANGED for row in run.rows)
    first = run.first_change
    if any(row.change is Change.OTHER_SHAPE for row in run.rows):
        return f"{what} The run before had other sizes, so there is nothing to compare.{doubled}"
    if first is None:
        return f"{what} Every number is the same as in the run before.{doubled}"
    where = f"first at {first.stage.name}"
    parts = [f"{new} stages are new"] if new else []
    parts += [f"{changed} have other numbers"] if changed else []
    return f"{what} Against the run before, {' and '.join(parts)}, {where}.{doubled}"


def _doubling(request: ShellRequest) -> str:
    dummies = [part for part in (Part.ATTENTION, Part.FEED_FORWARD) if part not in request.real]
    if Part.SHORTCUTS not in request.real or not dummies:
        return ""
    return (
        f" With a shortcut around it, a placeholder adds its input to itself: the shapes are right, the numbers grow "
        f"block by block. {_listed([_NAMES[part] for part in dummies]).capitalize()} must be real for that to stop."
    )


def drawing(run: "ShellRun", before: "ShellRun | None") -> str:
    """Say in which order the random weights were drawn, and whom that concerns."""
    order = ", ".join(f"{name} {count:,}" for name, count in run.drawn)
    seed = f"Seed {run.request.seed} draws in the order of the code: {order} numbers."
    if run.request.keep_weights:
        return f"{seed} The whole model is made first, so a part keeps its weights whatever else is real."
    others = [row.stage.name for row in run.rows if row.other_weights]
    if before is not None and _drawing_of(run.request) != _drawing_of(before.request):
        return f"{seed} The run before drew its weights otherwise."
    if others:
        return f"{seed} What stands before {others[0]} draws more or fewer than in the run before: other weights there."
    return f"{seed} LayerNorm draws none: it starts from 1 and 0."


def _drawing_of(request: ShellRequest) -> tuple[object, ...]:
    return request.config, request.seed, request.keep_weights


def stage_rows(run: "ShellRun") -> list[Row]:
    """Write a row for each stage."""
    first = run.first_change
    return [_stage_row(row, row is first) for row in run.rows]


def _stage_row(row: "ShellRow", first: bool) -> Row:
    against = {
        Change.FIRST: "",
        Change.NEW: "new",
        Change.SAME: "same",
        Change.OTHER_SHAPE: "other shape",
        Change.CHANGED: f"up to {number(row.difference, 3)}",
    }[row.change]
    weights = ("others" if row.other_weights else f"{row.parameters:,}") if row.parameters else ""
    tone = "accent" if row.change is Change.NEW else "warning" if row.change is Change.CHANGED else "muted"
    name = "muted" if row.placeholder else ""
    return Row(
        cells=(
            row.stage.name,
            row.stage.operation,
            shape(row.shape),
            "" if row.mean is None else number(row.mean),
            "" if row.spread is None else number(row.spread),
            f"first change  {against}" if first else against,
            weights,
        ),
        tones=(name, "muted", name, name, name, tone, "warning" if row.other_weights else "muted"),
        family=None if row.placeholder else row.stage.family.value,
        strong=first,
        tip=_tip(row),
    )


def _tip(row: "ShellRow") -> str:
    if row.placeholder:
        return f"{row.stage.name}: a placeholder, which returns its input"
    if row.change is Change.CHANGED:
        return f"{row.stage.name}: differs from the run before by at most {number(row.difference, 4)}"
    return f"{row.stage.name}: {row.stage.operation}, {shape(row.shape)}"


def logit_rows(run: "ShellRun") -> list[Row]:
    """Write the first and last logits of each token."""
    rows = []
    for text, ids in enumerate(run.ids):
        for token in range(len(ids)):
            row = run.logits[text, token]
            first, last = ([f"{value:.4f}".replace("-", "−") for value in part] for part in (row[:SHOWN], row[-SHOWN:]))
            cells = (f"text {text + 1}, token {token}", *first, "…", *last)
            rows.append(Row(cells, tones=("muted", *[""] * SHOWN, "muted")))
    return rows


def logit_titles(run: "ShellRun") -> tuple[str, ...]:
    """Return the places of the logits that are shown."""
    last = run.logits.shape[-1] - 1
    return ("Logits", *(str(place) for place in range(SHOWN)), "", *(str(last - SHOWN + 1 + k) for k in range(SHOWN)))


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
