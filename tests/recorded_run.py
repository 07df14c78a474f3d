"""A session that shows a recorded run whose model is not loaded."""

from gptviz.analysis.attention import WEIGHTS, tile_maximum
from gptviz.capture import capture, recorded
from gptviz.capture.memory import DEFAULT_BUDGET
from gptviz.session.session import Session


def let_the_model_go(session: Session, budget: int = DEFAULT_BUDGET) -> None:
    """Leave of what ``session`` shows what a recording has; ``budget`` limits the insides of blocks, in bytes."""
    trace, model = session.state.trace, session._model
    assert trace is not None
    assert model is not None
    digests = {WEIGHTS: lambda weights: tile_maximum(weights.numpy())}
    again = capture(model, trace.ids, budget=budget, digests=digests)
    session._model = None
    session.travel.forget()
    session.change(trace=recorded(again))
