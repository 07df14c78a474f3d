"""What the tour can speak of, how it writes live values, and what it says where one is missing."""

from gptviz.session.explain import LOAD_THE_MODEL
from gptviz.session.session import Session
from gptviz.tour.facts import Bytes, Part, Token
from gptviz.tour.situation import Situation
from gptviz.widgets.text import data_size, number, percent, shape, visible

NEEDS = {
    "model": "The model is still being made. The rest of this step comes as soon as it is there.",
    "pass": "No pass has run on this model yet. Type a prompt and press Enter, and this step speaks of it.",
    "end": "The pass is being held before this stage. Continue lets it go on (F9), and Stop gives it up (Esc).",
    "block": "This block is being run again to have its tensors at hand…",
    "recording": f"This block's inside is not in the recording, and its model is not loaded. {LOAD_THE_MODEL}.",
    "figures": "Some figures of this step are being computed…",
    "generation": "No token was generated yet. Press Ctrl+G to append one.",
}


def written(value: object) -> str:
    """Write a live value of the tour: a number, a share of a whole, a shape, a token, an amount of memory, a word."""
    if isinstance(value, Token):
        return visible(value)
    if isinstance(value, Part):
        return percent(value)
    if isinstance(value, Bytes):
        return data_size(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        return number(value)
    if isinstance(value, tuple):
        return shape(value)
    return str(value)


def situation_of(session: Session) -> Situation:
    """Return what the tour can speak of at present."""
    state = session.state
    model, selection = state.model, state.selection
    return Situation(
        title=model.title if model is not None else None,
        config=model.config if model is not None else None,
        seed=model.seed if model is not None else None,
        parameters=model.parameters if model is not None else 0,
        trained=model is not None and model.trained,
        trace=state.trace,
        layer=selection.layer,
        head=selection.head,
        query=selection.query,
        row=selection.row,
        generated=tuple(step.chosen.id for step in state.generation.steps),
        measured=state.tour.measured,
        token_text=session.token_text,
    )
