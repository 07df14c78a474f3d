"""Forward passes that a person asked for: as soon as model and tokens are there, through a gate if they are held."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gptviz.session import jobs
from gptviz.session.clamping import clamped
from gptviz.session.explain import problem_of
from gptviz.session.gate import Gate
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session


class Passes(QObject):
    """Runs the model on token IDs, and shows the traces. ``waiting`` is whether a run waits for model and tokens."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self.waiting = False
        self._gate: Gate | None = None  # for the run that waits
        self._before_live: dict[str, Any] | None = None  # what was on screen before a live pass

    def run(self, gate: Gate | None = None) -> None:
        """Run the model on the prompts, as soon as it and their tokens are there; ``gate`` can hold the pass."""
        session = self._session
        if session.recording.loads_first(partial(self.run, gate)):
            return
        if session.model is None and not session.building:
            session.making.make(session.making.wanted)
        session.texts.load_if_missing()
        self.waiting = True
        self._gate = gate
        self.run_if_ready()

    def run_if_ready(self) -> None:
        """Run if that was asked for, and model and tokens are there."""
        session = self._session
        tokens, model = session.state.tokens, session.model
        if not (self.waiting and session.texts.ready) or model is None or session.building:
            return
        self.waiting = False
        gate, self._gate = self._gate, None
        problem = problem_of(tokens, model.config.context_length)
        session.change(message=problem)
        if problem is None:
            self.submit([row.ids for row in tokens], "Running the forward pass", self._run_ended, gate)

    def give_up(self) -> None:
        """Forget the run that waits."""
        self.waiting = False
        self._gate = None

    def submit(self, rows: Sequence[Sequence[int]], text: str, on_end: Any, gate: Gate | None = None) -> None:
        """Run the model on ``rows`` of token IDs, and show ``text`` meanwhile; ``gate`` can hold the pass."""
        session, state = self._session, self._session.state
        model, tokenizer = session.engine
        layer = min(state.selection.layer, model.config.n_layers - 1)
        if gate is not None and self._before_live is None:
            self._before_live = {"trace": state.trace, "trace_rows": state.trace_rows}
        work = partial(jobs.run_pass, model, tokenizer, jobs.PassRequest(rows, layer, gate))
        session.submit(text, work, on_end, self._held, live=True)

    def ended(self, outcome: Outcome) -> None:
        """Show the trace of a pass that has come to its end."""
        self.finished(outcome, "The forward pass failed", self.shown(outcome.result))

    def finished(self, outcome: Outcome, what_failed: str, what: dict[str, Any]) -> None:
        """Go idle with ``what`` changes in the state, and go on with what follows a pass."""
        self._session.finish(outcome, what_failed, **what)
        if what:
            self._session.replaying.start_if_needed()
            self._session.loop.keep_playing()

    def shown(self, result: object) -> dict[str, Any]:
        """Return what changes in the state when the trace of ``result`` is shown; nothing without a trace."""
        if not isinstance(result, jobs.PassResult):
            return {}
        selection = clamped(self._session.state.selection, result.trace)
        return {"trace": result.trace, "trace_rows": result.rows, "selection": selection}

    def before_live(self) -> dict[str, Any]:
        """Return once what was on screen before a live pass, to be shown again if that brings no trace."""
        before, self._before_live = self._before_live, None
        return before or {}

    # --- inside ------------------------------------------------------------------------------------------

    def _held(self, result: object) -> None:
        """A live pass waits: show what it has computed so far, and where it stands."""
        assert isinstance(result, jobs.PassResult)
        records = result.trace.records
        self._session.change(**self.shown(result), live=records, held=records[-1].name)
        self._session.select_stage(records[-1].name)

    def _run_ended(self, outcome: Outcome) -> None:
        what = self.shown(outcome.result)
        if isinstance(outcome.result, jobs.PassResult):
            what |= self._session.loop.begun(tuple(outcome.result.trace.ids[0].tolist()))
        self.finished(outcome, "The forward pass failed", what)
