"""Where a number is. Needs no NumPy, so that the state may speak of places before a window is painted."""

import re
from dataclasses import dataclass

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}\s*")
_LONGEST = 40  # characters of what somebody wrote that a message repeats


def read_index(text: str) -> tuple[int, ...]:
    """Return the whole numbers of ``text``, such as 0,3,2,1; only plain digits count.

    Raises
    ------
    ValueError
        If something else stands there.
    """
    parts = text.split(",")
    if not all(_WHOLE.fullmatch(part) for part in parts):
        raise ValueError(f"{shortened(text)!r} is no index such as 0,3,2,1")
    return tuple(int(part) for part in parts)


def shortened(text: str) -> str:
    """Return ``text``, or the beginning of it if it is long: for a message that repeats what somebody wrote."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass(frozen=True)
class Place:
    """Where a number is: in the tensor of the stage ``name``, or in the parameter of that path."""

    name: str
    index: tuple[int, ...]
    parameter: bool = False

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.index))}]"
