"""Holding a pass inside a forward hook until a person lets it go on."""

from threading import Condition, Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gptviz.capture.trace import Trace


class Gate:
    """Between the worker, which waits at stages, and the GUI, which lets it pass.

    Without breakpoints it holds at every stage; with breakpoints only there, until the person steps.
    """

    def __init__(self, breakpoints: frozenset[str]) -> None:
        self._condition = Condition()
        self._breakpoints = breakpoints
        self._stepping = not breakpoints
        self._released = False

    def hold(self, trace: "Trace", cancel: Event, report: "Callable[[Trace], None]") -> None:
        """Worker: if the last stage of ``trace`` is to be held, report the trace and wait."""
        with self._condition:
            if not (self._stepping or trace.records[-1].name in self._breakpoints):
                return
            self._released = False
        report(trace)
        with self._condition:
            self._condition.wait_for(lambda: self._released or cancel.is_set())

    def release(self, stepping: bool) -> None:
        """GUI: go on to the next stage, or to the next breakpoint if not ``stepping``."""
        with self._condition:
            self._stepping, self._released = stepping, True
            self._condition.notify_all()

    def set_breakpoints(self, breakpoints: frozenset[str]) -> None:
        """GUI: hold at other stages from now on."""
        with self._condition:
            self._breakpoints = breakpoints

    def wake(self) -> None:
        """Let the worker look at its cancel flag."""
        with self._condition:
            self._condition.notify_all()
