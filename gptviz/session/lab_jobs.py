"""What the labs' threads run: one function a lab. torch and the labs are imported inside the functions.

Each takes what the pane asks for as plain values, and last the job's context; the pane submits a ``partial`` of it.
A lab must not draw from torch's global random numbers: the model's thread may be initialising a model with them at
that moment. ``labs.seeded`` draws the same numbers from a generator of its own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.labs.gelu import GeluResult
    from gptviz.labs.gradients import GradientFlow
    from gptviz.labs.layer_norm import LayerNormResult


def layer_norm(
    values: Sequence[float] | None, place: int, settings: tuple[bool, float, float, float], context: JobContext
) -> "LayerNormResult":
    """Normalise a row, by default the chapter's row ``place``; ``settings`` are unbiased, eps, scale and shift."""
    from gptviz.labs.layer_norm import Settings, layer_norm

    return layer_norm(values, place, Settings(*settings))


def gelu(point: float, context: JobContext) -> "GeluResult":
    """Compute GELU and ReLU along the axis, in the table, and at ``point``."""
    from gptviz.labs.gelu import gelu

    return gelu(point)


def gradient_flow(seed: int, depth: int, width: int, context: JobContext) -> "GradientFlow":
    """Compare the gradients of a deep network with and without shortcuts."""
    from gptviz.labs.gradients import gradient_flow

    return gradient_flow(seed, depth, width, lambda fraction: context.report("Running the network", fraction))
