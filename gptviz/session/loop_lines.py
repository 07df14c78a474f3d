"""The five lines of the loop, as they run."""

from dataclasses import dataclass
from threading import Condition, Event

CROP, FORWARD, LAST, CHOOSE, APPEND = range(5)


@dataclass(frozen=True)
class LineRun:
    """What one line did: the shape that went in, the shape that came out, milliseconds.

    ``ms`` is None where the result was at hand already and the line did not run again.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    ms: float | None


@dataclass(frozen=True)
class LoopLines:
    """One turn of the loop: the lines that are done, the one that is lit, and whether it waits before it.

    ``text_tokens`` is the number of tokens before the crop, ``recomputed`` how many positions the pass computed.
    """

    runs: tuple[LineRun, ...] = ()
    lit: int | None = None
    held: bool = False
    text_tokens: int = 0
    recomputed: int = 0
    cache_shape: tuple[int, ...] = ()  # (L, B, H, T, D) of the keys, and of the values; () without a cache
    cache_bytes: int = 0


class LineGate:
    """Holds the worker before each line until the person lets it run."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._released = self._to_the_end = False

    def hold(self, cancel: Event) -> None:
        """Worker: wait."""
        with self._condition:
            self._condition.wait_for(lambda: self._released or cancel.is_set())
            self._released = self._to_the_end

    def release(self, to_the_end: bool = False) -> None:
        """GUI: let one line run, or all that are left."""
        with self._condition:
            self._released, self._to_the_end = True, to_the_end
            self._condition.notify_all()

    def wake(self) -> None:
        """Let the worker look at its cancel flag."""
        with self._condition:
            self._condition.notify_all()
