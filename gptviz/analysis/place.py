"""Where a number is. Needs no NumPy, so that the state may speak of places before a window is painted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a number is: in the tensor of the stage ``name``, or in the parameter of that path."""

    name: str
    index: tuple[int, ...]
    parameter: bool = False

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.index))}]"
