"""Boxes that a formula is set from: each has a width, a height above the baseline and a depth below it."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

_SPACE = 0.26  # em, on both sides of an operator


class Box(Protocol):
    """A part of a formula, in pixels."""

    width: float
    ascent: float
    descent: float

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        """Draw with the left edge at ``x``."""


class Glyphs:
    """Text in one font; ``space`` is left free on both sides, ``tone`` replaces the pen's colour."""

    def __init__(self, text: str, font: QFont, space: float = 0.0, tone: QColor | None = None) -> None:
        self._text, self._font, self._space, self._tone = text, font, space * font.pixelSize(), tone
        metrics = QFontMetricsF(font)
        ink = metrics.tightBoundingRect(text)
        self._lean = 0.06 * font.pixelSize() if font.italic() else 0.0  # slanted letters reach over their width
        self.width = metrics.horizontalAdvance(text) + 2 * self._space + self._lean
        self.ascent = max(metrics.capHeight(), -ink.top())
        self.descent = max(0.0, ink.bottom())

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        painter.setFont(self._font)
        pen = painter.pen()
        if self._tone is not None:
            painter.setPen(self._tone)
        painter.drawText(QPointF(x + self._space, baseline), self._text)
        painter.setPen(pen)


class Gap:
    """Nothing, ``width`` wide."""

    def __init__(self, width: float) -> None:
        self.width, self.ascent, self.descent = width, 0.0, 0.0

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        pass


