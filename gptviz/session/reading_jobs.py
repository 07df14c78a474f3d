"""What the worker reads off traces while somebody looks at it. NumPy is imported inside the functions."""

import time
from typing import TYPE_CHECKING

from gptviz.session.worker import JobContext

if TYPE_CHECKING:
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
