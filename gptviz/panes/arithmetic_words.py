"""What the Arithmetic pane says of an explanation."""

from typing import TYPE_CHECKING

from gptviz.analysis.arithmetic import Explanation, Step
from gptviz.analysis.arithmetic.writing import figure, whole
from gptviz.capture.stages import Stage
from gptviz.widgets.text import number
from gptviz.widgets.working import WorkingStep

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_REPLAYED = "This block is being run again to have its numbers at hand …"
_NOT_YET = "The forward pass has not come to this stage yet."
_NOT_KEPT = "Not kept: this block can be run again once the pass has ended."


def working_step(step: Step, found: Explanation) -> WorkingStep:
    """Return a step as it is drawn; what would stand there twice is left out."""
    ends = (found.steps[-1:], found.onward[-1:])
    result = whole(step.value) if step.whole else figure(step.value, 7 if any(step in end for end in ends) else 4)
    plain_numbers = step.numbers in (result, figure(step.value))
    return WorkingStep(step.name, step.equation, "" if plain_numbers else step.numbers, result)


def exact(value: float, is_whole: bool) -> str:
    """Write a number with as many places as single precision has, an ID as it is."""
    return whole(value) if is_whole else number(value, 7)


def short_verdict(found: Explanation) -> tuple[str, bool]:
    """Say in a few words whether the number was confirmed, and whether it was found wrong."""
    if found.note:
        return "given, not computed", False
    if not found.ok:
        return f"✗ recomputed: {exact(found.recomputed, found.whole)}", True
    if found.tolerance == 0:
        return "✓ recomputed: the same", False
    return f"✓ recomputed, difference {number(found.difference, 2)}", False


def verdict(found: Explanation) -> str:
    """Tell both numbers, their difference, and what it is measured by."""
    if found.note:
        return found.note
    both = f"The model has {exact(found.captured, found.whole)}, recomputed {exact(found.recomputed, found.whole)}"
    if found.tolerance == 0:
        ending = "as it must be where nothing is rounded" if found.ok else "but they have to be equal"
        return f"{both}: {'the same, ' if found.ok else ''}{ending}."
    if found.difference == 0:
        return f"{both}: no difference at all."
    measured = (
        f"difference {number(found.difference, 2)}, which is {number(found.relative, 2)} times {number(found.size)}, "
        f"{found.relative_to}; up to {number(found.tolerance, 1)} it is rounding"
    )
    if found.ok:
        return f"{both}: {measured}."
    why = (
        "A number on the way is beyond 3.4e38, the largest that the model's single precision has, and was ∞ there."
        if found.overflowed
        else "This arithmetic does not give the model's number; were weights changed since the run?"
    )
    return f"{both}: {measured}. {why}"


def missing(trace: "Trace", stage: Stage) -> str:
    """Say why the numbers of ``stage`` are not at hand."""
    if stage.name not in trace:
        return _NOT_YET
    return _REPLAYED if trace.complete else _NOT_KEPT
