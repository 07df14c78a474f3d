"""Having the selected block's inside at hand: it is replayed in the worker unless it was kept."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gptviz.session import jobs
from gptviz.session.state import Selection
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session


class Replaying(QObject):
    """The selected stage is shown as soon as it is there, while the rest of its block is still being replayed."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session

    def is_needed(self, layer: int) -> bool:
        """Whether block ``layer`` is not at hand, can run again, and the worker is free for it."""
        trace = self._session.state.trace
        if trace is None or not trace.complete or not trace.can_replay:
            return False
        return not self._session.computing and not trace.has_block(layer)

    def start_if_needed(self) -> None:
        """Replay the selected block unless it is at hand."""
        selection = self._session.state.selection
        if self.is_needed(selection.layer):
            self.start(selection)

    def start(self, selection: Selection) -> None:
        """Select ``selection``, and replay its block."""
        trace = self._session.state.trace
        assert trace is not None
        work = partial(jobs.replay_block, trace, selection.layer, selection.stage)
        text = f"Replaying block {selection.layer + 1}"
        self._session.submit(text, work, self._ended, self._begun, selection=selection)

    def _begun(self, trace: object) -> None:
        self._session.change(trace=trace)

    def _ended(self, outcome: Outcome) -> None:
        what = {} if outcome.result is None else {"trace": outcome.result}
        self._session.passes.finished(outcome, "The block could not be replayed", what)
