"""What a check found. Apart from the measuring, so that the window is painted without waiting for NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Check:
    """An invariant, the largest error found, where it is, and whether it is within ``tolerance``.

    A check that could not run has no error, and says in ``note`` why; so does one that could not run everywhere.
    """

    name: str
    max_error: float | None
    where: str
    tolerance: float = 0.0
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the invariant holds; None if that could not be measured."""
        return None if self.max_error is None else self.max_error <= self.tolerance


def merge(before: Sequence[Check], more: Sequence[Check]) -> tuple[Check, ...]:
    """Keep of each check the one with the largest error."""
    worst = {check.name: check for check in before}
    for check in more:
        known = worst.get(check.name)
        if known is None:
            worst[check.name] = check
            continue
        larger = check if known.max_error is None or _size(check) > _size(known) else known
        worst[check.name] = replace(larger, note=known.note or check.note)
    return tuple(worst.values())


def _size(check: Check) -> float:
    return -1.0 if check.max_error is None else check.max_error
