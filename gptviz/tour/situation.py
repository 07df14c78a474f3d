"""What is there for the tour to speak of: the model, its last pass, and what the person has selected."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.attention import weights_at_hand
from gptviz.analysis.candidates import runner_up, softmax
from gptviz.analysis.layer_norm import LayerNormView, layer_norm_view
from gptviz.capture.stages import block_name
from gptviz.model.config import GPTConfig
from gptviz.tour.text import NotYetError

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]


def _no_text(token: int) -> str:
    return str(token)


@dataclass(frozen=True)
class Situation:
    """One moment of the application. Indices count from 0; ``query`` is the selected token, -1 the last.

    ``generated`` are the IDs that the greedy loop has appended. ``measured`` is what the worker has computed for
    the tour, None before that; see ``gptviz.tour.measure``.
    """

    title: str | None = None
    config: GPTConfig | None = None
    seed: int | None = None  # of random weights
    parameters: int = 0
    trained: bool = False
    trace: "Trace | None" = None
    layer: int = 0
    head: int = 0
    query: int = -1
    row: int = 0
    generated: tuple[int, ...] = ()
    measured: Mapping[str, object] | None = None
    token_text: Callable[[int], str] = field(default=_no_text, compare=False)

    @property
    def pass_(self) -> "Trace":
        if self.trace is None:
            raise NotYetError("pass")
        return self.trace

    @property
    def model_config(self) -> GPTConfig:
        if self.config is None:
            raise NotYetError("model")
        return self.config

    @property
    def token(self) -> int:
        """The selected position, with -1 resolved."""
        return self.query if self.query >= 0 else self.pass_.tokens - 1

    def whole(self, local_name: str) -> str:
        """Return the full name of a stage of the selected block; others are whole already."""
        name = f"{block_name(self.layer)}.{local_name}"
        return name if self.trace is not None and name in self.trace else local_name

    def array(self, local_name: str) -> Array:
        """Return the tensor of a stage, in the selected block if it is one of a block.

        Raises
        ------
        NotYetError
            If no pass has run, the pass has not come so far, the block is being run again, or was not recorded.
        """
        trace, name = self.pass_, self.whole(local_name)
        if name not in trace:
            raise NotYetError("end")
        if not trace.has(name):
            raise NotYetError("block" if trace.can_replay else "recording")
        return trace.array(name)

    def features(self, local_name: str) -> Array:
        """Return the selected token's features at a stage of shape (B, T, …)."""
        row: Array = self.array(local_name)[self.row, self.token]
        return row

    @cached_property
    def norm(self) -> LayerNormView:
        """What the first LayerNorm of the selected block did to the selected token."""
        self.array("norm1")
        view = layer_norm_view(self.pass_, self.whole("norm1"), self.token, self.row)
        if view is None:
            raise NotYetError("block")
        return view

    @cached_property
    def attention(self) -> Array:
        """The attention weights (T,) of the selected query in the selected head."""
        at_hand = weights_at_hand(self.pass_, self.layer)
        weights = self.array("att.weights") if at_hand is None else at_hand
        row: Array = weights[self.row, self.head, self.token]
        return row

    @cached_property
    def logits(self) -> Array:
        """The logits (V,) of the last position."""
        logits: Array = self.array("last")[self.row]
        return logits

    @cached_property
    def probabilities(self) -> Array:
        """Their softmax (V,)."""
        return softmax(self.logits)

    @cached_property
    def likeliest(self) -> tuple[int, int]:
        """The IDs of the likeliest token and of the next one; of equal logits the smaller ID, as argmax chooses."""
        first = int(self.logits.argmax())
        return first, runner_up(self.logits, first)

    def text_at(self, position: int) -> str:
        """Return the text of the token at ``position`` of the row that is shown."""
        return self.token_text(int(self.pass_.array("ids")[self.row, position]))

    def measurement(self, name: str) -> object:
        """Return a figure that the worker computes."""
        if self.config is None:
            raise NotYetError("model")
        if self.measured is None:
            raise NotYetError("figures")
        return self.measured[name]
