"""Reading what was added to the residual stream at the selected token, while somebody looks at it."""

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Slot

from gptviz.analysis.attribution_question import Question
from gptviz.analysis.operands import stream_stages
from gptviz.session import jobs
from gptviz.session.explain import explain
from gptviz.session.quiet_reading import PAUSE_MS, QuietReading
from gptviz.session.state import Selection, ViewState
from gptviz.session.worker import Outcome


class Attributing(QuietReading):
    """Follows the selection; keeps the parts of one token alone, and replays the inside of one block at a time."""

    view = "where_from"

    def ask(self, **what: Any) -> None:
        """Choose what is taken apart, for example ``ask(kind="logit", token=11)``."""
        question = replace(self._session.state.where_from.question, **what)
        if question != self._session.state.where_from.question:
            self._change(question=question)

    # --- inside ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        view = new.where_from
        if new.selection is not old.selection:
            question = _followed(view.question, old.selection, new)
            view = view if question is view.question else replace(view, question=question)
        if _place(old) != _place(new) or _pass(old) is not _pass(new):
            view = replace(view, parts=None, stopped=False, problem="")
        if view is not new.where_from:
            self._session.change(where_from=view)
        self._begin(PAUSE_MS if _pass(old) is not _pass(new) else 0)

    def _next(self) -> "tuple[Any, Any] | None":
        state = self._session.state
        view, trace = state.where_from, state.trace
        if not self._watched or view.stopped or view.problem or trace is None or not trace.complete:
            return None
        if view.parts is not None and view.parts.blocks >= trace.config.n_layers:
            return None
        assert state.query is not None
        work = partial(jobs.read_parts, trace, (state.selection.row, state.query), view.parts)
        return work, partial(self._read, state)

    def _read(self, asked: ViewState, outcome: Outcome) -> None:
        state = self._session.state
        if _place(asked) != _place(state) or _pass(asked) is not _pass(state):
            return  # of what nobody looks at any more
        if outcome.result is not None:
            self._change(parts=outcome.result)
        elif outcome.cancelled:
            self.stop()
        elif outcome.error is not None:
            self._change(problem=str(explain("The parts could not be read", outcome.error)))


def _place(state: ViewState) -> tuple[int, int | None]:
    return state.selection.row, state.query


def _pass(state: ViewState) -> object:
    """Return what tells passes apart; blocks that are replayed change a trace, and make no other pass."""
    return None if state.trace is None else state.trace.kept


def _followed(question: Question, before: Selection, state: ViewState) -> Question:
    """Ask for the stage of the stream that was selected, and for the number if one was pointed out."""
    selection = state.selection
    if selection.stage in ("out_head", "last"):
        token = selection.token if selection.token != before.token else None
        kept = question.kind if question.kind == "lead" else "logit"
        return question if token is None else replace(question, kind=kept, token=token)
    pointed = selection.feature if selection.feature != before.feature else None
    if state.trace is None or selection.stage not in stream_stages(state.trace.config):
        return question
    if pointed is not None:
        return replace(question, kind="stream", stage=selection.stage, feature=pointed)
    return replace(question, stage=selection.stage)
