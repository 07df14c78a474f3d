"""Drawing random weights. torch has one generator for all threads, so one thread draws at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import torch

_DRAWING = Lock()
_POLL_SECONDS = 0.05


@contextmanager
def seeded(seed: int, while_waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Draw from ``seed`` inside the ``with``; nobody else who uses ``seeded`` draws meanwhile.

    ``while_waiting`` is called again and again as long as another thread draws; an exception that it raises ends
    the wait.
    """
    while not _DRAWING.acquire(timeout=_POLL_SECONDS):
        if while_waiting is not None:
            while_waiting()
    try:
        torch.manual_seed(seed)
        yield
    finally:
        _DRAWING.release()
