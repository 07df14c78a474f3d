"""Measuring the checks on every trace, block by block, whenever the worker has nothing else to do."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.analysis.check import Check, merge
from gptviz.session import jobs
from gptviz.session.quiet_reading import RETRY_MS
from gptviz.session.state import CheckReport, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session

_PAUSE_MS = 200  # after a new trace or another block, for the panes to be painted


class Checking(QObject):
    """Starts over with each pass; gives way to everything that a person asks for."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether checks of the trace on screen are still to be measured."""
        state = self._session.state
        return state.trace is not None and state.trace.complete and not state.checks.complete

    def check_causality(self) -> None:
        """Run the prompt with another last token and compare the earlier positions."""
        trace = self._session.state.trace
        if trace is not None and trace.complete and not self._session.recording.loads_first(self.check_causality):
            work = partial(jobs.check_causality, trace)
            self._session.submit("Checking causality", work, self._causality_ended)

    def go_on(self) -> None:
        """Measure what is still to be measured, as soon as nobody waits for the worker."""
        if self.pending and not self._timer.isActive():
            self._timer.start(0)

    def close(self) -> None:
        self._timer.stop()

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.trace is None and old.trace is not None:
            self._session.change(checks=CheckReport())
        if new.trace is not None and (old.trace is None or new.trace.kept is not old.trace.kept):
            total = 1 + new.trace.config.n_layers if new.trace.complete else 0
            self._session.change(checks=CheckReport(total=total))
        if self.pending and new.trace is not old.trace:
            self._timer.start(_PAUSE_MS)  # the panes come first
        else:
            self.go_on()

    @Slot()
    def _go_on(self) -> None:
        state = self._session.state
        if not self.pending or state.generation.playing or self._session.watched:
            return
        if not self._session.idle:
            if not self._session.computing:
                self._timer.start(RETRY_MS)  # a quiet job may end without a change
            return
        assert state.trace is not None
        work = partial(jobs.check_part, state.trace, state.checks.done)
        self._session.submit_quietly(work, self._part_ended)

    def _part_ended(self, outcome: Outcome) -> None:
        report = self._session.state.checks
        if isinstance(outcome.result, tuple):
            report = CheckReport(merge(report.results, outcome.result), report.done + 1, report.total)
        elif outcome.error is not None:
            failed = Check("checks", None, "", note=f"they could not be measured: {outcome.error}")
            report = CheckReport((*report.results, failed), report.total, report.total)
        self._session.change(checks=report)

    def _causality_ended(self, outcome: Outcome) -> None:
        report = self._session.state.checks
        if isinstance(outcome.result, Check):
            others = tuple(check for check in report.results if check.name != outcome.result.name)
            report = CheckReport((*others, outcome.result), report.done, report.total)
        self._session.finish(outcome, "Causality could not be checked", checks=report)
