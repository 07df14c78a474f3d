"""Refusing what needs the model while a run is on screen that was opened from a recording, without its model."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gptviz.session.explain import LOAD_THE_MODEL
from gptviz.session.state import Message

if TYPE_CHECKING:
    from gptviz.session.session import Session


def lacks_model(session: "Session", what: str, why: str = "it needs a pass that is not in the recording") -> bool:
    """Tell whether the model is not there; if so, say ``what`` did not happen, and stop playing."""
    state = session.state
    if not state.is_recorded or session.has_model or session.building:
        return False
    generation = replace(state.generation, playing=False) if state.generation.playing else state.generation
    message = Message(what, f"{why}, and the model is not loaded", LOAD_THE_MODEL)
    session.change(message=message, generation=generation)
    return True
