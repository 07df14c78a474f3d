"""Numbers as markup of a formula."""

import math

from gptviz.widgets.number_rule import write
from gptviz.widgets.text import number


def set_number(value: float, digits: int = 4) -> str:
    """Return markup of a number: powers of ten as such, short numbers without idle zeros, no gap behind a sign."""
    if not math.isfinite(value):
        return rf"\word{{{number(value)}}}"
    if abs(value) < 1000 and math.isclose(value, round(value, 2), rel_tol=1e-6, abs_tol=0.0):
        return _signed(write(round(value, 2)))
    mantissa, e, exponent = number(value, digits).partition("e")
    if not e:
        return _signed(mantissa)
    power = f"10^{{{_signed(exponent)}}}"
    return power if float(mantissa.replace("−", "-")) == 1 else f"{_signed(mantissa)} · {power}"


def bracketed(markup: str) -> str:
    """Put a negative number in parentheses, as behind another sign."""
    return rf"\paren{{{markup}}}" if markup.startswith(("−", r"\word{−")) else markup


def _signed(text: str) -> str:
    return rf"\word{{{text}}}" if text.startswith("−") else text
