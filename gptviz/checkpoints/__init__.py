"""Checkpoints: one file a format, and one door, ``load(path)``. A file is data; nothing in it is ever run.

The errors are here at once; the rest imports torch when it is first asked for.
"""

from typing import TYPE_CHECKING

from gptviz.checkpoints.errors import CheckpointError, HeadsNeeded

if TYPE_CHECKING:
    from gptviz.checkpoints.door import Checkpoint, Description, describe, load

__all__ = ["Checkpoint", "CheckpointError", "Description", "HeadsNeeded", "describe", "load"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from gptviz.checkpoints import door  # noqa: PLC0415 - imports torch

        return getattr(door, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
