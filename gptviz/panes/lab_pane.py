"""What all labs have in common."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QVBoxLayout

from gptviz.labs.refusal import RefusedInputError
from gptviz.panes.pane import Pane
from gptviz.session.state import ViewState
from gptviz.session.worker import JobContext, Outcome
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.theme import UNIT


class LabPane(Pane):
    """A pane that computes by itself, in a thread of its own: once it is seen, and after each change.

    A subclass makes its ``header`` and its widgets, computes in ``submit``, and shows the result in ``show_result``.
    """

    header: LabHeader

    def new_layout(self, side: int = 4, top: int = 3) -> QVBoxLayout:
        """Return the lab's layout with its header; margins are in units of the window's grid."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(side * UNIT, top * UNIT, side * UNIT, 3 * UNIT)
        layout.setSpacing(top * UNIT)
        layout.addWidget(self.header)
        return layout

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if old is None:
            self.submit()

    def submit(self) -> None:
        """Compute what the lab's fields ask for."""
        raise NotImplementedError

    def compute(self, work: Callable[[JobContext], object]) -> None:
        """Let the lab's thread do ``work``, one of ``lab_jobs``; what it did before is given up."""
        self.session.labs.submit(self.name, work, self._ended)

    def accept(self) -> None:
        """Take back what was said of the request before."""

    def refuse(self, field: str | None, reason: str) -> None:
        """Say at ``field`` why nothing was computed; None if no field is to blame."""
        raise NotImplementedError

    def show_result(self, result: Any) -> None:
        """Show what was computed."""
        raise NotImplementedError

    def _ended(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.accept()
        if isinstance(outcome.error, RefusedInputError):
            self.refuse(outcome.error.field, str(outcome.error))
        elif outcome.error is not None:
            self.refuse(None, f"This could not be computed: {outcome.error}")
        else:
            self.show_result(outcome.result)
