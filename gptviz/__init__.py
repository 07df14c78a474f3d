"""gptviz: watch a GPT-2-shaped PyTorch model run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gptviz.checkpoints import load

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def __getattr__(name: str) -> object:
    if name == "load":
        from gptviz.checkpoints import load  # noqa: PLC0415 - imports torch

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
