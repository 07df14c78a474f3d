"""The loop as a person drives it: step, line by line, play, pause, reset; how it decodes, and whether it caches."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import generation_jobs, jobs
from gptviz.session.explain import ONE_TEXT_ONLY
from gptviz.session.generation import Generation, History
from gptviz.session.loop_lines import LineGate, LoopLines
from gptviz.session.state import ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.session.session import Session

_GENERATING = "Generating"


class GreedyLoop(QObject):
    """Each step is one turn of the loop on the prompt and the tokens so far, cropped to the context."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._holder = generation_jobs.CacheHolder()
        self._gate: LineGate | None = None
        self._left: int | None = None  # how many tokens are still to be played; None goes on and on
        self._is_noted = False  # whether what is played can be undone already, as one change
        session.changed.connect(self._state_changed)

    # --- intents -----------------------------------------------------------------------------------------

    def step(self) -> None:
        """Append one token, or finish the turn that runs line by line."""
        self._is_noted = False
        if self._session.state.loop.held:
            self._release(to_the_end=True)
        else:
            self._submit()

    def line(self) -> None:
        """Run one line of the loop, the first one if none is under way."""
        if self._session.state.loop.held:
            self._release(to_the_end=False)
            return
        self._is_noted = False
        gate = LineGate()
        gate.release()
        self._submit(gate)

    def play(self, count: int | None = None) -> None:
        """Append ``count`` tokens, or append until pause."""
        if self._session.state.trace is None or self._session.building:
            return
        self._left, self._is_noted = count, False
        self._set_playing(True)
        if self._session.state.loop.held:
            self._release(to_the_end=True)
        else:
            self._submit()

    def pause(self) -> None:
        """Stop after the present token."""
        self._set_playing(False)

    def toggle(self) -> None:
        """Play if paused, pause if playing."""
        if self._session.state.generation.playing:
            self.pause()
        else:
            self.play()

    def reset(self) -> None:
        """Drop the generated tokens of all branches and show the prompt's trace again; undo brings them back."""
        if self._session.building:
            return
        self._session.cancel()
        generation = self._session.state.generation
        self._session.change(**self.begun(generation.prompt, "drop the generated tokens"))
        self._session.travel.show_next()

    def set_decoding(self, **what: Any) -> None:
        """Change how the next tokens are chosen, for example ``set_decoding(temperature=0.8, top_k=40)``.

        Raises
        ------
        DecodingError
            If the settings make no sense; they stay as they were.
        """
        decoding = replace(self._session.state.decoding, **what)
        if decoding != self._session.state.decoding:
            self._session.change(decoding=decoding)

    def set_caching(self, caching: bool) -> None:
        """Take keys and values of the tokens before from a cache, or compute all positions in each step."""
        loop = self._session.state.loop
        if not caching:
            self._holder.drop()
            loop = replace(loop, cache_shape=(), cache_bytes=0)
        if caching != self._session.state.caching:
            self._session.change(caching=caching, loop=loop)

    # --- for the session package -------------------------------------------------------------------------

    def begun(self, prompt: tuple[int, ...], what: str = "run the prompt") -> dict[str, Any]:
        """Return what changes in the state when generation begins anew; what there was can be had back by undo."""
        state = self._session.state
        history = state.history.after(what, state.generation) if state.generation.nodes else state.history
        self._holder.drop()
        return {"generation": Generation(prompt), "history": history, "loop": LoopLines()}

    def step_of(self, trace: "Trace | None") -> int | None:
        """Return the step that ``trace`` belongs to, if it is one."""
        if trace is None:
            return None
        return self._session.state.generation.place_of(ids_of(trace), trace.config.context_length)

    def keep_playing(self) -> None:
        """Take the next step soon, if playing."""
        if self._session.state.generation.playing:
            QTimer.singleShot(0, self, self._play_on)

    # --- inside ------------------------------------------------------------------------------------------

    def _set_playing(self, playing: bool) -> None:
        generation = self._session.state.generation
        if generation.playing == playing:
            return
        self._session.change(generation=replace(generation, playing=playing))
        if not playing and not self._session.computing:
            self._catch_up()

    def _release(self, to_the_end: bool) -> None:
        if self._gate is not None:
            self._gate.release(to_the_end)

    def _submit(self, gate: LineGate | None = None, goes_on: bool = False) -> None:
        """Begin a turn. One that ``goes_on`` was not asked for just now: what was said meanwhile stays to be read."""
        session, state = self._session, self._session.state
        if state.trace is None or session.computing or not state.trace.complete:
            return
        if state.trace.batch > 1:
            session.change(message=ONE_TEXT_ONLY, generation=replace(state.generation, playing=False))
            return
        self._gate = gate
        ids, layer = state.generation.ids, min(state.selection.layer, state.trace.config.n_layers - 1)
        request = generation_jobs.StepRequest(ids, state.decoding, layer, gate=gate)
        on_screen = ids[-state.trace.config.context_length :] == ids_of(state.trace) and state.trace.has("out_head")
        if on_screen and not (state.caching and session.has_model):
            request = replace(request, at_hand=jobs.PassResult(state.trace, state.trace_rows))
            work = partial(generation_jobs.generate_at_hand, request)
        elif session.recording.loads_first(partial(self._submit, gate, goes_on)):
            return
        elif state.caching:
            work = partial(generation_jobs.generate_cached_step, session.engine[0], self._holder, request)
        else:
            work = partial(generation_jobs.generate_step, *session.engine, request)
        live = not state.caching and request.at_hand is None
        turn = {"loop": LoopLines(), "loop_step": None, "loop_decoding": state.decoding}
        said = state.message if goes_on else None
        session.submit(_GENERATING, work, self._step_ended, self._told, live=live, message=said, **turn)

    def _told(self, what: object) -> None:
        if isinstance(what, LoopLines):
            self._session.change(loop=what)
        else:  # line by line, the trace is there before the token is: it belongs to no step yet
            generation = replace(self._session.state.generation, shown=None)
            self._session.change(**self._session.passes.shown(what), generation=generation)

    def _step_ended(self, outcome: Outcome) -> None:
        what: dict[str, Any] = {}
        result, state = outcome.result, self._session.state
        if isinstance(result, generation_jobs.StepResult):
            generation = state.generation.with_step(result.step)
            what["loop_step"] = generation.nodes[-1]
            if result.passed is None:
                what["generation"] = replace(generation, shown=self._shown_after(generation))
            else:
                self._session.travel.keep(result.passed)
                what |= {**self._session.passes.shown(result.passed), "generation": generation}
            if not self._is_noted:
                what["history"] = state.history.after("append a token", state.generation)
                self._is_noted = state.generation.playing
            if self._left is not None and state.generation.playing:
                self._left -= 1
                what["generation"] = replace(what["generation"], playing=self._left > 0)
            if what["generation"].playing:
                what["activity"] = state.activity  # goes on: the window need not be laid out twice for each token
        self._session.passes.finished(outcome, "The next token could not be generated", what)
        if what:
            self._catch_up()

    def _shown_after(self, generation: Generation) -> int | None:
        """Return the step on screen after one from the cache: the panes stay where they are."""
        trace = self._session.state.trace
        if generation.shown is not None and trace is not None:
            last = generation.context(generation.shown, trace.config.context_length)
            if last != ids_of(trace):
                return self._session.state.generation.shown
        return generation.shown

    def _catch_up(self) -> None:
        """Show the pass of the last step once the cache no longer runs ahead of the panes."""
        generation = self._session.state.generation
        if generation.playing:
            return
        if generation.steps and generation.steps[-1].cached and generation.shown != len(generation.steps) - 1:
            self._session.travel.show(len(generation.steps) - 1)

    @Slot()
    def _play_on(self) -> None:
        if self._session.state.generation.playing:
            self._submit(goes_on=True)
        self._clear_activity()

    def _clear_activity(self) -> None:
        """End what was kept from one step to the next."""
        if not self._session.computing and self._session.state.activity is not None:
            self._session.change(activity=None)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if old.generation.playing and not new.generation.playing:
            self._clear_activity()
        if new.generation.playing and new.activity is None and old.activity is not None:
            QTimer.singleShot(0, self, self._play_on)  # it waited for something that was no step
        generates = new.activity is not None and new.activity.text == _GENERATING
        if new.loop.lit is not None and not generates:
            self._session.change(loop=replace(new.loop, lit=None, held=False))
        if new.model is not old.model and new.model is not None:
            self._holder.drop()
            top_k, size = new.decoding.top_k, new.model.config.vocab_size
            decoding = new.decoding if top_k is None or top_k < size else replace(new.decoding, top_k=None)
            self._session.change(history=History(), loop=LoopLines(), decoding=decoding)


def ids_of(trace: "Trace") -> tuple[int, ...]:
    """Return the token IDs of the first row of ``trace``."""
    return tuple(trace.ids[0].tolist())
