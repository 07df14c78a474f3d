"""Reading what was added to the residual stream at the selected token, while somebody looks at it."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.analysis.attribution_question import Question
from gptviz.analysis.operands import stream_stages
from gptviz.session import jobs
from gptviz.session.explain import explain
from gptviz.session.state import Selection, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session

_PAUSE_MS = 40  # after a new trace, for the panes to be painted
_RETRY_MS = 10  # after which to ask again whether the worker has come to an end


class Attributing(QObject):
    """Follows the selection; keeps the parts of one token alone, and replays the inside of one block at a time."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._watched = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether somebody looks, and there are parts to be read."""
        state = self._session.state
        view, trace = state.where_from, state.trace
        if not self._watched or view.stopped or view.problem or trace is None or not trace.complete:
            return False
        return view.parts is None or view.parts.blocks < trace.config.n_layers

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks at the parts; nothing is read for nobody."""
        self._watched = watched
        self._begin()
        self._session.checking.go_on()  # it gives way to what somebody looks at

    def ask(self, **what: Any) -> None:
        """Choose what is taken apart, for example ``ask(kind="logit", token=11)``."""
        question = replace(self._session.state.where_from.question, **what)
        if question != self._session.state.where_from.question:
            self._change(question=question)

    def stop(self) -> None:
        """Read no further."""
        if self.pending:
            self._change(stopped=True)

    def go_on(self) -> None:
        """Read on after ``stop``."""
        self._change(stopped=False)
        self._begin()

    def close(self) -> None:
        self._watched = False
        self._timer.stop()

    # --- inside ------------------------------------------------------------------------------------------

    def _change(self, **what: Any) -> None:
        view = self._session.state.where_from
        if any(getattr(view, name) is not value for name, value in what.items()):
            self._session.change(where_from=replace(view, **what))

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
        self._begin(_PAUSE_MS if _pass(old) is not _pass(new) else 0)

    def _begin(self, pause: int = 0) -> None:
        if self.pending and not self._timer.isActive():
            self._timer.start(pause)

    @Slot()
    def _go_on(self) -> None:
        state = self._session.state
        if not self.pending or self._session.computing or state.generation.playing:
            return
        if not self._session.idle:
            self._timer.start(_RETRY_MS)
            return
        assert state.trace is not None
        assert state.query is not None
        place = (state.selection.row, state.query)
        work = partial(jobs.read_parts, state.trace, place, state.where_from.parts)
        self._session.submit_quietly(work, partial(self._read, state))

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
