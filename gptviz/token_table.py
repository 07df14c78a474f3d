"""A table of tokens that a person has written: a text file, one token a line, the first for ID 0."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_LARGEST = 16 * 2**20  # bytes
_ESCAPE = re.compile(r"\\(n|t|r|\\|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


class TableError(ValueError):
    """The table can't be used; the message says why and what to do."""


def read_table(path: str | Path, vocab_size: int) -> tuple[str, ...]:
    r"""Read the tokens of a model of ``vocab_size`` tokens.

    A line is a token as it stands; ``\n``, ``\t``, ``\r``, ``\\``, ``\x1b`` and ``\u2028`` stand for characters
    that can't be. An empty line is the line break itself, or the space if the line break is there already: editors
    drop spaces at the ends of lines. A table may be shorter than the vocabulary, whose last tokens are unused then.

    Raises
    ------
    TableError
        If there is no such text file, it has too many lines, or a token twice.
    """
    path = Path(path)
    with suppress(RuntimeError):  # ~draft is a name like another if nobody is called draft
        path = path.expanduser()
    lines = _lines(path)
    doubled = next((place for place in range(1, len(lines)) if lines[place - 1] == lines[place] == ""), None)
    if len(lines) == vocab_size + 1 and doubled is not None:
        del lines[doubled]  # a line break that was written as it is takes two lines
    if len(lines) > vocab_size:
        raise TableError(f"{path.name} has {len(lines):,} lines, but the model has {vocab_size:,} tokens")
    tokens = [_ESCAPE.sub(_character, line) for line in lines]
    empty = " " if "\n" in tokens and " " not in tokens else "\n"
    tokens = [token or empty for token in tokens]
    _refuse_repeated(path.name, tokens)
    return tuple(tokens)


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file():
            raise TableError(f"{path} is no file: choose a text file with one token a line")
        if path.stat().st_size > _LARGEST:
            raise TableError(f"{path.name} is too large for a table of tokens")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(f"{path.name} is no text in UTF-8: a table has one token a line") from None
    except (OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from error
    if "\0" in text:
        raise TableError(f"{path.name} is no text file: a table has one token a line")
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise TableError(f"{path.name} is empty: a table has one token a line")
    return lines


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return _ESCAPED[code] if code in _ESCAPED else chr(int(code[1:], 16))


def _refuse_repeated(name: str, tokens: Sequence[str]) -> None:
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token in places:
            raise TableError(f"{name} has {token!r} twice, in lines {places[token] + 1} and {place + 1}")
        places[token] = place
