"""Whether a model fits into memory: better said before than found out when the system ends the program."""

import sys
from pathlib import Path

from gptviz.checkpoints.errors import CheckpointError

_MEMINFO = Path("/proc/meminfo")


def check_fits(needed: int) -> None:
    """Refuse a model of ``needed`` bytes if the system says that there is less; where it says nothing, go on.

    Raises
    ------
    CheckpointError
        With both figures.
    """
    free = free_bytes()
    if free is not None and needed > free:
        raise CheckpointError(
            f"the model needs {needed / 1e9:,.1f} GB of memory in fp32, and {free / 1e9:,.1f} GB are free",
            "Close other programs, or choose a smaller model",
        )


def free_bytes() -> int | None:
    """Return how much memory can be had, swap included; None where Linux is not asked."""
    if sys.platform != "linux":
        return None
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
        return sum(int(lines[key].split()[0]) * 1024 for key in ("MemAvailable", "SwapFree"))
    except (OSError, ValueError, LookupError):
        return None
