"""The number that is asked about, and reading from its trace what it was made of."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gptviz.analysis.arithmetic.parts import Operand, Terms, Vector
from gptviz.analysis.operands import inputs_of
from gptviz.analysis.place import Place
from gptviz.capture.stages import block_name

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic.parts import Array
    from gptviz.capture.stages import Stage
    from gptviz.capture.trace import Trace

_AXES = {"B": "sequence", "H": "head", "T": "token", "V": "token ID"}


@dataclass(frozen=True)
class Cell:
    """One number of a trace: the stage's tensor at ``index``. All that is read of the trace is at hand."""

    trace: "Trace"
    stage: "Stage"
    index: tuple[int, ...]

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The stages that the number's stage is computed from."""
        return inputs_of(self.stage, self.trace.config)

    @property
    def source(self) -> str:
        """The first, or only, of them."""
        return self.inputs[0]

    @cached_property
    def value(self) -> float:
        """The number as the model computed it."""
        return float(self.trace.array(self.stage.name)[self.index])

    @cached_property
    def module(self) -> Any:
        """The live module that computed the stage; the operation is read from it, and never assumed."""
        return self.trace.replay.model.get_submodule(self.stage.module)

    @property
    def training(self) -> bool:
        """Whether that module was in training mode when the pass ran."""
        return self.trace.replay.modes.get(self.stage.module, False)

    def number(self, symbol: str, name: str, *index: int) -> Operand:
        """Return a number of another stage."""
        return Operand(symbol, Place(name, index), float(self.trace.array(name)[index]))

    def weight(self, symbol: str, path: str, *index: int) -> Operand:
        """Return a number of a parameter."""
        return Operand(symbol, Place(path, index, parameter=True), float(self.trace.parameter(path)[index]))

    def along(self, symbol: str, name: str, *index: int | None, mark: int | None = None) -> Vector:
        """Return the numbers of another stage along the axis that is None in ``index``."""
        dims = self.trace.record(name).stage.dims
        axis = index.index(None)
        said = "key" if dims == "BHTT" and axis == 3 else _AXES.get(dims[axis], "feature")
        return Vector(symbol, name, index, _row(self.trace.array(name), index), said, mark=mark)

    def weights(self, symbol: str, path: str, *index: int | None) -> Vector:
        """Return the numbers of a parameter along the axis that is None in ``index``."""
        return Vector(symbol, path, index, _row(self.trace.parameter(path), index), "feature", parameter=True)

    def hides(self, query: int, key: int) -> bool:
        """Tell whether the causal mask hides ``key`` from ``query``: as the live module has it, or else its class."""
        future = self.module.future
        return key > query if future.is_meta else bool(future[query, key])

    def score(self) -> Terms | None:
        """Return query · key of an attention cell, feature by feature; None elsewhere, and while they are not there."""
        if self.stage.dims != "BHTT" or self.stage.layer is None:
            return None
        b, h, q, k = self.index
        queries, keys = (f"{block_name(self.stage.layer)}.att.{name}" for name in ("queries", "keys"))
        if not (self.trace.has(queries) and self.trace.has(keys)):
            return None
        query, key = self.along("q", queries, b, h, q, None), self.along("k", keys, b, h, k, None)
        return Terms("query · key", query.exact * key.exact, query, key)


def _row(array: "Array", index: tuple[int | None, ...]) -> "Array":
    row: Array = array[tuple(slice(None) if at is None else at for at in index)]
    return row


def code_of(place: Place) -> str:
    """Return the Python that reads the number at ``place``, given ``trace`` and ``model``."""
    at = ", ".join(map(str, place.index))
    return f'model.get_parameter("{place.name}")[{at}]' if place.parameter else f'trace["{place.name}"][{at}]'


def code_along(vector: Vector) -> str:
    """Return the Python that reads a vector."""
    at = ", ".join(":" if at is None else str(at) for at in vector.index).removesuffix(", :")
    return f'model.get_parameter("{vector.name}")[{at}]' if vector.parameter else f'trace["{vector.name}"][{at}]'
