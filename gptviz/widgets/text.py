"""How tokens, numbers and shapes are written."""

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

_VISIBLE = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u200b": "‹ZWSP›", "\u200d": "‹ZWJ›"}


@lru_cache(maxsize=8192)
def visible(text: str) -> str:
    """Write white space and control characters so that they can be seen."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    if character.isprintable():  # marks that change the direction of text are not
        return character
    return f"‹{ord(character):04X}›"


def number(value: float, digits: int = 4) -> str:
    """Write a number with ``digits`` significant places and a true minus sign."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        written = f"{value:,.{places}f}"
    else:
        written = f"{value:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e+")
    return written.replace("-", "−")


def percent(probability: float) -> str:
    """Write a probability in per cent with three significant places."""
    if math.isnan(probability):
        return "NaN"
    value = probability * 100
    if value == 0:
        return "0 %"
    if value < 0.001:
        return f"{value:.1e} %".replace("e-0", "e-").replace("-", "−")
    places = max(0, 2 - math.floor(math.log10(value)))
    return f"{value:.{min(places, 6)}f} %"


def shape(sizes: Sequence[int]) -> str:
    """Write a tensor's shape, such as (1, 4, 768)."""
    return f"({', '.join(str(size) for size in sizes)})"


def data_size(count: int) -> str:
    """Write a number of bytes in the unit that fits."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"


def milliseconds(ms: float) -> str:
    """Write a time, with two places where it is short."""
    return f"{ms:,.0f} ms" if ms >= 10 else f"{ms:.2g} ms"


def as_tip(text: str) -> str:
    """Return ``text`` so that a tooltip shows it as it stands: Qt reads a token such as ``<s>`` as markup."""
    return f"<p style='white-space:pre'>{escape(text)}</p>" if "<" in text or "&" in text else text


def draw_text(
    painter: QPainter,
    box: QRectF,
    text: str,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> None:
    """Draw one line of plain text into ``box``, shortened to fit, in the middle of its height."""
    if elide != Qt.TextElideMode.ElideNone:
        text = QFontMetricsF(painter.font()).elidedText(text, elide, box.width())
    painter.drawText(box, _flags(align), text)


@cache
def _flags(align: Qt.AlignmentFlag) -> int:
    """Combining flags takes longer than drawing a word."""
    return int(align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
