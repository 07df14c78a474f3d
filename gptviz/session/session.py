"""The door to the state: intents go in, one signal with the old and the new state comes out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gptviz.analysis.place import Place
from gptviz.session import jobs, touring
from gptviz.session.attributing import Attributing
from gptviz.session.checking import Checking
from gptviz.session.clamping import clamped
from gptviz.session.comparing import Comparing
from gptviz.session.costing import Costing
from gptviz.session.explain import MOST_ROWS, TOO_MANY_ROWS, explain, too_long_to_paste
from gptviz.session.exporting import Exporting
from gptviz.session.garbage import GuiThreadGarbage
from gptviz.session.greedy_loop import GreedyLoop
from gptviz.session.lab_work import LabWork
from gptviz.session.lens import Lens
from gptviz.session.live import LiveStepping
from gptviz.session.measuring import Measuring
from gptviz.session.model_making import ModelMaking
from gptviz.session.numbers import selection_of, what_belongs_to
from gptviz.session.opening import Opening
from gptviz.session.passes import Passes
from gptviz.session.recording import Recording
from gptviz.session.replaying import Replaying
from gptviz.session.requests import ModelRequest, UntrainedRequest
from gptviz.session.state import (
    DEFAULT_CONFIG,
    DEFAULT_PROMPT,
    DEFAULT_SEED,
    Activity,
    PromptTokens,
    ViewState,
)
from gptviz.session.texts import Texts
from gptviz.session.tidying import Tidying
from gptviz.session.time_travel import TimeTravel
from gptviz.session.trail import Trailing
from gptviz.session.turns import Turns
from gptviz.session.walk import Walk
from gptviz.session.worker import Outcome, Worker

if TYPE_CHECKING:
    from gptviz.model.config import GPTConfig
    from gptviz.model.gpt import GPTModel
    from gptviz.tokenizer import Tokenizer

_LIVE_MS = 50  # how often progress is read off the worker


class Session(QObject):
    """Holds the state and the worker. Use from the GUI thread only."""

    changed = Signal(object, object)

    def __init__(self, prompt: str = DEFAULT_PROMPT, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = ViewState(prompts=(prompt,))
        self._model: GPTModel | None = None
        self._garbage = GuiThreadGarbage(self)
        self._worker = Worker("torch", self)
        self._live_timer = QTimer(self)
        self._live_timer.setInterval(_LIVE_MS)
        self._live_timer.timeout.connect(self._read_progress)
        self._closed = False
        self._quiet = False  # the worker does something that nobody waits for
        self.passes = Passes(self)
        self.walk = Walk(self)
        self.loop = GreedyLoop(self)
        self.travel = TimeTravel(self)
        self.costing = Costing(self)
        self.live = LiveStepping(self)
        self.attributing, self.checking, self.tidying = Attributing(self), Checking(self), Tidying(self)
        self.lens, self.comparing = Lens(self), Comparing(self)
        self.measuring = Measuring(self)
        self.trail = Trailing(self)  # after those that drop what is no longer true
        self.labs, self.texts = LabWork(self), Texts(self)
        self.replaying = Replaying(self)
        self.making = ModelMaking(self)
        self.opening, self.recording = Opening(self), Recording(self)
        self.tour = touring.Touring(self)
        self.turns = Turns(self)
        self.exporting = Exporting(self)
        self._readers = (self.attributing, self.lens, self.comparing)
        self._quiet_parts = (*self._readers, self.checking, self.measuring, self.tidying, self.labs)

    @property
    def state(self) -> ViewState:
        return self._state

    def token_text(self, token: int) -> str:
        """Return the text of a token; its ID while the tokenizer is not read."""
        return str(token) if (known := self.texts.tokenizer) is None else known.token_text(token)

    def ids_of(self, text: str) -> list[int]:
        """Return the tokens of a short text; none while the tokenizer is not read, or if it has none for it."""
        return self.texts.ids_of(text)

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of several tokens."""
        return "" if (known := self.texts.tokenizer) is None else known.decode(ids)

    @property
    def model(self) -> "GPTModel | None":
        """For the session package: the model, once there is one."""
        return self._model

    @property
    def engine(self) -> "tuple[GPTModel, Tokenizer]":
        """For the session package: what passes are run with."""
        assert self._model is not None
        assert self.texts.tokenizer is not None
        return self._model, self.texts.tokenizer

    @property
    def has_model(self) -> bool:
        """Whether a model is there to run passes with; a run that was opened from a recording comes without."""
        return self._model is not None

    @property
    def building(self) -> bool:
        """Whether a model is being initialised or opened."""
        return self.making.building

    @property
    def busy(self) -> bool:
        """Whether anything that a person asked for is under way or waiting, or not in all panes yet."""
        waiting = self.passes.waiting or self.turns.pending or self.exporting.pending
        return self.computing or self.texts.busy or waiting

    @property
    def awaited(self) -> bool:
        """Whether anything is under way or waiting that somebody asked for or looks at."""
        quiet = self.watched or self.measuring.unfinished or self.labs.pending
        return self.busy or self._state.generation.playing or quiet

    @property
    def settled(self) -> bool:
        """Whether nothing at all is under way or waiting, checks and tidying included."""
        return self.idle and not self.busy and not any(part.pending for part in self._quiet_parts)

    @property
    def watched(self) -> bool:
        """Whether something is being read that somebody looks at."""
        return any(part.pending for part in self._readers)

    @property
    def idle(self) -> bool:
        """Whether the worker has nothing to do, not even quietly."""
        return self._worker.context is None

    @property
    def computing(self) -> bool:
        """Whether the worker does something that a person waits for; checks do not count."""
        return self._worker.context is not None and not self._quiet

    # --- intents -----------------------------------------------------------------------------------------

    def start(self, config: str = DEFAULT_CONFIG, seed: int = DEFAULT_SEED) -> None:
        """Read the tokenizer, initialise the model, then run the prompt once."""
        self.start_with(UntrainedRequest(config, seed))

    def start_with(self, request: ModelRequest) -> None:
        """Do the same with whatever model is asked for; a checkpoint brings its tokenizer with it."""
        if isinstance(request, UntrainedRequest):
            self.texts.load()
        self.making.make(request)

    def use_model(self, config: "str | GPTConfig", seed: int) -> None:
        """Initialise another untrained model, of a configuration or its name, then run the prompt on it."""
        self.making.make(UntrainedRequest(jobs.named(config), seed))

    def set_prompts(self, prompts: tuple[str, ...]) -> None:
        """Replace all prompts; their tokens follow."""
        self.change(prompts=prompts, tokens=tuple(PromptTokens() for _ in prompts))
        self.texts.tokenise()

    def set_prompt(self, text: str, row: int = 0) -> None:
        """Take the text of an input line; its tokens follow."""
        prompts = self._state.prompts
        if text != prompts[row]:
            self.change(prompts=(*prompts[:row], text, *prompts[row + 1 :]))
            self.texts.tokenise()

    def refuse_paste(self, characters: int) -> None:
        """Say that a pasted text is too long for any model here; the prompt stays as it was."""
        self.change(message=too_long_to_paste(characters))

    def add_prompt(self) -> None:
        """Make the batch one row larger; the new row begins as a copy of the last."""
        if len(self._state.prompts) >= MOST_ROWS:
            self.change(message=TOO_MANY_ROWS)
            return
        self.change(prompts=(*self._state.prompts, self._state.prompts[-1]))
        self.texts.tokenise()

    def remove_prompt(self, row: int) -> None:
        """Make the batch one row smaller; the first row stays."""
        if 0 < row < len(self._state.prompts):
            prompts = self._state.prompts
            self.change(prompts=(*prompts[:row], *prompts[row + 1 :]))
            self.select(row=0)  # whose tokens are the prompt's and the trace's alike
            self.texts.tokenise()

    def run(self) -> None:
        """Run the model on the prompts, as soon as model and tokens are there."""
        self.passes.run()

    def cancel(self) -> None:
        """Stop what is under way; what is on screen stays."""
        self.passes.give_up()
        self.walk.pause()
        self.change(generation=replace(self._state.generation, playing=False))
        self._worker.cancel()
        self.exporting.cancel()

    def select(self, **what: Any) -> None:
        """Change the selection, for example ``select(layer=3, head=1)``; out-of-range values are clamped."""
        stage = self._state.selection.stage
        if "layer" in what and "stage" not in what and stage is not None and stage.startswith("trf_blocks."):
            what["stage"] = f"trf_blocks.{what['layer']}.{stage.split('.', 2)[2]}"  # the same stage of that block
        selection = replace(self._state.selection, **what)
        if self._state.trace is not None:
            selection = clamped(selection, self._state.trace)
        if self.replaying.is_needed(selection.layer):
            self.replaying.start(selection)
        elif selection != self._state.selection:
            self.change(selection=selection)

    def select_stage(self, name: str, **what: Any) -> None:
        """Select a stage, and with it the block, the LayerNorm or the attention view that it belongs to."""
        belonging, view = what_belongs_to(name)
        if view is not None:
            self.set_option(attention_view=view)
        self.select(**{**belonging, **what})

    def go_to(self, place: Place) -> None:
        """Select one number of a stage."""
        if self._state.trace is not None:
            self.select_stage(place.name, **selection_of(place, self._state.trace.config))

    def set_option(self, **what: Any) -> None:
        """Change a view option, for example ``set_option(top_k=20)``."""
        self.change(options=replace(self._state.options, **what))

    def dismiss_message(self) -> None:
        self.change(message=None)

    def show_error(self, what: str, error: BaseException) -> None:
        """Show an unforeseen error."""
        self.change(message=explain(what, error))

    def close(self) -> None:
        """Cancel everything and end the threads; nothing begins any more."""
        self._closed = True
        self.passes.give_up()
        self._live_timer.stop()
        for part in (
            self.walk,
            *self._quiet_parts,
            self.turns,
            self.exporting,
            self._worker,
            self.texts,
            self._garbage,
        ):
            part.close()

    # --- inside ------------------------------------------------------------------------------------------

    def change(self, **what: Any) -> None:
        """For the session package: put new values into the state and tell everybody."""
        if self._closed:
            return  # what plays would go on asking for its next step
        old = self._state
        new = replace(old, **what)
        if any(getattr(new, name) is not getattr(old, name) for name in what):
            self._state = new
            self.changed.emit(old, new)

    def submit(self, text: str, work: Any, on_end: Any, on_tell: Any = None, live: bool = False, **what: Any) -> None:
        """For the session package: let the worker do ``work``, show ``text`` meanwhile, and change ``what`` with it."""
        if self._closed:
            return  # a step that was to be taken soon, when the window was closed meanwhile
        self._quiet = False
        self._worker.submit(work, on_end, on_tell)
        self._live_timer.start()
        self.change(activity=Activity(text), live=() if live else None, held=None, notice="", **what)

    def submit_quietly(self, work: Any, on_end: Any) -> None:
        """For the session package: let the worker do ``work`` until a person wants something."""
        self._quiet = True
        self._worker.submit(work, on_end)

    @Slot()
    def _read_progress(self) -> None:
        context, state, what = self._worker.context, self._state, dict[str, Any]()
        if context is None or state.activity is None:
            return
        if context.text is not None:
            activity = Activity(context.text, context.fraction)
            what["activity"] = state.activity if activity == state.activity else activity
        if state.live is not None and len(context.records) > len(state.live):
            what["live"] = tuple(context.records)
        self.change(**what)

    def finish(self, outcome: Outcome, what_failed: str, **result: Any) -> None:
        """Go idle in one change: with what the job brought, or with the error if it failed."""
        self._live_timer.stop()
        generation = self._state.generation
        if outcome.error is not None:
            self.passes.waiting = False
            result["message"] = explain(what_failed, outcome.error)
            generation = replace(generation, playing=False) if generation.playing else generation
        before = self.passes.before_live()
        if "trace" not in result:
            result |= before
        if (outcome.error is not None or outcome.cancelled) and generation.shown is not None:
            trace = result.get("trace", self._state.trace)
            generation = replace(generation, shown=self.loop.step_of(trace))
        self.change(**{"activity": None, "live": None, "held": None, "generation": generation, **result})

    def take_model(self, model: "GPTModel") -> None:
        """For the session package: run passes on ``model`` from now on."""
        self._model = model
        self._garbage.spare_what_is_there()

    def forget_model(self) -> None:
        """For the session package: a run without a model comes on screen."""
        self._model = None
        self.passes.waiting = False
        self._garbage.spare_what_is_there()
