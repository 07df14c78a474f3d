"""How each number of a trace was made: the operation, the true operands, and the result recomputed."""

from gptviz.analysis.arithmetic.explain import CellError, explain
from gptviz.analysis.arithmetic.parts import TOLERANCE, Explanation, Operand, Step, Term, Terms, Vector
from gptviz.analysis.arithmetic.snippet import snippet
from gptviz.analysis.place import Place

__all__ = [
    "TOLERANCE",
    "CellError",
    "Explanation",
    "Operand",
    "Place",
    "Step",
    "Term",
    "Terms",
    "Vector",
    "explain",
    "snippet",
]
