"""The guided tour as a person goes through it: its place and its questions.

Its texts and questions are imported when they are first needed: most starts are without a tour.
"""

from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from gptviz.session import tour_jobs
from gptviz.session.explain import explain
from gptviz.session.state import TourState, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session
    from gptviz.tour.question import Question
    from gptviz.tour.steps import Step

_NONE: MappingProxyType[int, int | None] = MappingProxyType({})


class Touring(QObject):
    """Open, forward, back, leave; it goes on where it was left."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._measuring = False
        self._answered: dict[int, Question] = {}  # by the place of their step
        session.changed.connect(self._state_changed)

    @property
    def state(self) -> TourState:
        return self._session.state.tour

    @property
    def steps(self) -> "tuple[Step, ...]":
        """All steps; they are read when the tour is first opened."""
        from gptviz.tour.steps import steps

        return steps()

    @property
    def step(self) -> "Step":
        """The present step."""
        return self.steps[min(self.state.place, len(self.steps) - 1)]

    @property
    def question(self) -> "Question | None":
        """The question that belongs to the step, about the last pass; None if the person wants none.

        One that was answered stays as it was asked, whatever the greedy loop appends meanwhile.
        """
        from gptviz.tour.questions import question
        from gptviz.tour.sizes import Sizes

        state, ask = self._session.state, self.step.ask
        if not state.options.predict_first or ask is None or state.trace is None:
            return None
        if self.state.place in self.state.answers:
            return self._answered[self.state.place]
        sizes = Sizes(state.trace.config, state.trace.batch, state.trace.tokens)
        return question(ask, sizes, self.state.seed)

    @property
    def asking(self) -> bool:
        """Whether the step's question waits for an answer, and what it asks for must not be shown yet."""
        return self.state.on and self.state.place not in self.state.answers and self.question is not None

    # --- intents -----------------------------------------------------------------------------------------

    def open(self) -> None:
        """Go on with the tour where it was left."""
        if not self.state.on:
            self._change(on=True, place=min(self.state.place, len(self.steps) - 1))
            self._measure()

    def leave(self) -> None:
        """End the tour; the place is kept."""
        self._change(on=False)

    def go(self, place: int) -> None:
        """Go to the step at ``place``, or the nearest there is."""
        if self.state.on:
            self._change(place=min(max(place, 0), len(self.steps) - 1))

    def forward(self) -> None:
        """Go to the next step; after the last one the tour ends, and begins anew next time."""
        if self.state.on and self.state.place >= len(self.steps) - 1:
            self._change(on=False, place=0)
        else:
            self.go(self.state.place + 1)

    def back(self) -> None:
        self.go(self.state.place - 1)

    def restore(self, place: int) -> None:
        """Take over the place at which the tour was left at the last start."""
        self._change(place=max(place, 0))

    def answer(self, choice: int | None) -> None:
        """Answer the step's question, or with None reveal the answer."""
        asked = self.question
        if self.asking and asked is not None:
            self._answered[self.state.place] = asked
            self._change(answers=MappingProxyType({**self.state.answers, self.state.place: choice}))

    # --- inside ------------------------------------------------------------------------------------------

    def _change(self, **what: Any) -> None:
        new = replace(self.state, **what)
        if new != self.state:
            self._session.change(tour=new)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        trace = new.trace
        by_hand = not new.generation.steps
        if trace is not None and trace.complete and (old.trace is None or trace.kept is not old.trace.kept) and by_hand:
            self._change(seed=new.tour.seed + 1, answers=_NONE)  # the same question has other answers now
        if new.model is not None and (old.model is None or new.model.config != old.model.config):
            self._change(measured=None)
            self._measuring = False
            self._measure()

    def _measure(self) -> None:
        model = self._session.state.model
        if self.state.on and model is not None and self.state.measured is None and not self._measuring:
            self._measuring = True
            self._session.labs.submit("tour", partial(tour_jobs.measure, model.config), self._measured)

    def _measured(self, outcome: Outcome) -> None:
        self._measuring = False
        if outcome.error is not None:
            self._session.change(message=explain("The tour's figures could not be computed", outcome.error))
        elif outcome.result is not None:
            self._change(measured=outcome.result)
