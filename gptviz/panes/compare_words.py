"""The words and rows of a comparison: what each run is, how its tokens rank, how its stages differ."""

import math
from collections.abc import Callable, Sequence

from gptviz.analysis.compared_tokens import RankedToken
from gptviz.analysis.comparison import ROUNDING, StageDifference, first_tokens
from gptviz.session.state import ModelInfo
from gptviz.widgets.difference_table import DifferenceRow
from gptviz.widgets.rank_change import RankedItem
from gptviz.widgets.text import number, percent, shape, visible

TokenText = Callable[[int], str]


def run_label(model: ModelInfo, step: int | None, rows: int, row: int) -> str:
    """Say which run it is: model, seed, step of a generation, row of a batch."""
    parts = [model.title] if model.trained or model.seed is None else [model.title, f"seed {model.seed}"]
    if step is not None:
        parts.append(f"step {step + 1}")
    if rows > 1:
        parts.append(f"row {row + 1}")
    return " · ".join(parts)


def ranked_items(
    ranked: Sequence[RankedToken], text: TokenText, other_text: TokenText, sign: int, highest: float
) -> tuple[RankedItem, ...]:
    """Return rows of a ranking. A token whose ID means another text in the other run is not found there.

    ``sign`` is +1 if the other run is A, so that the change is B - A; a bar is full at probability ``highest``.
    """
    return tuple(_item(token, text, other_text, sign, highest) for token in ranked)


def _item(token: RankedToken, text: TokenText, other_text: TokenText, sign: int, highest: float) -> RankedItem:
    known = token.other_rank is not None and text(token.id) == other_text(token.id)
    change = ""
    if known and token.other_probability is not None:
        change = signed_percent(sign * (token.probability - token.other_probability))
    fraction = token.probability / highest if highest > 0 else 0.0
    written = percent(token.probability)
    return RankedItem(visible(text(token.id)), written, fraction, token.other_rank if known else None, change)


def signed_percent(change: float) -> str:
    """Write a change of a probability, in percentage points."""
    if change == 0:
        return "±0 %"
    if math.isnan(change):
        return percent(change)
    return f"{'+' if change > 0 else '−'}{percent(abs(change))}"


def stage_rows(differences: Sequence[StageDifference]) -> tuple[DifferenceRow, ...]:
    """Return a row for each stage that was compared."""
    return tuple(_row(difference) for difference in differences)


def _row(difference: StageDifference) -> DifferenceRow:
    stage = difference.stage
    name = stage.name if stage.layer is None else f"{stage.layer + 1} · {stage.local_name}"
    fraction, value = _size(difference)
    tip = [f"{stage.name}: {stage.operation}", f"A {_shape(difference.shape_a)}, B {_shape(difference.shape_b)}"]
    if difference.relative is not None and difference.largest is not None:
        tip.append(f"‖B − A‖ / ‖A‖ = {number(difference.relative)}, largest |B − A| = {number(difference.largest)}")
    if difference.note:
        tip.append(difference.note)
    return DifferenceRow(
        stage.name,
        stage.family.value,
        name,
        _both_shapes(difference.shape_a, difference.shape_b),
        not difference.same_shape,
        fraction,
        value,
        "\n".join(tip),
    )


def _both_shapes(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> str:
    """Write two shapes as one: sizes that differ stand side by side, A's first."""
    if a is None or b is None or len(a) != len(b):
        return " | ".join(shape(sizes) for sizes in (a, b) if sizes is not None)
    sizes = (str(one) if one == other else f"{one} | {other}" for one, other in zip(a, b, strict=True))
    return f"({', '.join(sizes)})"


def _shape(sizes: tuple[int, ...] | None) -> str:
    return "has no such stage" if sizes is None else shape(sizes)


def _size(difference: StageDifference) -> tuple[float | None, str]:
    """Return the length of the bar, and what is written beside it; words alone where nothing was compared."""
    if difference.differing is not None:
        several = "token differs" if difference.differing == 1 else "tokens differ"
        return None, f"{difference.differing:,} {several}" if difference.differing else "the same"
    if difference.relative is None:
        return None, difference.note
    relative = difference.relative
    return (1.0 if math.isnan(relative) else min(1.0, relative)), number(relative, 3)


def summary(differences: Sequence[StageDifference], tokens_a: int, tokens_b: int) -> str:
    """Say in a line how many stages differ, by more than rounding, and over which tokens they were compared."""
    shapes = sum(not one.same_shape for one in differences)
    changed = sum(bool(one.differing) or not (one.relative or 0.0) <= ROUNDING for one in differences)
    over = f" ({first_tokens(min(tokens_a, tokens_b))} compared)" if tokens_a != tokens_b else ""
    return f"{len(differences):,} stages: {shapes:,} differ in shape, {changed:,} in value{over}"
