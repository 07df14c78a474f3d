"""Running a model with forward hooks and keeping what it computed.

The catalogue of stages is here at once; the rest imports torch when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gptviz.capture.errors import NotRecordedError, TraceError
from gptviz.capture.stages import Family, Source, Stage, block_input_name, block_name, block_stages, catalogue

if TYPE_CHECKING:
    from gptviz.capture.memory import DEFAULT_BUDGET, block_bytes, blocks_within
    from gptviz.capture.recorder import CancelFlag, CaptureCancelled, CaptureError, capture, perturbed_pass
    from gptviz.capture.recording import Recorded, recorded
    from gptviz.capture.trace import StageRecord, Trace

__all__ = [
    "DEFAULT_BUDGET",
    "CancelFlag",
    "CaptureCancelled",
    "CaptureError",
    "Family",
    "NotRecordedError",
    "Recorded",
    "Source",
    "Stage",
    "StageRecord",
    "Trace",
    "TraceError",
    "block_bytes",
    "block_input_name",
    "block_name",
    "block_stages",
    "blocks_within",
    "capture",
    "catalogue",
    "perturbed_pass",
    "recorded",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for module_name in ("memory", "trace", "recorder", "recording"):
            module = import_module(f"gptviz.capture.{module_name}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
