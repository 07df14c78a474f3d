"""Measuring what the steps on screen cost with and without the key/value cache."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gptviz.session import generation_jobs
from gptviz.session.costs import Costs
from gptviz.session.state import ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session


class Costing(QObject):
    """What was measured stands until the text is another one."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        session.changed.connect(self._state_changed)

    def measure(self) -> None:
        """Compute every step of the present branch again, both ways; Esc stops it, and what is measured stays."""
        session, generation = self._session, self._session.state.generation
        if not generation.steps or session.computing or session.building:
            return
        if session.recording.loads_first(self.measure):
            return
        decodings = tuple(step.decoding for step in generation.steps)
        model, _ = session.engine
        prompt_tokens = len(generation.prompt)
        work = partial(generation_jobs.measure_costs, model, generation.ids, prompt_tokens, decodings)
        session.submit("Measuring", work, self._ended, self._told, costs=Costs(), message=None)

    def _told(self, costs: object) -> None:
        self._session.change(costs=costs)

    def _ended(self, outcome: Outcome) -> None:
        what = {"costs": outcome.result} if isinstance(outcome.result, Costs) else {}
        self._session.finish(outcome, "The cost could not be measured", **what)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.costs.ids and (new.generation is not old.generation or new.model is not old.model):
            ids = new.generation.ids
            if new.model is not old.model or ids[: len(new.costs.ids)] != new.costs.ids:
                self._session.change(costs=Costs())
