"""What a trace asks of the model that computed it, and what answers once that model was let go."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

from torch import Tensor

from gptviz.capture.errors import TraceError

if TYPE_CHECKING:
    from gptviz.model.gpt import GPTModel


class Missing(NamedTuple):
    """How to say that something is not at hand, after its name; ``why`` goes on where ``that`` ends."""

    that: str
    why: str


class Replay(Protocol):
    """The model behind a trace: it runs blocks again, and has the parameters that the trace shows.

    Whatever an implementation does not have, it raises a ``TraceError`` for.
    """

    @property
    def can_replay(self) -> bool:
        """Whether blocks can run again."""

    @property
    def is_recorded(self) -> bool:
        """Whether the trace was read from a recording, and the model is not loaded."""

    @property
    def missing(self) -> Missing: ...

    @property
    def model(self) -> "GPTModel":
        """The model; of a recorded run its modules and small parameters, while the matrices are on the meta device."""

    @property
    def modes(self) -> Mapping[str, bool]:
        """By module path, whether it was in training mode."""

    def __call__(
        self, layer: int, block_input: Tensor, on_stage: Callable[[Mapping[str, Tensor]], None] | None = None
    ) -> dict[str, Tensor]:
        """Return the tensors of all stages of block ``layer``; ``on_stage`` sees those so far, by name."""

    def head(self, stream: Tensor) -> Tensor:
        """Return the logits (B, T, V) that the final norm and the output head make of ``stream`` (B, T, E)."""


class ModelGone:
    """Stands in for a replay where the model was let go."""

    can_replay = is_recorded = False
    missing = Missing("was not kept", ", and the model that computed it is no longer in memory")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TraceError("the model that computed this is no longer in memory")

    @property
    def model(self) -> NoReturn:
        self()

    @property
    def modes(self) -> NoReturn:
        self()

    head = __call__
