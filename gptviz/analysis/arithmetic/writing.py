r"""Numbers and sums in the markup of ``analysis.formulas``, and that markup as plain text."""

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gptviz.analysis.arithmetic.parts import Terms

_SHOWN = 3  # terms of a long sum that are written out
_ALL = 5  # a sum of so few is written out whole
_COMMAND = re.compile(r"\\([a-z]+)\s*")


def figure(value: float, digits: int = 4) -> str:
    """Write a number with ``digits`` significant places; very large and small ones with a power of ten."""
    if math.isnan(value):
        return "\\word{NaN}"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e6:
        written = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(size)))}f}"
    else:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        power = f"10^{{{int(exponent)}}}"
        written = power if mantissa == "1" else f"{mantissa} · {power}"
    return written.replace("-", "−")


def whole(value: float) -> str:
    """Write a whole number, without commas: it is an index or an ID."""
    return f"{int(value)}"


def factor(value: float, digits: int = 4) -> str:
    """Write a number that something stands before: negative ones and powers of ten in parentheses."""
    written = figure(value, digits)
    return f"\\paren{{{written}}}" if written.startswith("−") or "^" in written else written


def added(values: "Sequence[float]") -> str:
    """Write a sum of numbers: a + b − c."""
    parts = [figure(values[0])]
    for value in values[1:]:
        parts.append(f"− {figure(-value)}" if value < 0 else f"+ {figure(value)}")
    return " ".join(parts)


def summed(terms: "Terms") -> str:
    """Write a sum of terms, the largest first; of a long one the rest is a number with a note below it.

    Three spaces before a sign mark where a line may end.
    """
    count = len(terms) if len(terms) <= _ALL else _SHOWN
    parts: list[str] = []
    for i in terms.largest(count):
        term = terms.term(int(i))
        if term.right is None:
            parts.append(factor(term.value) if parts else figure(term.value))
        else:
            first = factor(term.left.value) if parts else figure(term.left.value)
            parts.append(f"{first} · {factor(term.right.value)}")
    if count < len(terms):
        parts.append(f"\\under{{{factor(terms.rest(count))}}}{{{len(terms) - count:,} others}}")
    if terms.extra is not None:
        parts.append(f"\\under{{{factor(terms.extra.value)}}}{{bias}}")
    return "   + ".join(parts)


def plain(markup: str) -> str:
    """Return ``markup`` as one line of plain text, for a terminal."""
    return " ".join(_Reader(markup).text().split())


class _Reader:
    """Reads markup from the left, an argument at a time."""

    def __init__(self, markup: str) -> None:
        self._rest = markup

    def text(self) -> str:
        """Read up to a closing brace or the end."""
        text = ""
        while self._rest and not self._rest.startswith("}"):
            command = _COMMAND.match(self._rest)
            if command is not None:
                self._rest = self._rest[command.end() :]
                text += self._command(command[1])
            elif self._rest[0] in "^_":
                sign, self._rest = self._rest[0], self._rest[1:]
                text += _script(sign, self._argument())
            else:
                text, self._rest = text + self._rest[0], self._rest[1:]
        return text

    def _argument(self) -> str:
        self._rest = self._rest.removeprefix("{")
        text = self.text()
        self._rest = self._rest.removeprefix("}")
        return text

    def _command(self, name: str) -> str:
        first = self._argument()
        if name in ("word", "bold"):
            return first
        if name == "paren":
            return f"({first})"
        if name == "root":
            return f"√({first})"
        second = self._argument()
        if name == "frac":
            return f"{_grouped(first)} ÷ {_grouped(second)}"
        if name == "under":
            return f"{first} [{second}]"
        if name == "sum":
            return f"Σ({first} … {second}) "
        return f"{first}({second}) "  # limit


def _script(sign: str, script: str) -> str:
    return f"[{script}]" if sign == "_" else f"^{script}" if script.isalnum() else f"^({script})"


def _grouped(text: str) -> str:
    return f"({text})" if " " in text.strip() else text
