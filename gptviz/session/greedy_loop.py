"""The greedy loop as a person drives it: step, play, pause, reset, and back to an earlier step."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import jobs
from gptviz.session.explain import ONE_TEXT_ONLY
from gptviz.session.state import Generation
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.session.session import Session


class GreedyLoop(QObject):
    """Each step is one pass on the prompt and the tokens so far, cropped to the context."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session

    def step(self) -> None:
        """Append one token."""
        state = self._session.state
        if state.trace is None or self._session.computing or not state.trace.complete:
            return
        if state.trace.batch > 1:
            self._session.change(message=ONE_TEXT_ONLY, generation=replace(state.generation, playing=False))
            return
        ids = state.generation.ids[-state.trace.config.context_length :]
        if ids == _ids(state.trace):
            self._session.change(generation=self._with_step(state.trace))
            self.keep_playing()
        else:
            self._session.submit_pass([ids], "Generating", self._step_ended)

    def play(self) -> None:
        """Append tokens until pause."""
        if self._session.state.trace is None or self._session.building:
            return
        self._set_playing(True)
        self.step()

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
        """Drop the generated tokens and show the prompt's trace again."""
        if self._session.building:
            return
        prompt = self._session.state.generation.prompt
        self._session.cancel()
        self._session.change(generation=Generation(prompt))
        self._show_pass(prompt, "Going back to the prompt")

    def show(self, index: int) -> None:
        """Show the trace of step ``index`` in all panes."""
        generation = self._session.state.generation
        if not 0 <= index < len(generation.steps) or self._session.building:
            return
        self._session.change(generation=replace(generation, shown=index, playing=False))
        self._show_pass(generation.steps[index].context, f"Going to step {index + 1}")

    def step_of(self, trace: "Trace | None") -> int | None:
        """Return the step that ``trace`` belongs to, if it is one."""
        ids = () if trace is None else _ids(trace)
        steps = self._session.state.generation.steps
        return next((index for index, step in enumerate(steps) if step.context == ids), None)

    def keep_playing(self) -> None:
        """Take the next step soon, if playing."""
        if self._session.state.generation.playing:
            QTimer.singleShot(0, self, self._play_on)

    def _set_playing(self, playing: bool) -> None:
        self._session.change(generation=replace(self._session.state.generation, playing=playing))

    def _show_pass(self, ids: tuple[int, ...], text: str) -> None:
        trace = self._session.state.trace
        if ids and (trace is None or self._session.computing or _ids(trace) != ids):
            self._session.submit_pass([ids], text, self._session.pass_ended)

    def _with_step(self, trace: "Trace") -> Generation:
        generation = self._session.state.generation
        steps = (*generation.steps, jobs.generated_step(trace))
        return replace(generation, steps=steps, shown=len(steps) - 1)

    def _step_ended(self, outcome: Outcome) -> None:
        what = self._session.shown(outcome.result)
        if isinstance(outcome.result, jobs.PassResult):
            what["generation"] = self._with_step(outcome.result.trace)
        self._session.pass_finished(outcome, "The next token could not be generated", what)

    @Slot()
    def _play_on(self) -> None:
        if self._session.state.generation.playing:
            self.step()


def _ids(trace: "Trace") -> tuple[int, ...]:
    return tuple(trace.ids[0].tolist())