class Line:
    """Boxes side by side on one baseline."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._boxes = boxes
        self.width = sum(box.width for box in boxes)
        self.ascent = max((box.ascent for box in boxes), default=0.0)
        self.descent = max((box.descent for box in boxes), default=0.0)

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        for box in self._boxes:
            box.draw(painter, x, baseline)
            x += box.width


class Fraction:
    """One box over another, with a bar at the height of a minus sign."""

    def __init__(self, over: Box, below: Box, em: float) -> None:
        self._over, self._below, self._em = over, below, em
        self._axis, self._gap = 0.3 * em, 0.24 * em
        self._inner = max(over.width, below.width) + 0.3 * em
        self.width = self._inner + 0.24 * em
        self.ascent = self._axis + self._gap + over.descent + over.ascent
        self.descent = self._gap + below.ascent + below.descent - self._axis

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        left = x + 0.12 * self._em
        y = baseline - self._axis
        self._over.draw(painter, left + (self._inner - self._over.width) / 2, y - self._gap - self._over.descent)
        self._below.draw(painter, left + (self._inner - self._below.width) / 2, y + self._gap + self._below.ascent)
        _stroke(painter, [QPointF(left, y), QPointF(left + self._inner, y)], self._em)


class Root:
    """A box under a radical sign."""

    def __init__(self, inside: Box, em: float) -> None:
        self._inside, self._em = inside, em
        self._sign, self._gap = 0.62 * em, 0.16 * em
        self.width = self._sign + inside.width + 0.14 * em
        self.ascent = inside.ascent + self._gap + 0.08 * em
        self.descent = inside.descent + 0.04 * em

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        em, bottom = self._em, baseline + self.descent
        top = baseline - self._inside.ascent - self._gap
        height = bottom - top
        knee = bottom - min(0.55 * height, 0.62 * em)
        points = [(0.06, knee + 0.06 * em), (0.17, knee), (0.34, bottom), (0.56, top)]
        corners = [QPointF(x + along * em, y) for along, y in points]
        corners.append(QPointF(x + self.width - 0.04 * em, top))
        _stroke(painter, corners, em)
        _stroke(painter, corners[1:3], em, 1.8)
        self._inside.draw(painter, x + self._sign, baseline)


class Scripts:
    """A box with another one at its upper right, at its lower right, or both."""

    def __init__(self, base: Box, upper: Box | None, lower: Box | None, em: float) -> None:
        self._base, self._upper, self._lower = base, upper, lower
        self._raise = max(0.42 * em, base.ascent - 0.36 * em)
        self._drop = 0.2 * em
        self.width = base.width + max(script.width for script in (upper, lower) if script) + 0.05 * em
        self.ascent = max(base.ascent, self._raise + upper.ascent if upper else 0.0)
        self.descent = max(base.descent, self._drop + lower.descent if lower else 0.0)

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        self._base.draw(painter, x, baseline)
        if self._upper:
            self._upper.draw(painter, x + self._base.width, baseline - self._raise)
        if self._lower:
            self._lower.draw(painter, x + self._base.width, baseline + self._drop)


class Stack:
    """A box with small ones centred above and below it: a shape below a symbol, the limits of a sum.

    ``depth`` is the base's at least, so that notes below different symbols stand in one line.
    """

    def __init__(self, base: Box, above: Box | None, below: Box | None, gap: float, depth: float = 0.0) -> None:
        self._base, self._above, self._below, self._gap = base, above, below, gap
        self._depth = max(depth, base.descent)
        self.width = max(box.width for box in (base, above, below) if box)
        self.ascent = base.ascent + (gap + above.ascent + above.descent if above else 0.0)
        self.descent = self._depth + (gap + below.ascent + below.descent if below else 0.0)

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        middle = x + self.width / 2
        self._base.draw(painter, middle - self._base.width / 2, baseline)
        if self._above:
            y = baseline - self._base.ascent - self._gap - self._above.descent
            self._above.draw(painter, middle - self._above.width / 2, y)
        if self._below:
            y = baseline + self._depth + self._gap + self._below.ascent
            self._below.draw(painter, middle - self._below.width / 2, y)


class Parenthesised:
    """A box between parentheses as high as itself."""

    def __init__(self, inside: Box, em: float) -> None:
        self._inside, self._em = inside, em
        self._side = 0.34 * em + 0.05 * (inside.ascent + inside.descent)
        self.width = inside.width + 2 * self._side
        self.ascent = max(inside.ascent, 0.76 * em) + 0.06 * em
        self.descent = max(inside.descent, 0.18 * em) + 0.06 * em

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        top, bottom = baseline - self.ascent, baseline + self.descent
        bow, inset = self._side - 0.16 * self._em, 0.08 * self._em
        for edge, direction in ((x + inset, 1), (x + self.width - inset, -1)):
            tip = edge + direction * bow
            path = QPainterPath(QPointF(tip, top))
            third = (bottom - top) * 0.3
            reach = edge - direction * bow * 0.33
            path.cubicTo(QPointF(reach, top + third), QPointF(reach, bottom - third), QPointF(tip, bottom))
            painter.strokePath(path, _pen(painter, self._em, 1.15))
        self._inside.draw(painter, x + self._side, baseline)


class Cases:
    """Rows of a value and its condition, behind a brace."""

    def __init__(self, rows: Sequence[tuple[Box, Box]], em: float) -> None:
        self._rows, self._em = rows, em
        self._brace, self._gap = 0.6 * em, 0.3 * em
        self._first = max(value.width for value, _ in rows) + 0.8 * em
        self._heights = [max(a.ascent, b.ascent) + max(a.descent, b.descent) for a, b in rows]
        total = sum(self._heights) + self._gap * (len(rows) - 1)
        self.width = self._brace + self._first + max(condition.width for _, condition in rows)
        self.ascent = total / 2 + 0.3 * em
        self.descent = total / 2 - 0.3 * em

    def draw(self, painter: QPainter, x: float, baseline: float) -> None:
        top, bottom = baseline - self.ascent, baseline + self.descent
        self._draw_brace(painter, QRectF(x + 0.08 * self._em, top, 0.34 * self._em, bottom - top))
        y = top
        for (value, condition), height in zip(self._rows, self._heights, strict=True):
            line = y + max(value.ascent, condition.ascent)
            value.draw(painter, x + self._brace, line)
            condition.draw(painter, x + self._brace + self._first, line)
            y += height + self._gap

    def _draw_brace(self, painter: QPainter, box: QRectF) -> None:
        middle, stem = box.center().y(), box.center().x()
        curl = min(0.3 * self._em, box.height() / 5)
        path = QPainterPath(box.topRight())
        path.quadTo(QPointF(stem, box.top()), QPointF(stem, box.top() + curl))
        path.lineTo(stem, middle - curl)
        path.quadTo(QPointF(stem, middle), QPointF(box.left(), middle))
        path.quadTo(QPointF(stem, middle), QPointF(stem, middle + curl))
        path.lineTo(stem, box.bottom() - curl)
        path.quadTo(QPointF(stem, box.bottom()), box.bottomRight())
        painter.strokePath(path, _pen(painter, self._em))


def operator(sign: str, font: QFont) -> Glyphs:
    """Return a sign with the room that a relation or an operation has around it."""
    return Glyphs(sign, font, _SPACE)


def _pen(painter: QPainter, em: float, weight: float = 1.0) -> QPen:
    pen = QPen(painter.pen().color(), max(1.0, 0.066 * em) * weight)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return pen


def _stroke(painter: QPainter, points: Sequence[QPointF], em: float, weight: float = 1.0) -> None:
    path = QPainterPath(points[0])
    for point in points[1:]:
        path.lineTo(point)
    painter.strokePath(path, _pen(painter, em, weight))
