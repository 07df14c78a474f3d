"""What a person asks for when they ask for a model, and what has to be asked back."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gptviz.model.config import GPTConfig


@dataclass(frozen=True)
class UntrainedRequest:
    """An untrained model: its configuration or the name of one, and the seed of its weights."""

    config: "str | GPTConfig"
    seed: int


@dataclass(frozen=True)
class CheckpointRequest:
    """A checkpoint: a path, or ``hf:owner/name`` for one on the Hugging Face Hub.

    ``heads`` and ``table``, the path of a table of tokens, are for checkpoints that can't tell. ``asks`` tells
    whether a person may be asked for a table; otherwise bare IDs are used.
    """

    path: str
    heads: int | None = None
    table: str | None = None
    asks: bool = True


ModelRequest = UntrainedRequest | CheckpointRequest


@dataclass(frozen=True)
class HeadsQuestion:
    """How many heads has it? ``request`` is what to ask again for, with the answer."""

    request: CheckpointRequest
    name: str
    emb_dim: int
    choices: tuple[int, ...]
    proposal: int


@dataclass(frozen=True)
class TableQuestion:
    """What are the texts of the tokens? The model is on screen already."""

    name: str
    vocab_size: int


ModelQuestion = HeadsQuestion | TableQuestion
