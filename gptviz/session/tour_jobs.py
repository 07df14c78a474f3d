"""What the tour lets a worker compute. torch is imported inside the function: the window is painted before that."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.model.config import GPTConfig


def measure(config: "GPTConfig", context: JobContext) -> Mapping[str, object]:
    """Compute the tour's figures that come from no pass."""
    from gptviz.tour.measure import measure

    return measure(config)
