"""Colours for Python source, found with Python's own tokenizer."""

import io
import keyword
import tokenize
from collections.abc import Iterator

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from gptviz.widgets.theme import color, current

_FAMILIES = {"keyword": "attention", "text": "feed-forward", "number": "head", "definition": "embedding"}


class PythonHighlighter(QSyntaxHighlighter):
    """Colours keywords, texts, numbers, comments and the name that is defined."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._spans: dict[int, list[tuple[int, int, str]]] = {}

    def set_source(self, source: str) -> None:
        """Look through ``source``, which is to be shown next."""
        self._spans = {}
        for line, start, stop, kind in spans(source):
            self._spans.setdefault(line, []).append((start, stop, kind))

    def highlightBlock(self, text: str) -> None:
        for start, stop, kind in self._spans.get(self.currentBlock().blockNumber(), ()):
            self.setFormat(start, stop - start, _format(kind))


def spans(source: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield line (from 0), first column, end column and kind of what ``source`` has to be coloured."""
    lines = source.splitlines()
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _kind(token, before)
            before = token.string
            if kind is None:
                continue
            (first, start), (last, stop) = token.start, token.end
            for line in range(first, last + 1):
                begin = start if line == first else 0
                yield line - 1, begin, stop if line == last else len(lines[line - 1]), kind
    except (tokenize.TokenError, IndentationError):
        return  # a piece of a file: what came before the break is coloured


def _kind(token: tokenize.TokenInfo, before: str) -> str | None:
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.STRING:
        return "text"
    if token.type == tokenize.NUMBER:
        return "number"
    if token.type != tokenize.NAME:
        return None
    if before in ("def", "class"):
        return "definition"
    if keyword.iskeyword(token.string):
        return "keyword"
    return "self" if token.string == "self" else None


def _format(kind: str) -> QTextCharFormat:
    result = QTextCharFormat()
    family = _FAMILIES.get(kind)
    result.setForeground(color(current().families[family] if family else current().muted))
    return result
