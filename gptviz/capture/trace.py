"""What one forward pass produced."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gptviz.capture.errors import NotRecordedError, TraceError
from gptviz.capture.replay import ModelGone, Replay
from gptviz.capture.stages import Stage, block_input_name, block_name, block_stages, catalogue
from gptviz.model.config import GPTConfig

Array = np.ndarray[Any, np.dtype[Any]]
_LARGE = 2**20  # bytes


@dataclass(frozen=True)
class StageRecord:
    """One stage that ran: what it is, its shapes, its number of parameters, and the milliseconds it took."""

    stage: Stage
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    parameters: int
    ms: float

    @property
    def name(self) -> str:
        return self.stage.name


@dataclass(frozen=True)
class Trace:
    """An immutable record of one forward pass; read a stage with ``trace["trf_blocks.3.att.weights"]``.

    Every stage outside the blocks and every block's input and output are kept. A block's inside is kept only
    while the memory budget allows it; otherwise reading it runs that one block again on its recorded input,
    which gives the same numbers bit for bit. ``has`` and ``array`` never compute.
    """

    config: GPTConfig
    records: tuple[StageRecord, ...]
    digests: Mapping[str, Array]
    kept: Mapping[str, Tensor]
    replay: Replay
    replayed: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all stages, in execution order."""
        return tuple(record.name for record in self.records)

    @property
    def complete(self) -> bool:
        """Whether the pass has run to its end; one that is held in the middle has later stages missing."""
        return len(self.records) == len(catalogue(self.config))

    @property
    def ids(self) -> Tensor:
        """The token IDs (B, T) that went in."""
        return self.kept["ids"]

    @property
    def batch(self) -> int:
        return int(self.ids.shape[0])

    @property
    def tokens(self) -> int:
        return int(self.ids.shape[1])

    @property
    def ms(self) -> float:
        """Milliseconds of the whole pass."""
        return sum(record.ms for record in self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Tensor:
        """Return the stage's tensor as the model computed it.

        Raises
        ------
        KeyError
            If the catalogue has no such stage.
        TraceError
            If the block has to run again and no longer gives what it gave.
        """
        tensor = self._at_hand(name)
        if tensor is None:
            layer = self.record(name).stage.layer
            if layer is None:
                raise TraceError(f"{name} was not kept") if self.can_replay else self._error(self.missing(name))
            tensor = self.with_block(layer).replayed[name]
        return tensor

    def has(self, name: str) -> bool:
        """Tell whether the stage's tensor is at hand, without running a block."""
        return self._at_hand(name) is not None

    def has_block(self, layer: int) -> bool:
        """Tell whether the inside of block ``layer`` is at hand."""
        return self.has(f"{block_name(layer)}.drop_shortcut2")

    def array(self, name: str) -> Array:
        """Return the stage's tensor as a NumPy array that shares its memory; never runs a block.

        Raises
        ------
        KeyError
            If the catalogue has no such stage.
        TraceError
            If the tensor is not at hand.
        """
        tensor = self._at_hand(name)
        if tensor is None:
            self.record(name)
            raise self._error(self.missing(name))
        array: Array = tensor.detach().numpy()
        return array

    def large_tensors(self) -> list[Tensor]:
        """Return tensors that share the memory of the large ones, and hold it when all others have let go."""
        at_hand = (*self.kept.values(), *self.replayed.values())
        return [tensor.detach() for tensor in at_hand if tensor.nbytes > _LARGE]

    def record(self, name: str) -> StageRecord:
        """Return what is known of a stage besides its tensor."""
        if name not in self._by_name:
            raise KeyError(f"there is no stage {name!r}")
        return self._by_name[name]

    def parameter(self, path: str) -> Array:
        """Return a parameter of the model, such as ``final_norm.scale``, as an array that shares its memory.

        Raises
        ------
        AttributeError
            If the model has no such parameter.
        NotRecordedError
            If the run was recorded without it.
        """
        parameter = self.replay.model.get_parameter(path).detach()
        if parameter.is_meta:
            raise self._error(self.missing(path))
        array: Array = parameter.numpy()
        return array

    def missing(self, name: str) -> str:
        """Say that and why the stage or the parameter ``name`` is not at hand, as half a sentence; empty if it is.

        A block that can run again has its inside at hand once it has: see ``with_block``.
        """
        lacking = self.lacking(name)
        return f"{lacking}{self.replay.missing.why}" if lacking else ""

    def lacking(self, name: str) -> str:
        """Say that the stage or the parameter ``name`` is not at hand; empty if it is."""
        if name in self:
            there, layer = self.has(name), self.record(name).stage.layer
            what = name if layer is None or self.can_replay else f"the inside of block {layer + 1}"
        else:
            there = not (isinstance(self.replay, ModelGone) or self.replay.model.get_parameter(name).is_meta)
            what = name
        return "" if there else f"{what} {self.replay.missing.that}"

    def has_parameter(self, path: str) -> bool:
        """Tell whether the model has such a parameter: not every one has biases."""
        try:
            self.replay.model.get_parameter(path)
        except AttributeError:
            return False
        return True

    def eps(self, norm: str) -> float:
        """Return the eps of the LayerNorm at module path ``norm``."""
        return float(self.replay.model.get_submodule(norm).eps)  # type: ignore[arg-type]

    def keeps_block(self, layer: int) -> bool:
        """Tell whether the inside of block ``layer`` stays at hand when another one is replayed."""
        return f"{block_name(layer)}.drop_shortcut2" in self.kept

    def with_block(
        self, layer: int, early: str | None = None, on_early: "Callable[[Trace], None] | None" = None
    ) -> "Trace":
        """Return a trace that has the inside of block ``layer`` at hand, and of no other block that was not kept.

        If the block has to run, ``on_early`` gets a trace as soon as the stage ``early`` is there.
        """
        if self.has_block(layer):
            return self
        if not self.has(f"{block_name(layer)}.shortcut2"):
            raise TraceError(f"block {layer + 1} has not run to its end in this trace")
        places = [stage.name for stage in block_stages(self.config, layer)]
        wanted = places.index(early) + 1 if early in places else 0

        def on_stage(so_far: Mapping[str, Tensor]) -> None:
            if on_early is not None and len(so_far) == wanted:
                on_early(replace(self, replayed=MappingProxyType(dict(so_far))))

        tensors = self.replay(layer, self.kept[block_input_name(layer)], on_stage)
        output = f"{block_name(layer)}.shortcut2"
        if not torch.equal(tensors[output].view(torch.int32), self.kept[output].view(torch.int32)):  # NaN too
            raise TraceError(
                f"block {layer + 1} ran again and gave other numbers than in this trace: "
                "the model's weights were changed since; run the prompt again"
            )
        return replace(self, replayed=MappingProxyType(tensors))

    def through_head(self, name: str, row: int, positions: slice) -> Array:
        """Return the logits (t, V) that final norm and head make of the residual stream at stage ``name``.

        ``positions`` are t tokens of sequence ``row``. The model itself does this with the last block's output alone.
        """
        array: Array = self.replay.head(self[name][row : row + 1, positions])[0].numpy()
        return array

    @property
    def can_replay(self) -> bool:
        """Whether the model is still there, to run blocks again whose inside is not at hand."""
        return self.replay.can_replay

    @property
    def is_recorded(self) -> bool:
        """Whether this was recorded, and the model that computed it is not loaded."""
        return self.replay.is_recorded

    def with_block_if_it_can(self, layer: int) -> "Trace":
        """Return ``with_block(layer)``; this trace where the block's inside is not at hand and can't run again."""
        return self.with_block(layer) if self.can_replay else self

    def without_model(self) -> "Trace":
        """Return a trace that does not keep the model in memory; what is not at hand can't be had any more."""
        return replace(self, replay=ModelGone())

    def keeping(self) -> "Trace":
        """Return a trace that keeps the insides of blocks that were replayed, too."""
        return replace(self, kept=MappingProxyType({**self.kept, **self.replayed}), replayed=MappingProxyType({}))

    def holding(self, *names: str) -> "Trace":
        """Return a trace that has of what was replayed the stages ``names`` alone at hand."""
        return replace(self, replayed=MappingProxyType({name: self.replayed[name] for name in names}))

    def within(self, budget: int) -> "Trace":
        """Return a trace of no more than ``budget`` bytes, as far as leaving out what can be spared does it.

        These are what was replayed, and the logits of all positions; the last position's stay.
        """
        if self.nbytes <= budget:
            return self
        lighter = self.holding()
        if lighter.nbytes <= budget or "last" not in self.kept:
            return lighter
        kept = {name: tensor for name, tensor in self.kept.items() if name != "out_head"}
        kept["last"] = kept["last"].clone()  # else it holds the logits of all positions
        return replace(lighter, kept=MappingProxyType(kept))

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the trace holds; tensors that share memory count once."""
        storages = {}
        for tensor in (*self.kept.values(), *self.replayed.values()):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        return sum(storages.values()) + sum(digest.nbytes for digest in self.digests.values())

    @cached_property
    def _by_name(self) -> dict[str, StageRecord]:
        return {record.name: record for record in self.records}

    def _error(self, why: str) -> TraceError:
        return NotRecordedError(why) if self.is_recorded else TraceError(why)

    def _at_hand(self, name: str) -> Tensor | None:
        tensor = self.kept.get(name)
        return self.replayed.get(name) if tensor is None else tensor
