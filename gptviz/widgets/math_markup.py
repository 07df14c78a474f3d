r"""Reads a small part of TeX into boxes.

``x^{2}``, ``x_{i}``, ``\frac{a}{b}``, ``\root{x}``, ``\paren{x}``, ``\sum{j = 0}{3}``, ``\limit{x}{below}``,
``\cases{a}{if}{b}{else}``, ``\bold{W}``, ``\word{mean}`` for words, ``\under{x}{note}`` for a small note below.
Single letters are variables and slanted. Three spaces or more part a formula into clauses.
"""

import re
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont

from gptviz.widgets.math_boxes import (
    Box,
    Cases,
    Fraction,
    Gap,
    Glyphs,
    Line,
    Parenthesised,
    Root,
    Scripts,
    Stack,
    operator,
)
from gptviz.widgets.theme import TEXT_FAMILY, color, current, mono_font, set_figures

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(r"\\[a-z]+|\d[\d.,]*\d|\s{3,}|\s+|.", re.DOTALL)
_OPERATORS = "=+−·÷×→<>≤≥≈∈"
_SCRIPT = 0.72  # of the size of what it belongs to
_SMALLEST = 9  # px


class MarkupError(ValueError):
    """The formula is not written in the part of TeX that is known."""


def set_formula(markup: str, em: int) -> list[Line]:
    """Return the clauses of ``markup`` as boxes, set at ``em`` px.

    Raises
    ------
    MarkupError
        If a brace or an argument is missing, or a command is not known.
    """
    reader = _Reader(markup)
    clauses = reader.clauses(em)
    if reader.left:
        raise MarkupError(f"a brace too many in {markup!r}")
    return clauses


def spoken(markup: str) -> str:
    """Return ``markup`` as plain text for those who don't see the formula."""
    text = re.sub(r"\\under\{((?:[^{}]|\{[^{}]*\})*)\}\{([^{}]*)\}", r"\1 \2", markup)
    for command, words in (("frac", "fraction"), ("root", "square root of"), ("sum", "sum over"), ("cases", "either")):
        text = text.replace(f"\\{command}", f" {words} ")
    text = re.sub(r"\\[a-z]+", "", text).replace("}{", ", ").replace("{", " ").replace("}", " ")
    return " ".join(text.replace("^", " to the ").replace("_", " sub ").split())


class _Reader:
    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._tokens: list[str] = _TOKEN.findall(markup)[::-1]

    @property
    def left(self) -> bool:
        return bool(self._tokens)

    def clauses(self, em: float) -> list[Line]:
        clauses, boxes = [], list[Box]()
        before = "="  # a sign after another one, or at the beginning, belongs to what follows it: = −1
        while self._tokens and self._tokens[-1] != "}":
            token = self._tokens.pop()
            if token.isspace():
                if len(token) >= 3 and boxes:
                    clauses.append(Line(boxes))
                    boxes, before = [], "="
                continue
            boxes.append(self._with_scripts(self._box(token, em, follows=before not in _OPERATORS), em))
            before = token
        return [*clauses, Line(boxes)]

    def _group(self, em: float) -> Line:
        parts = self.clauses(em) if self._open() else []
        if not self._tokens or self._tokens.pop() != "}":
            raise MarkupError(f"a closing brace is missing in {self._markup!r}")
        return parts[0] if len(parts) == 1 else Line(parts)

    def _open(self) -> bool:
        if not self._tokens or self._tokens.pop() != "{":
            raise MarkupError(f"an argument is missing in {self._markup!r}")
        return True

    def _raw(self) -> str:
        """Read an argument as plain text."""
        self._open()
        text = ""
        while self._tokens and self._tokens[-1] != "}":
            text += self._tokens.pop()
        if not self._tokens:
            raise MarkupError(f"a closing brace is missing in {self._markup!r}")
        self._tokens.pop()
        return text

    def _with_scripts(self, base: Box, em: float) -> Box:
        scripts: dict[str, Box] = {}
        while self._tokens and self._tokens[-1] in "^_":
            place = self._tokens.pop()
            scripts[place] = self._group(_smaller(em))
        return Scripts(base, scripts.get("^"), scripts.get("_"), em) if scripts else base

    def _box(self, sign: str, em: float, follows: bool) -> Box:
        if sign.startswith("\\"):
            command: Callable[[float], Box] | None = getattr(self, f"_set_{sign[1:]}", None)
            if command is None:
                raise MarkupError(f"{sign} is not known")
            return command(em)
        if sign in _OPERATORS:
            return operator(sign, _font(em)) if follows else Glyphs(sign, _font(em))
        if sign == ",":
            return Line([Glyphs(",", _font(em)), Gap(0.24 * em)])
        if sign.isalpha():
            return Glyphs(sign, _font(em, italic=True))
        return Glyphs(sign, _font(em), 0.08 if sign in "[]…" else 0.0)

    # --- commands ----------------------------------------------------------------------------------------

    def _set_frac(self, em: float) -> Box:
        size = max(_SMALLEST, 0.94 * em)
        return Fraction(self._group(size), self._group(size), em)

    def _set_root(self, em: float) -> Box:
        return Root(self._group(em), em)

    def _set_paren(self, em: float) -> Box:
        return Parenthesised(self._group(em), em)

    def _set_sum(self, em: float) -> Box:
        lower, upper = self._group(_smaller(em)), self._group(_smaller(em))
        return Line([Stack(Glyphs("∑", _font(1.25 * em)), upper, lower, 0.14 * em), Gap(0.16 * em)])

    def _set_limit(self, em: float) -> Box:
        return Line([Stack(self._group(em), None, self._group(_smaller(em)), 0.22 * em), Gap(0.2 * em)])

    def _set_cases(self, em: float) -> Box:
        size = 0.94 * em
        rows = [(self._group(size), self._group(size)) for _ in range(2)]
        return Cases(rows, em)

    def _set_bold(self, em: float) -> Box:
        return Glyphs(self._raw(), _font(em, weight=QFont.Weight.DemiBold))

    def _set_word(self, em: float) -> Box:
        return Glyphs(self._raw(), _font(em), 0.03)

    def _set_under(self, em: float) -> Box:
        base = self._with_scripts(self._group(em), em)
        font = QFont(mono_font())
        font.setPixelSize(round(max(_SMALLEST, 0.6 * em)))
        return Stack(base, None, Glyphs(self._raw(), font, 0.2, color(current().muted)), 0.2 * em, 0.24 * em)


def _smaller(em: float) -> float:
    return max(_SMALLEST, _SCRIPT * em)


def _font(em: float, italic: bool = False, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    font = QFont(TEXT_FAMILY)
    set_figures(font)  # as the widget's font has: a painter draws with its features
    font.setPixelSize(round(em))
    font.setItalic(italic)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)  # else glyphs are wider than measured
    font.setWeight(weight)
    return font
