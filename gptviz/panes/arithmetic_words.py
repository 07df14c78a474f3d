"""What the Arithmetic pane says of an explanation."""

from gptviz.analysis.arithmetic import Explanation, Step
from gptviz.analysis.arithmetic.writing import figure, whole
from gptviz.session.missing import not_recorded
from gptviz.widgets.text import number
from gptviz.widgets.working import WorkingStep


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
    if found.lacks:
        return "not recomputed", False
    if not found.ok:
        return f"✗ recomputed: {exact(found.recomputed, found.whole)}", True
    if found.tolerance == 0:
        return "✓ recomputed: the same", False
    return f"✓ recomputed, difference {number(found.difference, 2)}", False


def verdict(found: Explanation) -> str:
    """Tell both numbers, their difference, and what it is measured by."""
    if found.note:
        return found.note
    if found.lacks:
        return not_recorded(found.lacks, "Not recomputed:")
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
