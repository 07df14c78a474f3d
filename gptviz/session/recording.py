"""Saving what is on screen as a file, opening it again without its model, and getting that model back."""

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gptviz import resources
from gptviz.runs import DEFAULT_BUDGET
from gptviz.session import run_opening_jobs, run_saving_jobs
from gptviz.session.explain import explain
from gptviz.session.greedy_loop import ids_of
from gptviz.session.recorded_view import arrays_of, view_of
from gptviz.session.requests import CheckpointRequest, ModelRequest
from gptviz.session.state import Message, PromptTokens, RecordedRun, ViewState
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.model.gpt import GPTModel
    from gptviz.session.generation import Generation
    from gptviz.session.session import Session

_HUB = "hf:"
_NOT_SAVED = "The run was not saved"


class Recording(QObject):
    """A recorded run stands in the state as a live one does, but for ``recorded``; the session has no model then."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._then: Callable[[], object] | None = None  # what waits for the model of a recorded run
        self._hashed: tuple[weakref.ref[GPTModel], str] | None = None
        session.changed.connect(self._state_changed)

    # --- intents -----------------------------------------------------------------------------------------

    def save(self, path: str | Path, budget: int = DEFAULT_BUDGET) -> None:
        """Save the run on screen with tensors of at most ``budget`` bytes; a file that is there is replaced."""
        problem = self.problem
        if problem is not None:
            self._session.change(message=problem)
            return
        request = self._request(Path(path), budget)
        work = partial(run_saving_jobs.save_run, request)
        self._session.submit(f"Saving {request.path.name}", work, self._saved)

    def open(self, path: str | Path) -> None:
        """Show the run of a file; what is on screen stays until it is read."""
        session = self._session
        session.cancel()
        session.making.give_up()
        self._then = None
        session.submit("Opening the run", partial(run_opening_jobs.open_run, str(path)), self._opened, message=None)

    def load_model(self) -> None:
        """Initialise or open the model of the recorded run; the run stays on screen."""
        if self.unloaded and not self._session.computing:
            work = partial(run_opening_jobs.load_model, self._session.making.wanted)
            self._session.submit("Preparing the model", work, self._loaded, message=None)

    # --- for the session package -------------------------------------------------------------------------

    @property
    def unloaded(self) -> bool:
        """Whether a recorded run is on screen, without its model."""
        return self._session.state.recorded is not None

    @property
    def problem(self) -> Message | None:
        """Why the run on screen can't be saved at present."""
        session, state = self._session, self._session.state
        if state.held is not None or (state.trace is not None and not state.trace.complete):
            return Message(
                _NOT_SAVED, "a pass is held, and has not come to its end", "Continue it (F9), or stop it (Esc)"
            )
        if state.trace is None or state.model is None:
            return Message(_NOT_SAVED, "there is none on screen", "Press Run")
        if state.generation.playing:
            return Message(_NOT_SAVED, "tokens are being generated", "Pause that, or wait for its end")
        if session.computing or session.building or session.texts.tokenizer is None:
            doing = "" if state.activity is None else f": {state.activity.text[:1].lower()}{state.activity.text[1:]}"
            return Message(_NOT_SAVED, f"something is under way{doing}", "Wait for its end, or press Esc")
        return None

    def loads_first(self, then: Callable[[], object]) -> bool:
        """If the model of a recorded run is not loaded, load it, and call ``then`` once it is there."""
        if not self.unloaded:
            return False
        self._then = then
        self.load_model()
        return True

    def request_for(self, budget: int) -> run_saving_jobs.SaveRequest:
        """Return what would be saved within ``budget``, to say how much it is."""
        return self._request(Path("run"), budget)

    # --- saving ------------------------------------------------------------------------------------------

    def _request(self, path: Path, budget: int) -> run_saving_jobs.SaveRequest:
        session, state = self._session, self._session.state
        assert state.trace is not None
        assert session.texts.tokenizer is not None
        at_hand = session.travel.at_hand()
        screen = ids_of(state.trace) if state.trace.batch == 1 else ()
        config = state.trace.config
        others = [ids for ids in _contexts(state.generation, config.context_length) if ids != screen]
        if self.unloaded:
            others = [ids for ids in others if ids in at_hand]
        return run_saving_jobs.SaveRequest(
            path=path,
            budget=budget,
            screen=state.trace,
            layer=state.selection.layer,
            others=tuple(dict.fromkeys(others)),
            at_hand=at_hand,
            model=session.model,
            weights=self._known_hash(),
            tokenizer=session.texts.tokenizer,
            view=view_of(state, _found_again(session.making.present)),
            arrays=arrays_of(state),
        )

    def _known_hash(self) -> str | None:
        recorded, model = self._session.state.recorded, self._session.model
        if recorded is not None:
            return recorded.weights
        return self._hashed[1] if self._hashed is not None and self._hashed[0]() is model else None

    def _saved(self, outcome: Outcome) -> None:
        what = {}
        if isinstance(outcome.result, run_saving_jobs.Saved):
            if self._session.model is not None:
                self._hashed = weakref.ref(self._session.model), outcome.result.weights
            what["notice"] = summary_of(outcome.result)
        self._session.finish(outcome, _NOT_SAVED, **what)

    # --- opening -----------------------------------------------------------------------------------------

    def _opened(self, outcome: Outcome) -> None:
        session, run = self._session, outcome.result
        if not isinstance(run, run_opening_jobs.Opened):
            session.finish(outcome, "The run could not be opened")
            session.texts.load_if_missing()
            return
        header = run.header
        session.forget_model()
        session.making.take(run.view.request, own_tokenizer=header.vocabulary.kind != "gpt2")
        recorded = RecordedRun(str(run.path), header.written, header.weights)
        session.texts.tokenizer = run.tokenizer  # before panes write the texts of tokens
        rows, unread = run.passes[0].rows, tuple(PromptTokens() for _ in run.view.prompts)
        session.finish(outcome, "", recorded=recorded, trace_rows=rows, tokens=unread, question=None, **run.first)
        session.travel.take_recorded({ids_of(one.trace): one for one in run.passes if one.trace.batch == 1})
        session.change(**run.then)
        session.texts.tokenise()

    # --- the model of a recorded run ---------------------------------------------------------------------

    def _loaded(self, outcome: Outcome) -> None:
        session, state = self._session, self._session.state
        then, self._then = self._then, None
        loaded, recorded = outcome.result, state.recorded
        stopped = replace(state.generation, playing=False)
        if not isinstance(loaded, run_opening_jobs.Loaded) or recorded is None:
            session.finish(outcome, "The model of this run could not be loaded", generation=stopped)
            if outcome.error is not None:
                session.change(message=_unloadable(session.making.wanted, outcome.error))
            return
        if loaded.weights != recorded.weights:
            message = _other_weights(session.making.wanted, recorded)
            session.finish(outcome, "", generation=stopped, message=message)
            return
        model = loaded.built.model
        self._hashed = weakref.ref(model), loaded.weights
        session.take_model(model)
        session.travel.take_model(model)
        assert state.trace is not None
        session.finish(outcome, "", recorded=None, trace=run_opening_jobs.with_model(state.trace, model))
        if then is None:
            session.replaying.start_if_needed()
        else:
            then()

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        """Another model ends the recording."""
        if new.recorded is not None and new.recorded is old.recorded and new.model is not old.model:
            self._session.change(recorded=None)


