"""What the labs' threads run: one function a lab. torch and the labs are imported inside the functions.

Each takes what the pane asks for as plain values, and last the job's context; the pane submits a ``partial`` of it.
A lab must not draw from torch's global random numbers: the model's thread may be initialising a model with them at
that moment. ``labs.seeded`` draws the same numbers from a generator of its own; where that is not enough,
``model.seeding`` waits until nobody else draws.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.labs.configuration import ConfigurationReport
    from gptviz.labs.feed_forward import FeedForwardRun
    from gptviz.labs.feed_forward_sizes import Sizes
    from gptviz.labs.gelu import GeluResult
    from gptviz.labs.gradients import GradientFlow
    from gptviz.labs.layer_norm import LayerNormResult
    from gptviz.labs.parameters import ParameterTable, SizeRow
    from gptviz.labs.shell import ShellRun
    from gptviz.labs.shell_request import ShellRequest
    from gptviz.labs.timing import Basis
    from gptviz.model.config import GPTConfig


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


def shell(request: "ShellRequest", before: "ShellRun | None", context: JobContext) -> "ShellRun":
    """Run a shell of placeholders and real parts; it draws torch's random numbers, when nobody else does."""
    from gptviz.labs.shell import run

    return run(request, before, context, context.cancel.is_set)


def feed_forward(sizes: "Sizes", context: JobContext) -> "FeedForwardRun":
    """Pass a batch through a feed-forward network until its numbers don't match."""
    from gptviz.labs.feed_forward import run

    return run(sizes)


def parameters(config: "GPTConfig", context: JobContext) -> "tuple[ParameterTable, tuple[SizeRow, ...]]":
    """Count the parameters of ``config``, and those of GPT-2's four sizes."""
    from gptviz.labs.parameters import four_sizes, parameter_table

    return parameter_table(config), four_sizes()


def configuration(
    config: "GPTConfig", present: "GPTConfig | None", batch: tuple[int, int], basis: "Basis | None", context: JobContext
) -> "ConfigurationReport":
    """Say what ``config`` would cost for a batch of (rows, tokens), beside the present model."""
    from gptviz.labs.configuration import report

    return report(config, present, *batch, basis)
