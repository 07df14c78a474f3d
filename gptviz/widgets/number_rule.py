"""Which numbers a field takes, and what it says about others."""

import math
import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_BEGUN = re.compile(r"[+-]?\d*\.?\d*(e[+-]?)?", re.IGNORECASE | re.ASCII)
_FAR = 1e5  # a limit that nobody needs to be told of beforehand
_LONGEST_QUOTE = 18  # characters
_LONGEST = 300  # characters that are read at all: Python refuses whole numbers of some thousand digits


class RefusedError(ValueError):
    """The text is no number that the rule takes; the message says what, why and what to do."""


@dataclass(frozen=True)
class NumberRule:
    """A whole or any finite number from ``lowest`` to ``highest``; the reasons complete "at least 1, as …"."""

    whole: bool = False
    lowest: float | None = None
    highest: float | None = None
    lowest_reason: str = ""
    highest_reason: str = ""

    def read(self, text: str) -> float:
        """Return the number that ``text`` writes, an int where the rule wants a whole one.

        Raises
        ------
        RefusedError
            If it writes none, or one out of range.
        """
        written = text.strip().replace("−", "-")
        if not written:
            raise RefusedError(f"Empty: type {self.kind}.")
        if len(written) > _LONGEST or not _NUMBER.fullmatch(written):
            raise RefusedError(self._no_number(written))
        if self.whole:
            if not _WHOLE.fullmatch(written):
                raise RefusedError(f"{_quoted(written)} is no whole number: type {self.kind}.")
            value: float = int(written)
        else:
            value = float(written)
        self._check_range(value, written)
        return value

    @staticmethod
    def is_begun(text: str) -> bool:
        """Tell whether ``text`` can still become a number: a sign, or an exponent without digits."""
        written = text.strip().replace("−", "-")
        return bool(written) and bool(_BEGUN.fullmatch(written)) and not _NUMBER.fullmatch(written)

    @property
    def kind(self) -> str:
        """What the field wants, in words."""
        kind = "a whole number" if self.whole else "a number"
        lowest, highest = (
            None if limit is None or abs(limit) > _FAR else limit for limit in (self.lowest, self.highest)
        )
        if lowest is not None and highest is not None:
            return f"{kind} from {write(lowest)} to {write(highest)}"
        if lowest is not None:
            return f"{kind} of at least {write(lowest)}"
        return f"{kind} of at most {write(highest)}" if highest is not None else kind

    def _no_number(self, written: str) -> str:
        if re.fullmatch(r"[+-]?\d+,\d+", written):
            return f"{_quoted(written)} is no number here: write it with a point, and without separators."
        return f"{_quoted(written)} is no number: type {self.kind}."

    def _check_range(self, value: float, written: str) -> None:
        if self.lowest is not None and value < self.lowest:
            raise RefusedError(f"{_quoted(written, '')} is too small: at least {write(self.lowest)}{self._as_lowest}.")
        if (self.highest is not None and value > self.highest) or math.isinf(value):
            limit = f"at most {write(self.highest)}{self._as_highest}" if self.highest is not None else "it overflows"
            raise RefusedError(f"{_quoted(written, '')} is too large: {limit}.")

    @property
    def _as_lowest(self) -> str:
        return f", as {self.lowest_reason}" if self.lowest_reason else ""

    @property
    def _as_highest(self) -> str:
        return f", as {self.highest_reason}" if self.highest_reason else ""


def write(value: float, digits: int = 6) -> str:
    """Write a number as a person types it, with a true minus sign; whole ones in full."""
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−") if abs(value) >= 10_000 else str(value).replace("-", "−")
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")


def _quoted(text: str, mark: str = "“”") -> str:
    shown = "".join(sign if sign.isprintable() else "·" for sign in text.replace("-", "−"))
    if len(shown) > _LONGEST_QUOTE:
        shown = f"{shown[: _LONGEST_QUOTE - 1]}…"
    return f"{mark[:1]}{shown}{mark[1:]}"
