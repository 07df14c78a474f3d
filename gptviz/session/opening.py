"""Opening checkpoints as a person does it: what has to be asked back, and the table of tokens."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gptviz.model.config import GPTConfig
from gptviz.session import opening_jobs
from gptviz.session.explain import explain
from gptviz.session.generation import Generation
from gptviz.session.requests import CheckpointRequest, HeadsQuestion
from gptviz.session.worker import Outcome

if TYPE_CHECKING:
    from gptviz.session.session import Session
    from gptviz.tokenizer import Tokenizer

_EXAMPLE = 3  # IDs in a prompt that every vocabulary has


class Opening(QObject):
    """Open, answer what is asked, use a table. The model on screen stays until another one is there."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session

    def open(self, request: CheckpointRequest) -> None:
        """Open a checkpoint in the background, then run the prompt on it."""
        self._session.making.make(request)

    def answer_heads(self, heads: int) -> None:
        """Open what was asked about, with so many heads."""
        question = self._session.state.question
        if isinstance(question, HeadsQuestion):
            self.open(replace(question.request, heads=heads))

    def use_table(self, path: str) -> None:
        """Take the texts of the present model's tokens from a table, then run the prompt."""
        model = self._session.state.model
        if model is None:
            return
        self._session.change(question=None, message=None)
        work = partial(opening_jobs.read_tokens, path, model.config.vocab_size)
        self._session.submit("Reading the table", work, partial(self._table_ended, path))

    def use_bare_ids(self) -> None:
        """Do without texts; a prompt that is no row of IDs becomes one."""
        session = self._session
        session.change(question=None)
        self._remember(None)
        if not session.ids_of(session.state.prompt):
            config = session.state.model.config if session.state.model is not None else GPTConfig()
            some = range(min(_EXAMPLE, config.vocab_size, config.context_length))
            session.set_prompts((" ".join(map(str, some)),))
        session.run()

    def dismiss(self) -> None:
        """Leave the question unanswered."""
        self._session.change(question=None)

    def _table_ended(self, path: str, outcome: Outcome) -> None:
        what: dict[str, Any] = {}
        if outcome.error is not None:
            what["message"] = explain("The table could not be used", outcome.error)
        state = self._session.state
        if outcome.result is not None and state.model is not None:
            self._remember(path)
            what["model"] = replace(state.model, vocabulary=opening_jobs.table_title(path))
            what |= {"trace": None, "trace_rows": (), "generation": Generation()}  # written in the old texts
        self._session.finish(Outcome(outcome.generation, cancelled=outcome.cancelled), "", **what)
        if outcome.result is not None:
            tokenizer: Tokenizer = outcome.result  # type: ignore[assignment]
            self._session.texts.take(tokenizer)
            self._session.run()

    def _remember(self, table: str | None) -> None:
        """Keep the answer with what the model was made from, so that it need not be asked again."""
        making = self._session.making
        if isinstance(making.present, CheckpointRequest):
            making.present = replace(making.present, table=table, asks=False)
            making.wanted = making.present
