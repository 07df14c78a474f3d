"""The language in which the tour is written: a little Markdown, with placeholders for live values.

Paragraphs are parted by empty lines; one that begins with ``- `` is an item of a list. ``**bold**`` and ``` `code` ```
are the styles. ``{name}`` stands for a live value, and ``{if name} … {else} … {end}`` for one of two wordings. Values
are put in after the Markdown was read, so that a token can never become markup.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

_MARK = re.compile(r"\{([^{}]*)\}|(\*\*)|(`)")


class TourTextError(ValueError):
    """A text of the tour is not well formed; the message says where."""


class NotYetError(Exception):
    """A live value can't be had at present; ``need`` is what is missing."""

    def __init__(self, need: str) -> None:
        super().__init__(need)
        self.need = need


class Style(StrEnum):
    """How words are set; VALUE is a live value."""

    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    VALUE = "value"


@dataclass(frozen=True)
class Words:
    """Words as they stand in the file."""

    text: str
    style: Style


@dataclass(frozen=True)
class Value:
    """A placeholder."""

    name: str


@dataclass(frozen=True)
class Choice:
    """Two wordings and the name of the value that decides."""

    name: str
    yes: "tuple[Part, ...]"
    no: "tuple[Part, ...]"


Part = Words | Value | Choice


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, or an item of a list."""

    item: bool
    parts: tuple[Part, ...]


class Span(NamedTuple):
    """Words ready to be shown."""

    text: str
    style: Style


@dataclass(frozen=True)
class Block:
    """A paragraph ready to be shown; ``need`` is what its values lack, and then it has no words."""

    item: bool
    spans: tuple[Span, ...]
    need: str | None = None

    @property
    def text(self) -> str:
        """The words without their styles."""
        return "".join(span.text for span in self.spans)


def parse(source: str) -> tuple[Paragraph, ...]:
    """Read the body of a step.

    Raises
    ------
    TourTextError
        If a mark is not closed.
    """
    chunks = (" ".join(chunk.split()) for chunk in re.split(r"\n\s*\n|\n(?=- )", source))
    return tuple(_paragraph(chunk) for chunk in chunks if chunk)


def fill(
    paragraphs: tuple[Paragraph, ...], value: Callable[[str], object], write: Callable[[object], str]
) -> tuple[Block, ...]:
    """Put live values in: ``value`` finds one by its name or raises NotYetError, ``write`` makes text of it.

    A paragraph of which a value is missing becomes a block without words; one that comes out empty is left out.
    """
    return tuple(block for paragraph in paragraphs if (block := _fill(paragraph, value, write)) is not None)


def names(paragraphs: tuple[Paragraph, ...]) -> tuple[str, ...]:
    """List the values that a text asks for, in both wordings of each choice."""
    return tuple(name for paragraph in paragraphs for name in _names(paragraph.parts))


def words(paragraphs: tuple[Paragraph, ...]) -> Iterator[str]:
    """Go through the words that are typed in a text, in both wordings of each choice."""
    for paragraph in paragraphs:
        yield from _typed(paragraph.parts)


def _fill(paragraph: Paragraph, value: Callable[[str], object], write: Callable[[object], str]) -> Block | None:
    try:
        spans = tuple(_spans(paragraph.parts, value, write))
    except NotYetError as error:
        return Block(paragraph.item, (), error.need)
    block = Block(paragraph.item, spans)
    return block if block.text.strip() else None


def _spans(parts: tuple[Part, ...], value: Callable[[str], object], write: Callable[[object], str]) -> Iterator[Span]:
    for part in parts:
        if isinstance(part, Words):
            yield Span(part.text, part.style)
        elif isinstance(part, Value):
            yield Span(write(value(part.name)), Style.VALUE)
        else:
            yield from _spans(part.yes if value(part.name) else part.no, value, write)


def _names(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Value):
            yield part.name
        elif isinstance(part, Choice):
            yield part.name
            yield from _names(part.yes + part.no)


def _typed(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Words):
            yield part.text
        elif isinstance(part, Choice):
            yield from _typed(part.yes + part.no)


def _paragraph(source: str) -> Paragraph:
    item = source.startswith("- ")
    reader = _Reader(source.removeprefix("- "))
    parts, closed_by = reader.parts(inside=False)
    if closed_by is not None or reader.style != Style.PLAIN:
        raise TourTextError(f"a mark is not closed or was never opened in {source!r}")
    return Paragraph(item, parts)


class _Reader:
    """Reads one paragraph from left to right."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self.style = Style.PLAIN

    def parts(self, inside: bool) -> tuple[tuple[Part, ...], str | None]:
        """Read up to the end, or to ``{else}`` or ``{end}``, which is returned too."""
        found: list[Part] = []
        while match := _MARK.search(self._source, self._at):
            self._words(found, match.start())
            self._at = match.end()
            inner = match[1]
            if inner is None:
                self._turn(Style.BOLD if match[2] else Style.CODE)
            elif inner in ("else", "end"):
                return tuple(found), inner
            elif inner.startswith("if "):
                found.append(self._choice(inner.removeprefix("if ").strip()))
            elif not inner.strip():
                raise TourTextError(f"an empty placeholder in {self._source!r}")
            else:
                found.append(Value(inner.strip()))
        self._words(found, len(self._source))
        if inside:
            raise TourTextError(f"no {{end}} in {self._source!r}")
        return tuple(found), None

    def _words(self, found: list[Part], end: int) -> None:
        text = self._source[self._at : end]
        if text:
            found.append(Words(text, self.style))

    def _turn(self, style: Style) -> None:
        self.style = Style.PLAIN if self.style == style else style

    def _choice(self, name: str) -> Choice:
        yes, closed_by = self.parts(inside=True)
        no: tuple[Part, ...] = ()
        if closed_by == "else":
            no, closed_by = self.parts(inside=True)
        if closed_by != "end":
            raise TourTextError(f"two {{else}} for one {{if}} in {self._source!r}")
        return Choice(name, yes, no)
