"""How the tour writes live values, and what it says where one is missing."""

from gptviz.tour.facts import Bytes, Part, Token
from gptviz.widgets.text import data_size, number, percent, shape, visible

NEEDS = {
    "model": "The model is still being made. The rest of this step comes as soon as it is there.",
    "pass": "No pass has run on this model yet. Type a prompt and press Enter, and this step speaks of it.",
    "end": "The pass is being held before this stage. Continue lets it go on (F9), and Stop gives it up (Esc).",
    "block": "This block is being run again to have its tensors at hand …",
    "figures": "Some figures of this step are being computed …",
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
