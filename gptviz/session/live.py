"""Live stepping: the real pass, held inside its hooks."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gptviz.session.gate import Gate

if TYPE_CHECKING:
    from gptviz.session.session import Session


class LiveStepping(QObject):
    """Step live, Next, Continue; Stop is the session's cancel."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._gate: Gate | None = None

    def start(self) -> None:
        """Run the prompt and hold the pass at every stage, or at the breakpoints if there are any."""
        self._gate = Gate(self._session.state.breakpoints)
        self._session.passes.run(self._gate)

    def next(self) -> None:
        """Let the held pass compute one more stage."""
        self._release(stepping=True)

    def run_on(self) -> None:
        """Let the held pass go on to the next breakpoint, or to its end."""
        self._release(stepping=False)

    def toggle_breakpoint(self, stage: str) -> None:
        """Set or clear a breakpoint; it also counts for the pass that is held at present."""
        breakpoints = self._session.state.breakpoints ^ {stage}
        self._session.change(breakpoints=breakpoints)
        if self._gate is not None:
            self._gate.set_breakpoints(breakpoints)

    def _release(self, stepping: bool) -> None:
        if self._gate is not None and self._session.state.held is not None:
            self._gate.release(stepping)
