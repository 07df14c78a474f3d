"""What the worker reads off traces while somebody looks at it. NumPy is imported inside the functions."""

import time
from typing import TYPE_CHECKING

from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.analysis.comparison import StageDifference
    from gptviz.analysis.logit_lens import LensReading
    from gptviz.capture.trace import Trace

_UNNOTICED_SECONDS = 0.03  # a quiet job of about this length lets nobody wait


def read_lens(trace: "Trace", row: int, begun: "LensReading | None", near: int, context: JobContext) -> "LensReading":
    """Read on through the logit lens, near position ``near`` first: a piece, or as many as nobody waits for."""
    from gptviz.analysis.logit_lens import begin, read_on

    until = time.perf_counter() + _UNNOTICED_SECONDS
    reading = read_on(trace, begun or begin(trace, row), near)
    while not reading.complete and time.perf_counter() < until and not context.cancel.is_set():
        reading = read_on(trace, reading, near)
    return reading


def keep_block(trace: "Trace", layer: int, context: JobContext) -> "Trace":
    """Return the trace with the inside of block ``layer`` kept, whatever is replayed after it."""
    return trace.with_block(layer).keeping()


def replay_map(trace: "Trace", layer: int, name: str, context: JobContext) -> "Trace":
    """Return the trace with the stage ``name`` of block ``layer`` at hand, and nothing else of its inside."""
    return trace.with_block(layer).holding(name)


def compare_part(
    a: "tuple[Trace, int]", b: "tuple[Trace, int]", part: int, context: JobContext
) -> "tuple[StageDifference, ...]":
    """Compare two sequences, each a trace and a row: the stages outside the blocks (part 0), or of a block."""
    from gptviz.analysis.comparison import Run
    from gptviz.analysis.comparison import compare_part as compare

    return compare(Run(*a), Run(*b), part)
