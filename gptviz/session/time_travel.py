"""Moving through what was generated: to any step and back, to another branch, undo and redo."""

from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gptviz.session import generation_jobs, jobs, run_opening_jobs
from gptviz.session.explain import ONE_TEXT_ONLY, SAME_TOKEN_AGAIN, STOPPED_ON_THE_WAY
from gptviz.session.generation import GeneratedStep, Generation, History
from gptviz.session.greedy_loop import ids_of
from gptviz.session.state import ViewState
from gptviz.session.without_model import lacks_model
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.analysis.candidates import Candidate
    from gptviz.capture.trace import Trace
    from gptviz.model.gpt import GPTModel
    from gptviz.session.session import Session

_KEPT_BYTES = 64 * 2**20  # of traces that are not on screen
LONGEST_NAME = 40
_JOINER = "\u200d"  # makes one sign of several: 👩‍👧


class TimeTravel(QObject):
    """A step's trace is kept while there is room, and computed again otherwise: the same numbers, bit for bit."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._passes: OrderedDict[tuple[int, ...], jobs.PassResult] = OrderedDict()  # the one used last is the last
        self._recorded: dict[tuple[int, ...], jobs.PassResult] = {}
        session.changed.connect(self._state_changed)

    # --- to another step ---------------------------------------------------------------------------------

    @property
    def here(self) -> int | None:
        """The place of the step whose pass is on screen: it may be the next one, whose token is not chosen yet.

        None while that pass is still under way: what is on screen was computed from other tokens.
        """
        state = self._session.state
        trace, generation = state.trace, state.generation
        if trace is None or not trace.complete or trace.batch > 1:
            return None
        place = len(generation.steps) if generation.shown is None else generation.shown
        return place if _is_pass_of(trace, generation, place) else None

    @property
    def is_astray(self) -> bool:
        """Whether what is on screen was computed from other tokens than any step of the branch."""
        trace = self._session.state.trace
        return trace is not None and trace.complete and trace.batch == 1 and self.here is None

    def show(self, place: int) -> None:
        """Show the trace of the step at ``place`` in all panes."""
        state = self._session.state
        if not 0 <= place < len(state.generation.steps) or self._session.building or state.trace is None:
            return
        self._session.change(generation=replace(state.generation, shown=place, playing=False))
        context = state.generation.context(place, state.trace.config.context_length)
        self._show_pass(context, f"Going to step {place + 1}")

    def show_next(self) -> None:
        """Show the pass on all tokens, from which the next one is chosen: the prompt's if nothing was generated."""
        generation, trace = self._session.state.generation, self._session.state.trace
        if trace is not None:
            what = f"the pass of step {len(generation.steps) + 1}" if generation.steps else "the prompt"
            context = generation.context(len(generation.steps), trace.config.context_length)
            self._show_pass(context, f"Going back to {what}")

    def move(self, steps: int) -> None:
        """Go some steps forward, or back if negative; no further than there are steps."""
        generation = self._session.state.generation
        if generation.steps:
            last = len(generation.steps) - 1
            here = last + 1 if generation.shown is None else generation.shown
            self.show(min(max(here + steps, 0), last))

    def back(self) -> None:
        self.move(-1)

    def forward(self) -> None:
        self.move(1)

    # --- branches ----------------------------------------------------------------------------------------

    def pick(self, candidate: "Candidate", place: int | None = None, ranked: "Trace | None" = None) -> None:
        """Choose ``candidate`` at ``place``, by default the step on screen, and go on from there on its own branch.

        ``ranked`` is the pass whose logits it was ranked by, if another one may be on screen by now: nothing is chosen
        if the text before ``place`` is no longer the one that the pass saw.
        """
        state = self._session.state
        place = self.here if place is None else place
        trace = state.trace if ranked is None else ranked
        if place is None or trace is None or self._session.building:
            return
        if ranked is not None and not _is_pass_of(ranked, state.generation, place):
            return
        steps = state.generation.steps
        if place < len(steps):
            step = replace(steps[place], chosen=candidate, decoding=state.decoding, chance=None)
        else:
            seen = trace.tokens
            step = GeneratedStep(candidate, jobs.likeliest(trace), seen, None, state.decoding, None, trace.ms, seen)
        self._session.cancel()
        picked = state.generation.with_choice(place, step)
        if (picked.nodes, picked.branch) != (state.generation.nodes, state.generation.branch):
            self._take("pick a token", picked)
        self.show(place)

    def redraw(self) -> None:
        """Choose the token of the step on screen once more, with the present decoding, on a branch of its own."""
        state, place = self._session.state, self.here
        if place is None or place == len(state.generation.steps) or state.trace is None or self._session.computing:
            return
        if not state.trace.has("out_head") and self._session.recording.loads_first(self.redraw):
            return
        at_hand = jobs.PassResult(state.trace, state.trace_rows)
        before = state.generation.before(place)
        request = generation_jobs.StepRequest(before, state.decoding, state.selection.layer, at_hand)
        work = partial(generation_jobs.generate_at_hand, request)
        self._session.submit("Choosing again", work, self._redrawn, message=None)

    def switch(self, branch: int) -> None:
        """Go to another branch."""
        generation = self._session.state.generation
        if not 0 <= branch < len(generation.branches) or branch == generation.branch or self._session.building:
            return
        self._session.cancel()
        self._session.change(generation=replace(generation.on_branch(branch), playing=False))
        self._show_generation()

    def rename(self, branch: int, name: str) -> None:
        """Name a branch of a run; a name that can't be seen changes nothing, a long one is cut."""
        generation = self._session.state.generation
        seen = "".join(sign for sign in name if sign.isprintable() or sign.isspace() or sign == _JOINER)
        name = " ".join(seen.split())[:LONGEST_NAME].strip(f"{_JOINER} ")
        if generation.prompt and name and name != generation.branches[branch].name:
            self._take("rename a branch", generation.with_name(branch, name))

    # --- undo and redo -----------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back the last change to the generated text."""
        if self._session.state.history.past and not self._session.building:
            self._session.cancel()
            state = self._session.state
            self._restore(*state.history.undone(state.generation))

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        if self._session.state.history.future and not self._session.building:
            self._session.cancel()
            state = self._session.state
            self._restore(*state.history.redone(state.generation))

    # --- for the session package -------------------------------------------------------------------------

    def keep(self, passed: "jobs.PassResult") -> None:
        """Keep a pass for the way back, and let go of those that were not looked at for the longest time."""
        ids = ids_of(passed.trace)
        self._passes[ids] = passed
        self._passes.move_to_end(ids)
        held = sum(kept.trace.nbytes for kept in self._passes.values())
        while held > _KEPT_BYTES and self._passes:
            _, dropped = self._passes.popitem(last=False)
            held -= dropped.trace.nbytes

    def forget(self) -> None:
        """Let go of all passes that are not on screen."""
        self._passes.clear()
        self._recorded = {}

    def at_hand(self) -> "dict[tuple[int, ...], Trace]":
        """Return the traces that need not be computed again, by the IDs of their only row."""
        return {ids: kept.trace for ids, kept in (*self._recorded.items(), *self._passes.items())}

    def take_recorded(self, passes: "dict[tuple[int, ...], jobs.PassResult]") -> None:
        """Hold the passes of a recorded run, whatever they weigh, until another model comes."""
        self._recorded = passes

    def take_model(self, model: "GPTModel") -> None:
        """Let the passes of a recorded run have their model."""
        for passes in (self._recorded, self._passes):
            for ids, passed in passes.items():
                passes[ids] = replace(passed, trace=run_opening_jobs.with_model(passed.trace, model))

    @property
    def kept_bytes(self) -> int:
        """Bytes of the traces that are kept."""
        return sum(kept.trace.nbytes for kept in self._passes.values())

    # --- inside ------------------------------------------------------------------------------------------

    def _take(self, what: str, generation: Generation) -> None:
        state = self._session.state
        self._session.change(generation=generation, history=state.history.after(what, state.generation))

    def _restore(self, history: History, generation: Generation) -> None:
        other_prompt = generation.prompt != self._session.state.generation.prompt
        self._session.change(generation=generation, history=history)
        if other_prompt and len(self._session.state.prompts) == 1:
            self._session.set_prompt(self._session.text_of(generation.prompt))
        self._show_generation()

    def _show_generation(self) -> None:
        shown = self._session.state.generation.shown
        if shown is None:
            self.show_next()
        else:
            self.show(shown)

    def _show_pass(self, ids: tuple[int, ...], text: str) -> None:
        session = self._session
        trace = session.state.trace
        if not ids or (trace is not None and not session.computing and ids_of(trace) == ids):
            return
        passed = self._passes.get(ids) or self._recorded.get(ids)
        if passed is None and lacks_model(session, "The panes stay as they are", "that pass is not in the recording"):
            shown = session.loop.step_of(trace)
            session.change(generation=replace(session.state.generation, shown=shown))
        elif passed is None or (session.computing and not session.recording.unloaded):
            session.passes.submit([ids], text, self._pass_ended)
        else:
            if ids in self._passes:
                self._passes.move_to_end(ids)
            session.change(**session.passes.shown(passed))
            session.select()  # which fetches the inside of the selected block

    def _pass_ended(self, outcome: Outcome) -> None:
        if isinstance(outcome.result, jobs.PassResult):
            self.keep(outcome.result)
        self._session.passes.ended(outcome)
        if outcome.cancelled and self.is_astray:
            self._session.change(message=STOPPED_ON_THE_WAY)

    def _redrawn(self, outcome: Outcome) -> None:
        what: dict[str, object] = {}
        result, state, place = outcome.result, self._session.state, self.here
        if isinstance(result, generation_jobs.StepResult) and place is not None:
            if result.step.chosen.id == state.generation.steps[place].chosen.id:
                what["message"] = SAME_TOKEN_AGAIN
            else:
                what["generation"] = state.generation.with_choice(place, result.step)
                what["history"] = state.history.after("choose again", state.generation)
        self._session.finish(outcome, "The token could not be chosen again", **what)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.model is not old.model:
            self.forget()
        if new.message is not None and self._is_over(old, new):
            self._session.change(message=None)

    def _is_over(self, old: ViewState, new: ViewState) -> bool:
        """Tell whether the message speaks of the text on screen as it no longer is."""
        if new.message == STOPPED_ON_THE_WAY:
            return not self.is_astray
        if new.message == ONE_TEXT_ONLY:
            return new.trace is not None and new.trace.batch == 1
        said_before = new.message is old.message
        return new.message == SAME_TOKEN_AGAIN and said_before and new.generation is not old.generation


def _is_pass_of(trace: "Trace", generation: Generation, place: int) -> bool:
    """Tell whether ``trace`` is the pass of the step at ``place``, which may be the next one."""
    fits = 0 <= place <= len(generation.steps)
    return fits and generation.context(place, trace.config.context_length) == ids_of(trace)
