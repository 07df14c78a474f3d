"""Putting a run aside, and comparing what is on screen with it while somebody looks."""

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Slot

from gptviz.capture.memory import block_bytes
from gptviz.capture.stages import block_name
from gptviz.session import reading_jobs, run_opening_jobs
from gptviz.session.explain import explain
from gptviz.session.quiet_reading import PAUSE_MS, QuietReading
from gptviz.session.state import Comparison, PinnedRun, ViewState
from gptviz.session.worker import Outcome

# Bytes that a pinned trace holds: what is between the blocks always, the logits of all positions and blocks' insides
# as far as there is room.
BUDGET = 128 * 2**20


class Comparing(QuietReading):
    """A is pinned, B is what is on screen. Nothing of A stays in memory once it is unpinned."""

    view = "comparison"

    @property
    def total(self) -> int:
        """In how many parts the two runs are compared."""
        state = self._session.state
        pinned, trace = state.comparison.pinned, state.trace
        if pinned is None or trace is None:
            return 0
        return 1 + max(pinned.trace.config.n_layers, trace.config.n_layers)

    @property
    def compares_itself(self) -> bool:
        """Whether the run on screen is the pinned one."""
        state = self._session.state
        pinned, trace = state.comparison.pinned, state.trace
        same = pinned is not None and trace is not None and pinned.trace.records is trace.records
        return same and pinned is not None and pinned.row == state.selection.row

    def pin(self) -> None:
        """Put the run on screen aside as A; a run that was pinned before is let go."""
        state = self._session.state
        if state.trace is None or state.model is None or not state.trace.complete or self._session.building:
            return
        tokenizer = self._session.texts.tokenizer
        pinned = PinnedRun(
            state.trace.within(BUDGET),
            state.trace_pieces,
            state.selection.row,
            state.model,
            self._session.loop.step_of(state.trace) if state.generation.steps else None,
            str if tokenizer is None else tokenizer.token_text,
        )
        self._session.change(comparison=Comparison(pinned))
        self._begin(PAUSE_MS)

    def unpin(self) -> None:
        """Let the pinned run go."""
        self._session.change(comparison=Comparison())

    # --- inside ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        pinned = new.comparison.pinned
        if pinned is None:
            return
        if new.model is not old.model and (pinned.trace.can_replay or pinned.trace.is_recorded):
            without = replace(pinned, trace=pinned.trace.without_model(), keeping=False)
            self._change(pinned=without)
        elif new.recorded is not old.recorded and pinned.trace.is_recorded and self._session.model is not None:
            model = self._session.model  # of this recorded run: it was loaded
            self._change(pinned=replace(pinned, trace=run_opening_jobs.with_model(pinned.trace, model)))
        other = not _same(old, new)
        if other:
            self._change(differences=(), done=0, stopped=False, problem="")
        self._begin(PAUSE_MS if other else 0)

    def _next(self) -> "tuple[Any, Any] | None":
        """Return the next piece of work and what is to be done with its result."""
        state = self._session.state
        view, selection = state.comparison, state.selection
        pinned, trace = view.pinned, state.trace
        if pinned is None or view.stopped or view.problem:
            return None
        layer = self._layer_to_keep(pinned, selection.layer)
        if layer is not None:
            return partial(reading_jobs.keep_block, pinned.trace, layer), partial(self._replayed, pinned)
        if not self._watched or trace is None or not trace.complete or self.compares_itself:
            return None
        name = f"{block_name(selection.layer)}.att.{state.options.attention_view}"
        if selection.layer < pinned.trace.config.n_layers and pinned.trace.can_replay and not pinned.trace.has(name):
            replay = partial(reading_jobs.replay_map, pinned.trace, selection.layer, name)
            return replay, partial(self._replayed, pinned)
        if view.done < self.total:
            work = partial(reading_jobs.compare_part, (pinned.trace, pinned.row), (trace, selection.row), view.done)
            return work, partial(self._compared, state)
        return None

    def _layer_to_keep(self, pinned: PinnedRun, first: int) -> int | None:
        """Return a block whose inside is not kept although there is room; the selected one comes first."""
        trace = pinned.trace
        if not pinned.keeping or not trace.can_replay:
            return None
        layers = sorted(range(trace.config.n_layers), key=lambda layer: layer != first)
        missing = next((layer for layer in layers if not trace.keeps_block(layer)), None)
        if missing is None:
            return None
        more = 0 if trace.has_block(missing) else block_bytes(trace.config, trace.batch, trace.tokens)
        return missing if trace.nbytes + more <= BUDGET else None

    def _replayed(self, asked: PinnedRun, outcome: Outcome) -> None:
        if self._session.state.comparison.pinned is not asked:
            return  # of what was let go
        if outcome.result is not None:
            trace: Any = outcome.result
            self._change(pinned=replace(asked, trace=trace))
        else:
            self._change(pinned=replace(asked, keeping=False))
            self._failed(outcome)

    def _compared(self, asked: ViewState, outcome: Outcome) -> None:
        state = self._session.state
        if not _same(asked, state):
            return  # of runs that nobody compares any more
        if isinstance(outcome.result, tuple):
            view = state.comparison
            self._change(differences=(*view.differences, *outcome.result), done=view.done + 1)
        else:
            self._failed(outcome)

    def _failed(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._change(problem=str(explain("The runs could not be compared", outcome.error)))
        elif self._watched:
            self._change(stopped=True)


def _same(one: ViewState, other: ViewState) -> bool:
    """Tell whether both compare the same two sequences; blocks that are replayed make no other pass."""
    pins = one.comparison.pinned, other.comparison.pinned
    if pins[0] is None or pins[1] is None or one.trace is None or other.trace is None:
        return pins[0] is pins[1] and one.trace is other.trace
    a = pins[0].trace.records is pins[1].trace.records and pins[0].row == pins[1].row
    return a and one.trace.records is other.trace.records and one.selection.row == other.selection.row
