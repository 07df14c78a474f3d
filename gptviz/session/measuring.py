"""Measuring what panes in sight ask for, part by part, whenever the worker has nothing else to do."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import measuring_jobs as jobs
from gptviz.session.quiet_reading import RETRY_MS
from gptviz.session.state import Measured, Probe, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session

HEADS, PROBE = "heads", "probe"
_PAUSE_MS = 200  # after a new trace, for the panes to be painted


class Measuring(QObject):
    """Heads of the prompt, heads of the probe, surprisal: each only while somebody looks at it."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._watched: frozenset[str] = frozenset()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        session.changed.connect(self._state_changed)

    def watch(self, *what: str) -> None:
        """Say which of HEADS and PROBE are in sight; what is measured already stays."""
        self._watched = frozenset(what)
        self._start()

    @property
    def pending(self) -> bool:
        """Whether something that is in sight is still to be measured."""
        return self._next() is not None

    @property
    def unfinished(self) -> bool:
        """Whether this, or the checks, are still to be measured."""
        return self.pending or self._session.checking.pending

    def close(self) -> None:
        self._timer.stop()

    def _next(self) -> Any:
        """Return the next piece of work with what takes its result; None if there is none."""
        state = self._session.state
        trace, measured = state.trace, state.measured
        if trace is None or not trace.complete or measured.note:
            return None
        if state.options.surprisal and measured.surprisal is None and trace.has("out_head"):
            return partial(jobs.measure_surprisal, trace), self._surprisal_ended
        if PROBE in self._watched and measured.probe is None and trace.can_replay:
            return partial(jobs.probe_heads, trace), self._probe_ended
        if HEADS in self._watched and len(measured.heads) < trace.config.n_layers:
            return partial(jobs.measure_heads, trace, len(measured.heads)), self._block_ended
        return None

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        another_trace = (old.trace and old.trace.kept) is not (new.trace and new.trace.kept)
        if another_trace or new.model is not old.model:
            probe = new.measured.probe if new.model is old.model else None
            self._session.change(measured=Measured(probe=probe))
        self._start(_PAUSE_MS if new.trace is not old.trace else 0)

    def _start(self, pause: int = 0) -> None:
        if not self._timer.isActive() and self.pending:
            self._timer.start(pause)

    @Slot()
    def _go_on(self) -> None:
        work = self._next()
        if work is None or self._session.state.generation.playing:
            return
        if self._session.idle:
            self._session.submit_quietly(*work)
        elif not self._session.computing:
            self._timer.start(RETRY_MS)  # a quiet job may end without a change

    def _surprisal_ended(self, outcome: Outcome) -> None:
        if not self._failed(outcome):
            self._keep(surprisal=outcome.result)

    def _probe_ended(self, outcome: Outcome) -> None:
        if not self._failed(outcome):
            assert isinstance(outcome.result, Probe)
            self._keep(probe=outcome.result)

    def _block_ended(self, outcome: Outcome) -> None:
        if not self._failed(outcome):
            assert isinstance(outcome.result, tuple)
            scores, *uniform = outcome.result
            measured = self._session.state.measured
            self._keep(heads=(*measured.heads, scores), uniform=tuple(uniform) or measured.uniform)

    def _failed(self, outcome: Outcome) -> bool:
        if outcome.error is not None:
            self._keep(note=f"This could not be measured: {outcome.error}")
        elif outcome.result is None:
            self._start()  # it was cancelled
        return outcome.result is None

    def _keep(self, **what: Any) -> None:
        self._session.change(measured=replace(self._session.state.measured, **what))
