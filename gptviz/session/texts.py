"""Texts and tokens: the tokenizer of the model on screen, and the tokens of the prompts."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gptviz.session import jobs
from gptviz.session.explain import explain
from gptviz.session.state import PromptTokens
from gptviz.session.worker import Outcome, Worker

if TYPE_CHECKING:
    from gptviz.session.session import Session
    from gptviz.tokenizer import Tokenizer

_SHOWN_PIECES = 1100  # more than any context holds


class Texts(QObject):
    """``tokenizer`` is None until it is read. Tokens come from a thread of their own, while a model computes."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._worker = Worker("text", self)
        self.tokenizer: Tokenizer | None = None

    @property
    def busy(self) -> bool:
        """Whether tokens are under way."""
        return self._worker.context is not None

    @property
    def ready(self) -> bool:
        """Whether the tokens in the state are those of the prompts."""
        state = self._session.state
        return self.tokenizer is not None and tuple(row.text for row in state.tokens) == state.prompts

    def ids_of(self, text: str) -> list[int]:
        """Return the tokens of a short text; none if the vocabulary has none for it."""
        try:
            return [] if self.tokenizer is None else self.tokenizer.encode(text)
        except ValueError:
            return []

    def load(self) -> None:
        """Read GPT-2's tokenizer."""
        self._worker.submit(jobs.load_tokenizer, self._loaded)

    def load_if_missing(self) -> None:
        """Read GPT-2's tokenizer if there is none and no checkpoint will bring one."""
        if self.tokenizer is None and not self.busy and not self._session.making.brings_tokenizer:
            self.load()

    def take(self, tokenizer: "Tokenizer") -> None:
        """Read and write texts with ``tokenizer`` from now on; the prompts' tokens follow."""
        if tokenizer is not self.tokenizer:
            self.tokenizer = tokenizer
            self._session.change(tokens=tuple(PromptTokens() for _ in self._session.state.prompts))
        self.tokenise()

    def drop(self) -> None:
        """Give up what a checkpoint brought, and read GPT-2's tokenizer again."""
        self.tokenizer = None
        self.load()

    def tokenise(self) -> None:
        """Find the tokens of the prompts."""
        if self.tokenizer is not None:
            work = partial(jobs.tokenise, self.tokenizer, self._session.state.prompts, _SHOWN_PIECES)
            self._worker.submit(work, self._tokens_ended)

    def close(self) -> None:
        """End the thread."""
        self._worker.close()

    def _loaded(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._session.passes.waiting = False
            self._session.change(message=explain("The tokenizer could not be read", outcome.error))
        elif outcome.result is not None:
            self.take(outcome.result)  # type: ignore[arg-type]

    def _tokens_ended(self, outcome: Outcome) -> None:
        if isinstance(outcome.result, tuple):
            self._session.change(tokens=outcome.result)
            self._session.passes.run_if_ready()
        elif outcome.error is not None:
            self._session.passes.waiting = False
            self._session.change(message=explain("The prompt could not be cut into tokens", outcome.error))
