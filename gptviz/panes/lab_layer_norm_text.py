"""What the LayerNorm lab writes: each formula with the numbers filled in, and why they come out as they do."""

import math
from typing import TYPE_CHECKING

from gptviz.widgets.math_number import bracketed, set_number
from gptviz.widgets.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gptviz.labs.layer_norm import Normalised

_UNSEEN = 2**-24  # a share of 1 that single precision can't tell from nothing
_SHOWN = 6  # terms of a sum that are written out


def formulas(steps: "Normalised", place: int) -> dict[str, str]:
    """Return the markup of each step, with the numbers of the feature ``place`` where a step has one for each."""
    n, settings, before = len(steps.row), steps.settings, steps.before
    variance, eps = set_number(before.variance), set_number(settings.eps)
    x, centred, normalised, output = (
        set_number(float(values[place])) for values in (steps.row, steps.centred, steps.normalised, steps.output)
    )
    terms = [set_number(float(value), 3) for value in steps.row[: _SHOWN + 1]]
    squares = [_square(set_number(float(value), 3)) for value in steps.centred[: _SHOWN + 1]]
    below = (n - 1, "n − 1") if settings.unbiased else (n, "n")
    divisor = rf"\under{{{below[0]}}}{{{below[1]}}}"
    root = rf"\root{{{variance} + \under{{{eps}}}{{eps}}}}"
    scale, shift = set_number(settings.scale), bracketed(set_number(settings.shift))
    name = f"_{{{place + 1}}}"
    return {
        "mean": rf"\word{{mean}} = {_fraction(_sum(terms, n), str(n))} = {set_number(before.mean)}",
        "variance": rf"\word{{variance}} = {_fraction(_sum(squares, n), divisor)} = {variance}",
        "normalised": rf"\word{{normalised}}{name} = {_fraction(f'{x} {_minus(before.mean)}', root)} = "
        f"{_fraction(centred, set_number(steps.root))} = {normalised}",
        "output": rf"\word{{output}}{name} = \under{{{scale}}}{{scale}} · {bracketed(normalised)} + "
        rf"\under{{{shift}}}{{shift}} = {output}",
        "after": r"\word{variance after} = \frac{\word{variance}}{\word{variance} + \word{eps}} = "
        f"{_fraction(variance, f'{variance} + {eps}')} = {set_number(steps.predicted_variance, 5)}",
    }


def measured(steps: "Normalised") -> list[tuple[str, str]]:
    """Return what was measured on the normalised row."""
    parts = [
        ("mean after", number(0.0 if abs(steps.after.mean) < 1e-9 else steps.after.mean, 2)),
        ("variance after", number(steps.after.variance, 5)),
    ]
    if steps.module_error is not None:
        parts.append(("largest difference from the model's LayerNorm", number(steps.module_error, 2)))
    return parts


def explanation(steps: "Normalised") -> str:
    """Say why the variance after is what it is."""
    n, eps, variance = len(steps.row), steps.settings.eps, steps.before.variance
    if n == 1 and steps.settings.unbiased:
        return "One number has no sample variance: n − 1 is 0, and 0 ÷ 0 is no number (NaN). Divide by n instead."
    if variance == 0:
        return _of_no_variance(n, eps)
    if math.isnan(steps.after.variance) or math.isinf(variance):
        return "These numbers are too large for single precision: their squares overflow."
    rounding = ""
    if steps.is_constant:
        rounding = (
            "All numbers are equal, but their mean was rounded in single precision, so a trace of variance is left. "
        )
    if eps == 0:
        if rounding:
            return (
                f"{rounding}Without eps it is divided by itself, and rounding becomes whole numbers: eps prevents it."
            )
        return "Without eps the variance after is 1, up to rounding."
    share = eps / (variance + eps)
    if share < _UNSEEN:
        return rounding + (
            f"1, up to rounding: beside this variance eps is too small to be seen in single precision. It takes "
            f"{number(share * 100, 2)} % away, eps ÷ (variance + eps); the smaller the variance, the more."
        )
    text = (
        f"Not 1: eps stands under the root beside the variance, so the row is divided by slightly more than its "
        f"spread. {number(share * 100, 2)} % of the variance is missing, eps ÷ (variance + eps); the smaller the "
        f"variance, the more."
    )
    if steps.settings.unbiased:
        text += f" (Measured with n instead of n − 1 it would be {number(steps.after.variance * (n - 1) / n)}.)"
    return rounding + text


def _of_no_variance(n: int, eps: float) -> str:
    equal = "There is one number, which is its own mean" if n == 1 else f"All {n} numbers are equal"
    if eps == 0:
        return (
            f"{equal}: every deviation is 0, and so is the root. 0 ÷ 0 is no number (NaN), and in a model one such row "
            f"would spread to all that is computed from it. Set eps above 0."
        )
    return (
        f"{equal}: every deviation is 0. eps keeps the root at {number(math.sqrt(eps), 3)} instead of 0, so that "
        f"nothing is divided by zero: the row becomes 0, and the output is shift. The variance after is 0, as no "
        f"spread can be made from none."
    )


def _sum(terms: "Sequence[str]", n: int) -> str:
    """Join the first terms of a sum of ``n``."""
    shown = list(terms) if n <= _SHOWN else [*terms[: _SHOWN - 2], "…"]
    return " + ".join(bracketed(term) if place else term for place, term in enumerate(shown)).replace(" + …", " + …")


def _fraction(over: str, below: str) -> str:
    return rf"\frac{{{over}}}{{{below}}}"


def _square(term: str) -> str:
    base = rf"\paren{{{term}}}" if "^" in term else bracketed(term)
    return f"{base}^{{2}}"


def _minus(value: float) -> str:
    return f"− {set_number(value)}" if value >= 0 or math.isnan(value) else f"+ {set_number(-value)}"
