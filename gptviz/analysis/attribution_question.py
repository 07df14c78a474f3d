"""What somebody wants to have taken apart. Without NumPy, as the state holds it before anything is computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_VISIBLE = {"␣": " ", "⏎": "\n", "⇥": "\t"}  # as token texts are shown


@dataclass(frozen=True)
class Question:
    """The number that is taken apart into what was added up.

    ``kind`` is stream (the value of ``feature`` at ``stage``), logit (that of ``token``), or lead (of the logit
    of ``token`` over that of ``minus``). None is the last block's output, the feature with the largest size,
    the likeliest token, and the likeliest of the others.
    """

    kind: str = "stream"
    stage: str | None = None
    feature: int | None = None
    token: int | None = None
    minus: int | None = None


def token_named(text: str, encode: Callable[[str], Sequence[int]], vocabulary: int) -> int:
    """Return the token that ``text`` names: by its ID, by its text, or by its text in double quotes.

    Raises
    ------
    ValueError
        If it is no single token, or an ID outside the vocabulary.
    """
    if text.isascii() and text.isdecimal():
        if int(text) < vocabulary:
            return int(text)
        raise ValueError(f"{text} is no token: IDs go from 0 to {vocabulary - 1:,}")
    quoted = len(text) > 2 and text[0] == text[-1] == '"'
    written = "".join(_VISIBLE.get(character, character) for character in (text[1:-1] if quoted else text))
    ids = encode(written)
    if len(ids) == 1 and ids[0] < vocabulary:
        return ids[0]
    found = "no token" if not ids else f"{len(ids)} tokens"
    raise ValueError(f"“{written}” is {found}: give one token with its leading space, or an ID")
