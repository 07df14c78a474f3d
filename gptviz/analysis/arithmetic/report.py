"""An explanation as lines of text, and as what JSON can hold."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gptviz.analysis.arithmetic.onward import PROBABILITY
from gptviz.analysis.arithmetic.writing import plain

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic.parts import Explanation, Operand, Step, Terms

LARGEST = 8  # terms of a sum that are listed, unless all are wanted


def as_json(explanation: "Explanation", program: str, most: int | None = LARGEST) -> dict[str, Any]:
    """Return the explanation with at most ``most`` terms of a sum, or all; infinities and NaN become strings.

    ``program`` is what computes the number in PyTorch; see ``snippet``.
    """
    return {
        "stage": explanation.stage.name,
        "index": list(explanation.index),
        "operation": explanation.operation,
        "sentence": explanation.sentence,
        "value": _number(explanation.captured),
        "recomputed": None if explanation.lacks else _number(explanation.recomputed),
        "difference": None if explanation.lacks else _number(explanation.difference),
        "relative_difference": None if explanation.lacks else _number(explanation.relative),
        "relative_to": explanation.relative_to,
        "size": _number(explanation.size),
        "tolerance": explanation.tolerance,
        "ok": explanation.ok,
        "steps": [_step(step) for step in explanation.steps],
        "onward": [_step(step) for step in explanation.onward],
        "operands": [_operand(operand) for operand in explanation.operands],
        "terms": None if explanation.terms is None else _terms(explanation.terms, most),
        "python": program,
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _step(step: "Step") -> dict[str, Any]:
    equation, numbers = plain(step.equation), plain(step.numbers)
    return {"name": step.name, "equation": equation, "numbers": numbers, "value": _number(step.value)}


def _operand(operand: "Operand") -> dict[str, Any]:
    place = operand.place
    return {
        "symbol": plain(operand.symbol),
        "kind": "parameter" if place.parameter else "stage",
        "name": place.name,
        "index": list(place.index),
        "value": _number(operand.value),
    }


def _terms(terms: "Terms", most: int | None) -> dict[str, Any]:
    count = len(terms) if most is None else min(most, len(terms))
    shown = [terms.term(int(i)) for i in terms.largest(count)]
    rest = {"count": len(terms) - count, "sum": _number(terms.rest(count))}
    return {
        "title": terms.title,
        "count": len(terms),
        "largest": [
            {
                "value": _number(term.value),
                "operands": [_operand(operand) for operand in (term.left, term.right) if operand is not None],
            }
            for term in shown
        ],
        "rest": None if terms.compared else rest,
    }


def as_lines(explanation: "Explanation", most: int | None = LARGEST) -> Iterator[str]:
    """Yield the explanation for a terminal."""
    yield f"{explanation.place} = {_written(explanation.captured)}   ({explanation.operation})"
    yield explanation.sentence
    yield ""
    yield from _step_lines(explanation.steps)
    if explanation.operands:
        yield ""
        yield "made from"
        for operand in explanation.operands:
            kind = "parameter " if operand.place.parameter else ""
            yield f"  {plain(operand.symbol):<10} {_written(operand.value):>16}   {kind}{operand.place}"
    if explanation.terms is not None:
        yield ""
        yield from _term_lines(explanation.terms, most)
    if explanation.onward:
        yield ""
        yield PROBABILITY
        yield from _step_lines(explanation.onward)
    yield ""
    yield verdict(explanation)


def _step_lines(steps: "Sequence[Step]") -> Iterator[str]:
    width = max(len(step.name) for step in steps)
    for step in steps:
        working = plain(step.equation) + (f" = {plain(step.numbers)}" if step.numbers else "")
        result = _written(step.value)
        ending = "" if working.endswith(f" = {result}") else f" = {result}"
        yield f"  {step.name:<{width}}{'  ' if width else ''}{working}{ending}"


def _term_lines(terms: "Terms", most: int | None) -> Iterator[str]:
    count = len(terms) if most is None else min(most, len(terms))
    yield f"{terms.title}: {len(terms):,} {'candidates' if terms.compared else 'terms'}, the largest first"
    for i in terms.largest(count):
        term = terms.term(int(i))
        factors = [operand for operand in (term.left, term.right) if operand is not None]
        product = " · ".join(_written(operand.value) for operand in factors) if len(factors) > 1 else ""
        yield f"  {_written(term.value):>16}   {product:<28} {' · '.join(str(operand.place) for operand in factors)}"
    if count < len(terms) and not terms.compared:
        yield f"  {_written(terms.rest(count)):>16}   the sum of the other {len(terms) - count:,}"


def verdict(explanation: "Explanation") -> str:
    """Say in one line whether the recomputed number is the model's."""
    model, ours = _written(explanation.captured), _written(explanation.recomputed)
    if explanation.note:
        return explanation.note
    if explanation.lacks:
        return f"not recomputed: {explanation.lacks}"
    wrong = "this arithmetic does not give the model's number"
    if explanation.overflowed:
        wrong = "a number on the way is beyond 3.4e38, the largest of the model's single precision"
    agrees = "ok" if explanation.ok else f"ERROR: {wrong}"
    if explanation.tolerance == 0:
        return f"recomputed {ours}, the model has {model}; both must be equal: {agrees}"
    return (
        f"recomputed {ours}, the model has {model}; difference {explanation.difference:.2g}, which is "
        f"{explanation.relative:.2g} of {explanation.size:.4g} ({explanation.relative_to}); "
        f"at most {explanation.tolerance:g}: {agrees}"
    )


def _written(value: float) -> str:
    return f"{value:.9g}".replace("-", "−").replace("inf", "∞")
