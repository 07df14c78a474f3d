"""Getting another model: initialised or opened in the background, while the one on screen stays."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gptviz.session import jobs
from gptviz.session.generation import Generation
from gptviz.session.requests import (
    CheckpointRequest,
    HeadsQuestion,
    ModelQuestion,
    ModelRequest,
    TableQuestion,
    UntrainedRequest,
)
from gptviz.session.state import DEFAULT_CONFIG, DEFAULT_SEED
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session


class ModelMaking(QObject):
    """``wanted`` is what was asked for last, ``building`` whether it is under way."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self.building = False
        self.wanted: ModelRequest = UntrainedRequest(DEFAULT_CONFIG, DEFAULT_SEED)
        self.present: ModelRequest = self.wanted  # what the model on screen was made from, once there is one
        self._own_tokenizer = False

    @property
    def brings_tokenizer(self) -> bool:
        """Whether a checkpoint is under way, which brings its own tokenizer."""
        return self.building and isinstance(self.wanted, CheckpointRequest)

    def take(self, request: ModelRequest, own_tokenizer: bool) -> None:
        """Note what the model of a run was made from, which is on screen without it."""
        self.wanted = self.present = request
        self._own_tokenizer = own_tokenizer

    def give_up(self) -> None:
        """Note that nothing is made any more: something else comes on screen."""
        if self.building:
            self.building, self.wanted = False, self.present

    def make(self, request: ModelRequest) -> None:
        """Initialise or open a model, then run the prompt on it."""
        session = self._session
        session.change(generation=replace(session.state.generation, playing=False), message=None, question=None)
        session.passes.waiting = self.building = True
        self.wanted = request
        session.submit("Preparing the model", partial(jobs.make_model, request), self._ended)

    def _ended(self, outcome: Outcome) -> None:
        self.building = False
        asked = self.wanted
        if type(outcome.error).__name__ == "RunGiven" and isinstance(asked, CheckpointRequest):
            self._open_run(outcome, asked.path)
            return
        if isinstance(outcome.result, jobs.BuiltModel):
            self._show(outcome, outcome.result)
        else:
            self._keep(outcome)
        self._session.passes.run_if_ready()

    def _open_run(self, outcome: Outcome, path: str) -> None:
        """Show the run that was given for a checkpoint; what its file is called does not tell."""
        session = self._session
        session.passes.waiting, self.wanted = False, self.present
        session.finish(Outcome(outcome.generation), "")
        session.recording.open(path)

    def _show(self, outcome: Outcome, built: jobs.BuiltModel) -> None:
        session, info = self._session, built.info
        self.present = self.wanted
        session.take_model(built.model)
        question = TableQuestion(info.title, info.config.vocab_size) if built.asks_for_table else None
        session.passes.waiting &= question is None
        # what another model computed must not stand under this one's name
        cleared: dict[str, Any] = {"trace": None, "trace_rows": (), "generation": Generation(), "recorded": None}
        session.finish(outcome, "", model=info, question=question, **cleared)
        if built.tokenizer is not None:
            session.texts.take(built.tokenizer)
        elif self._own_tokenizer:
            session.texts.drop()
        self._own_tokenizer = built.tokenizer is not None

    def _keep(self, outcome: Outcome) -> None:
        """Go on with the model on screen, if there is one."""
        session, asked = self._session, self.wanted
        checkpoint = isinstance(asked, CheckpointRequest)
        if session.state.model is not None or (checkpoint and outcome.error is not None):
            self.wanted = self.present
        question = _question(outcome, asked)
        if question is not None:
            session.passes.waiting = False
            outcome = replace(outcome, error=None)
        failed = "The checkpoint could not be opened" if checkpoint else "The model could not be initialised"
        session.finish(outcome, failed, question=question)
        session.texts.load_if_missing()


def _question(outcome: Outcome, request: ModelRequest) -> ModelQuestion | None:
    """Return what has to be asked back because of how an attempt ended; its error is known by name, without torch."""
    unknown: Any = outcome.error
    if type(unknown).__name__ != "HeadsNeeded" or not isinstance(request, CheckpointRequest):
        return None
    return HeadsQuestion(request, unknown.name, unknown.emb_dim, unknown.choices, unknown.proposal)
