"""What somebody wants to have taken apart. Without NumPy, as the state holds it before anything is computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gptviz.analysis.operands import stream_stages
from gptviz.analysis.place import read_index, shortened

if TYPE_CHECKING:
    from gptviz.model.config import GPTConfig

_PLACES = ("sequence", "token", "feature")
_LONG = 20  # digits that no ID has
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
        if len(text) < _LONG and int(text) < vocabulary:
            return int(text)
        raise ValueError(f"{shortened(text)} is no token: IDs go from 0 to {vocabulary - 1:,}")
    quoted = len(text) > 2 and text[0] == text[-1] == '"'
    written = "".join(_VISIBLE.get(character, character) for character in (text[1:-1] if quoted else text))
    ids = encode(written)
    if len(ids) == 1 and ids[0] < vocabulary:
        return ids[0]
    found = "no token" if not ids else f"{len(ids)} tokens"
    raise ValueError(f"“{shortened(written)}” is {found}: give one token with its leading space, or an ID")


@dataclass(frozen=True)
class Asked:
    """A question as it is written on a command line."""

    stage: str | None
    logit: str | None
    minus: str | None
    index: str | None


def understand(
    asked: Asked, config: "GPTConfig", tokens: int, encode: Callable[[str], Sequence[int]]
) -> tuple[Question, int]:
    """Return the question and the token position that are meant; without an index the last of ``tokens``.

    Raises
    ------
    ValueError
        If the stage is none of the residual stream, a token is none, or the index does not fit.
    """
    question = _stream_question(asked, config) if asked.logit is None else _logit_question(asked, config, encode)
    if asked.index is None:
        return question, tokens - 1
    numbers = _numbers(asked.index, _PLACES if question.kind == "stream" else _PLACES[:2])
    _place(numbers[0], 1, "sequence")
    return question, _place(numbers[1], tokens, "token")


def _logit_question(asked: Asked, config: "GPTConfig", encode: Callable[[str], Sequence[int]]) -> Question:
    token = token_named(asked.logit or "", encode, config.vocab_size)
    other = None if asked.minus is None else token_named(asked.minus, encode, config.vocab_size)
    if other == token:
        raise ValueError(f"--logit and --minus name the same token, {token}: give two")
    return Question("logit" if other is None else "lead", token=token, minus=other)


def _stream_question(asked: Asked, config: "GPTConfig") -> Question:
    if asked.minus is not None:
        raise ValueError("--minus is a token to compare a logit with: give --logit too")
    stages = stream_stages(config)
    if asked.stage not in stages:
        raise ValueError(
            f"{shortened(asked.stage or '')!r} is no stage of the residual stream: "
            f"choose {stages[0]}, {stages[1]}, {stages[2]} … {stages[-1]}"
        )
    feature = _numbers(asked.index, _PLACES)[2]
    return Question("stream", stage=asked.stage, feature=_place(feature, config.emb_dim, "feature"))


def _numbers(index: str | None, names: Sequence[str]) -> tuple[int, ...]:
    example = ",".join("0" for _ in names)
    try:
        numbers = () if index is None else read_index(index)
    except ValueError:
        numbers = ()
    if len(numbers) != len(names):
        given = "is missing" if index is None else f"{shortened(index)} does not fit"
        raise ValueError(f"--index {given}: give {', '.join(names[:-1])} and {names[-1]}, such as {example}")
    return numbers


def _place(number: int, count: int, noun: str) -> int:
    """Resolve a place from the end, as -1, and refuse one that is not there."""
    if not -count <= number < count:
        raise ValueError(f"there is no {noun} {number}: they go from 0 to {count - 1}")
    return number % count
