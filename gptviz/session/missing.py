"""What panes say where a tensor or a parameter is not at hand: one wording for all of them."""

from typing import TYPE_CHECKING

from gptviz.session.explain import LOAD_THE_MODEL

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

NOT_YET = "The forward pass has not come to this stage yet."
NOT_KEPT = "Not kept: this block can be run again once the pass has ended."
REPLAYED = "This block is being run again to have its numbers at hand…"


def why_missing(trace: "Trace", *names: str) -> str:
    """Say why the stages ``names`` are not all at hand, and what to do; empty if they are."""
    name = next((name for name in names if not trace.has(name)), None)
    if name is None:
        return ""
    if name not in trace:
        return NOT_YET
    if trace.can_replay:
        return REPLAYED if trace.complete else NOT_KEPT
    why = trace.missing(name)
    return not_recorded(why) if trace.is_recorded else f"{_begun(why)}."


def not_recorded(why: str, before: str = "") -> str:
    """Say what to do where something was not recorded; ``why`` is half a sentence, which ``before`` may begin."""
    said = f"{before} {why}" if before else _begun(why)
    return f"{said}. {LOAD_THE_MODEL} to see it."


def _begun(sentence: str) -> str:
    """Begin a sentence with a capital, unless a stage's or a parameter's name begins it."""
    return f"T{sentence[1:]}" if sentence.startswith("the ") else sentence
