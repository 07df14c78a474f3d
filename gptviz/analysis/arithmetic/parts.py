"""What an explanation is made of: where numbers are, how they combine, and how the result is judged."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.place import Place

if TYPE_CHECKING:
    from gptviz.capture.stages import Stage

Array = np.ndarray[Any, np.dtype[Any]]

TOLERANCE = 1e-4
_TINY = float(np.finfo(np.float32).tiny)  # below it float32 itself loses digits
LARGEST_SINGLE = float(np.finfo(np.float32).max)
_FEW = 32  # terms that are looked at first
VALUE, TERMS, ROW = "the value", "√Σ terms²", "a typical feature"  # what a difference is relative to


@dataclass(frozen=True)
class Operand:
    """A number that takes part; ``symbol`` is what the formula calls it, in the formulas' markup."""

    symbol: str
    place: Place
    value: float


@dataclass(frozen=True)
class Vector:
    """Numbers (n,) along one axis of a stage or a parameter; that axis is None in ``index``.

    ``axis`` says what runs along it: feature, key, token or token ID. ``mark`` is the place that is asked about.
    """

    symbol: str
    name: str
    index: tuple[int | None, ...]
    values: Array
    axis: str
    parameter: bool = False
    mark: int | None = None

    def place(self, i: int) -> Place:
        """Return where the number ``i`` is."""
        return Place(self.name, tuple(i if at is None else at for at in self.index), self.parameter)

    @cached_property
    def exact(self) -> Array:
        """The values in double precision."""
        result: Array = self.values.astype(np.float64)
        return result


@dataclass(frozen=True)
class Term:
    """One number of a sum, and the one or two numbers that it was made from."""

    i: int
    value: float
    left: Operand
    right: Operand | None


@dataclass(frozen=True)
class Terms:
    """Numbers that are added up, or compared: ``values`` (n,) in double precision, one for each place along an axis.

    ``extra`` is added too and belongs to no place: a bias. What is compared is ranked by value instead of size.
    What is no number comes first, as it makes all of them none; argmax ranks it so too.
    """

    title: str
    values: Array
    left: Vector
    right: Vector | None = None
    extra: Operand | None = None
    compared: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _keys(self) -> Array:
        """What they are ranked by, the smallest first."""
        keys: Array = -(self.values if self.compared else np.abs(self.values))
        return keys

    @cached_property
    def _nothing(self) -> int:
        """How many are no numbers."""
        return int(np.isnan(self._keys).sum())

    @cached_property
    def order(self) -> Array:
        """The places, that of the largest term first; equal ones in their order."""
        order: Array = np.argsort(self._keys, kind="stable")
        return np.roll(order, self._nothing)  # which NumPy puts last

    @cached_property
    def _first(self) -> Array:
        """The beginning of ``order``: sorting a whole vocabulary takes a while, and few look at it."""
        bound = np.partition(self._keys, _FEW)[_FEW]
        places = np.flatnonzero(self._keys <= bound)
        first: Array = places[np.argsort(self._keys[places], kind="stable")]
        return first

    def largest(self, count: int) -> Array:
        """Return the places of the ``count`` largest terms, in their order."""
        ordered = self._first if count <= _FEW < len(self) and not self._nothing else self.order
        return ordered[:count]

    def term(self, i: int) -> Term:
        """Return the term at place ``i``."""
        left = Operand(self.left.symbol, self.left.place(i), float(self.left.values[i]))
        right = self.right
        second = None if right is None else Operand(right.symbol, right.place(i), float(right.values[i]))
        return Term(i, float(self.values[i]), left, second)

    def rest(self, count: int) -> float:
        """Return the sum of all but the ``count`` largest terms; the bias is not in it."""
        with np.errstate(invalid="ignore"):  # the sum of both infinities is no number
            return float(np.delete(self.values, self.largest(count)).sum())

    @property
    def total(self) -> float:
        """All that is added up, the bias too."""
        with np.errstate(invalid="ignore"):
            return float(self.values.sum()) + (0.0 if self.extra is None else self.extra.value)

    @property
    def spread(self) -> float:
        """√Σ terms², the size that a sum of such terms has where their signs are no one's choice."""
        extra = 0.0 if self.extra is None else self.extra.value
        return math.hypot(float(np.linalg.norm(self.values)), extra)


@dataclass(frozen=True)
class Step:
    """One line of the working, in the formulas' markup: an equation, its right side with numbers, its value."""

    name: str
    equation: str
    numbers: str
    value: float
    whole: bool = False  # the value is a count or an ID


@dataclass(frozen=True)
class Explanation:
    """How one number was made: the last of ``steps`` ends in it.

    ``recomputed`` follows the steps in double precision, from the operands as the model computed them (in
    single precision); ``captured`` is the model's number. A number that was only moved has to be the same bit for
    bit (``tolerance`` 0). Any other may differ by TOLERANCE times ``size``: the size of the number itself or, where
    numbers were added and may have cancelled, √Σ terms² if that is larger; ``relative_to`` says which.

    ``vectors`` and ``terms`` take part in the steps. ``behind`` does not: of what is made from an attention score,
    it is the sum that the score once was. ``own_row`` is the row that the number stands in, where it is compared
    with that which it was made from. ``onward`` is what the window computes from the number where that is no stage:
    the probability of a logit's token. ``lacks`` says which operands are not at hand, and why: the number is not
    recomputed then, and ``recomputed`` is NaN.
    """

    stage: "Stage"
    index: tuple[int, ...]
    operation: str
    sentence: str
    steps: tuple[Step, ...]
    operands: tuple[Operand, ...]
    recomputed: float
    captured: float
    code: tuple[str, ...]
    tolerance: float = TOLERANCE
    spread: float = 0.0
    spread_of: str = TERMS
    vectors: tuple[Vector, ...] = ()
    terms: Terms | None = None
    behind: Terms | None = None
    own_row: Vector | None = None
    onward: tuple[Step, ...] = ()
    note: str = ""
    lacks: str = ""

    @property
    def place(self) -> Place:
        return Place(self.stage.name, self.index)

    @property
    def difference(self) -> float:
        """Recomputed less captured; 0 where both are the same infinity or both are no number."""
        same = self.recomputed == self.captured or (math.isnan(self.recomputed) and math.isnan(self.captured))
        difference = 0.0 if same else self.recomputed - self.captured
        return math.inf if math.isnan(difference) else difference

    @property
    def size(self) -> float:
        """What the difference is compared with."""
        sizes = [size for size in (abs(self.recomputed), self.spread) if math.isfinite(size)]
        return max(*sizes, _TINY) if sizes else _TINY

    @property
    def relative_to(self) -> str:
        return self.spread_of if self.spread > abs(self.recomputed) else VALUE

    @property
    def relative(self) -> float:
        """The difference's size, relative to ``size``."""
        return abs(self.difference) / self.size

    @property
    def ok(self) -> bool:
        """Whether the recomputed number agrees with the model's, or could not be recomputed."""
        return bool(self.lacks) or self.relative <= self.tolerance

    @property
    def overflowed(self) -> bool:
        """Whether a finite number on the way is too large for the model's single precision, which has ∞ there."""
        rows = [vector.exact for vector in self.vectors] + ([] if self.terms is None else [self.terms.values])
        sizes = [*(abs(step.value) for step in self.steps), *(float(np.abs(row).sum()) for row in rows)]
        return any(LARGEST_SINGLE < size < math.inf for size in sizes)

    @property
    def whole(self) -> bool:
        """Whether the number is an ID."""
        return bool(self.steps) and self.steps[-1].whole