@dataclass(frozen=True)
class Amount:
    """What a budget takes in: bytes of tensors, blocks of the pass on screen, and how many of the other passes.

    ``needed`` are the bytes that the pass on screen needs without the insides of its blocks.
    """

    nbytes: int
    blocks: int | None
    of_blocks: int
    passes: int
    of_passes: int
    needed: int

    def __str__(self) -> str:
        if self.blocks is None:
            return f"Too small: the pass on screen needs {-(-self.needed // 2**20):,} MB"
        return (
            f"{_megabytes(self.nbytes)} of tensors: {_counts(self.blocks, self.of_blocks, self.passes, self.of_passes)}"
        )


def amount_of(request: run_saving_jobs.SaveRequest) -> Amount:
    """Return what of a run would be saved; nothing is computed for it."""
    from gptviz.runs.plan import outside_bytes  # noqa: PLC0415 - imports torch

    planned, screen = run_saving_jobs.planned_for(request), request.screen
    kept = sum(blocks is not None for blocks in planned.blocks[1:])
    needed = outside_bytes(screen.config, screen.batch, screen.tokens)
    layers = screen.config.n_layers
    return Amount(planned.nbytes, planned.blocks[0], layers, kept, len(request.others), needed)


def summary_of(saved: run_saving_jobs.Saved) -> str:
    """Say in one line what was written."""
    counts = _counts(saved.blocks, saved.of_blocks, saved.passes, saved.of_passes)
    return f"Saved {saved.path.name}, {_megabytes(saved.nbytes)}: {counts}"


def _counts(blocks: int, of_blocks: int, passes: int, of_passes: int) -> str:
    inside = f"all {blocks} blocks" if blocks == of_blocks else f"the insides of {blocks} of {of_blocks} blocks"
    return f"{inside}, {passes} of {of_passes} other passes" if of_passes else inside


def _megabytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.1f} MB"


def _contexts(generation: "Generation", context_length: int) -> Iterator[tuple[int, ...]]:
    """Yield what the model saw: for the prompt, the steps of the present branch, and those of the others."""
    if generation.prompt:
        yield generation.prompt[-context_length:]
    branches = sorted(range(len(generation.branches)), key=lambda branch: branch != generation.branch)
    for branch in branches:
        ids = generation.prompt
        for node in generation.path(branch):
            yield ids[-context_length:]
            ids = (*ids, generation.nodes[node].chosen.id)


def _found_again(request: ModelRequest) -> ModelRequest:
    """Return the request with a path that does not depend on the present folder."""
    if not isinstance(request, CheckpointRequest):
        return request
    if request.path.startswith(_HUB) or request.path in resources.MODELS:
        return request
    return replace(request, path=str(Path(request.path).expanduser().absolute()))


def _unloadable(request: ModelRequest, error: BaseException) -> Message:
    message = explain("The model of this run could not be loaded", error)
    if not isinstance(request, CheckpointRequest):
        return message
    return replace(message, remedy="The recorded run stays; open its checkpoint by hand with File → Open checkpoint")


def _other_weights(request: ModelRequest, recorded: RecordedRun) -> Message:
    where = request.path if isinstance(request, CheckpointRequest) else "the model that was initialised"
    return Message(
        "The recorded run stays without its model",
        f"{where} has other weights than those that the run was recorded with ({recorded.weights[:12]}…)",
        "Open the checkpoint as it was then with File → Open checkpoint, or choose a model and press Run",
    )
