"""Where a number is, in words: at full length, and short enough for a chip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gptviz.analysis.place import Place
from gptviz.analysis.stage_text import input_title
from gptviz.capture.stages import Stage


@dataclass(frozen=True)
class Words:
    """How tokens are written: those of the sequence by position, those of the vocabulary by ID."""

    tokens: Sequence[str]
    text_of: Callable[[int], str]
    batch: int

    def position(self, at: int) -> str:
        """Write a position with its token."""
        return f"{at} {self.token(at)}".rstrip()

    def token(self, at: int) -> str:
        """Write the token at a position."""
        return self.tokens[at] if at < len(self.tokens) else ""

    def coordinates(self, stage: Stage, index: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Name each number of an index; heads and sequences are counted from 1, as everywhere on screen."""
        square = stage.dims.endswith("TT")
        names = iter(("query", "key") if square else ("token",))
        found: list[tuple[str, str]] = []
        for letter, at in zip(stage.dims, index, strict=True):
            if letter == "B" and self.batch > 1:
                found.append(("sequence", str(at + 1)))
            elif letter == "H":
                found.append(("head", str(at + 1)))
            elif letter == "T":
                found.append((next(names), self.position(at)))
            elif letter == "V":
                found.append(("token ID", f"{at} {self.text_of(at)}"))
            elif letter in "EFD":
                found.append(("feature", str(at)))
        return tuple(found)

    def short(self, stage: Stage, index: Sequence[int]) -> str:
        """Return the least that tells a number from others of its stage: ␣am → ␣I, or ␣am [17]."""
        if stage.dims.endswith("TT"):
            return f"{self.token(index[-2])} → {self.token(index[-1])}"
        if stage.dims in ("BTV", "BV"):
            return self.text_of(index[-1])
        if stage.dims == "BT":
            return self.token(index[-1])
        if stage.dims == "B1":
            return ""
        return f"{self.token(index[-2])} [{index[-1]}]"

    def at(self, axis: str, i: int) -> str:
        """Name the place ``i`` along the axis of a row of numbers."""
        if axis in ("key", "token"):
            return self.position(i)
        return f"{i} {self.text_of(i)}" if axis == "token ID" else str(i)

    def operand(self, place: Place, stage: Stage | None) -> str:
        """Say where an operand is: in a stage, or in a parameter if ``stage`` is None."""
        if stage is None:
            parts = place.name.split(".")
            path = ".".join(parts[2:] if parts[0] == "trf_blocks" else parts)
            return f"{path}[{', '.join(map(str, place.index))}]"
        return f"{input_title(stage)}  {self.short(stage, place.index)}".rstrip()
