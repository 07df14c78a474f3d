"""Two lines of tokens, one under the other, aligned by position; where they differ they are marked."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip

from gptviz.widgets import colormaps
from gptviz.widgets.text import as_tip, draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font
from gptviz.widgets.token_line import TokenLine

_ROW, _LEAST, _MOST = 24, 28, 120  # px
_LABEL_SHARE, _LONGEST_LABEL = 0.34, 260  # of the width; px


@dataclass(frozen=True)
class PairLine:
    """One line: a letter, what it is, and its tokens as they are written."""

    letter: str
    label: str
    tokens: Sequence[str]


class TokenPair(TokenLine):
    """Scrolls sideways; a click or the arrow keys choose a position."""

    def __init__(self) -> None:
        super().__init__("Tokens of both runs")
        self._lines: Sequence[PairLine] = ()
        self._differs: Sequence[bool] = ()
        self._lefts: list[float] = [0.0]
        self._labels = 0.0  # px, of the widest label and the letter before it
        self._selected: int | None = None

    def set_lines(self, a: PairLine, b: PairLine, differs: Sequence[bool]) -> None:
        """Show two lines; ``differs`` tells for each position that one of them has whether the tokens differ."""
        self._lines, self._differs = (a, b), differs
        described = [f"{line.letter}: {line.label}" for line in (a, b)]
        marked = [place for place, other in enumerate(differs) if other]
        described += [f"position {place}: {_at(a, place)} and {_at(b, place)}" for place in marked[:32]]
        self.setAccessibleDescription("; ".join(described) if marked else "; ".join([*described, "the same tokens"]))
        self._measure()

    def set_selected(self, position: int | None) -> None:
        """Mark one position and scroll to it."""
        if position != self._selected:
            self._selected = position
            if position is not None and position < self.positions:
                box, bar = self.token_box(0, position), self.horizontalScrollBar()
                if box.left() < self._labels or box.right() > self.viewport().width():
                    middle = (self._labels + self.viewport().width()) / 2
                    bar.setValue(int(bar.value() + box.center().x() - middle))
            self.viewport().update()

    @property
    def positions(self) -> int:
        """How many positions at least one of the lines has."""
        return len(self._differs)

    @property
    def marked(self) -> tuple[int, ...]:
        """The positions at which the lines differ."""
        return tuple(place for place, other in enumerate(self._differs) if other)

    def token_box(self, line: int, position: int) -> QRectF:
        """Return where a token is drawn, in pixels of the viewport."""
        left, right = self._lefts[position], self._lefts[position + 1]
        x = self._labels + left - self.horizontalScrollBar().value()
        return QRectF(x, line * px(_ROW), right - left, px(_ROW))

    def sizeHint(self) -> QSize:
        return QSize(px(400), 2 * px(_ROW) + 1)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), self.sizeHint().height())

    # --- inside ------------------------------------------------------------------------------------------

    def _label_width(self) -> float:
        """Measure the labels: painting asks for each token where it is."""
        metrics = QFontMetricsF(text_font(12))
        longest = max((metrics.horizontalAdvance(line.label) for line in self._lines), default=0.0)
        wanted = min(longest, float(px(_LONGEST_LABEL)), self.viewport().width() * _LABEL_SHARE)
        return px(_ROW) + wanted + 4 * UNIT

    def _measure(self) -> None:
        metrics = QFontMetricsF(mono_font(12))
        texts = {_at(line, position) for line in self._lines for position in range(self.positions)}
        width_of = {text: metrics.horizontalAdvance(text) for text in texts}  # most tokens come more than once
        self._labels = self._label_width()
        self._lefts = [0.0]
        for position in range(self.positions):
            widths = [width_of[_at(line, position)] + 3 * UNIT for line in self._lines]
            self._lefts.append(self._lefts[-1] + min(max(*widths, px(_LEAST)), px(_MOST)))
        bar = self.horizontalScrollBar()
        room = self.viewport().width() - self._labels
        bar.setRange(0, max(0, int(self._lefts[-1] - room)))
        bar.setPageStep(max(1, int(room)))
        self.setFixedHeight(self.sizeHint().height())
        self.viewport().update()

    def _position_at(self, point: QPointF) -> int | None:
        if point.x() < self._labels:
            return None
        place = self._position_left_of(point.x())
        return place if place < self.positions else None

    def _position_left_of(self, x: float) -> int:
        """Return the position whose token lies under ``x``, in pixels of the viewport; the first one before it."""
        return max(0, bisect_right(self._lefts, x - self._labels + self.horizontalScrollBar().value()) - 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        labels = self._labels
        for row, line in enumerate(self._lines):
            top = row * px(_ROW)
            painter.setClipping(False)
            painter.setFont(mono_font(12))
            painter.setPen(color(current().accent))
            draw_text(painter, QRectF(0, top, px(_ROW), px(_ROW)), line.letter, Qt.AlignmentFlag.AlignHCenter)
            painter.setFont(text_font(12))
            painter.setPen(color(current().muted))
            draw_text(painter, QRectF(px(_ROW), top, labels - px(_ROW) - 2 * UNIT, px(_ROW)), line.label)
            painter.setClipRect(QRectF(labels - 1, 0, self.viewport().width() - labels + 1, self.viewport().height()))
            painter.setFont(mono_font(12))
            last = self._position_left_of(self.viewport().width())
            for position in range(self._position_left_of(labels), min(last + 1, self.positions)):
                box = self.token_box(row, position)
                self._paint_token(painter, box.adjusted(1, 1.5, -1, -1.5), line, position)
        painter.setClipping(False)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(color(current().accent), 1))
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_token(self, painter: QPainter, box: QRectF, line: PairLine, position: int) -> None:
        theme = current()
        there, differs = position < len(line.tokens), self._differs[position]
        edge = theme.accent if position == self._selected else theme.warning if differs else theme.hairline
        painter.setPen(QPen(color(edge), 1))
        painter.setBrush(color(theme.warning, 0.16) if differs and there else color(theme.raised))
        if not there:
            painter.setBrush(colormaps.hatch(0.35))
        painter.drawRoundedRect(box, px(3), px(3))
        if there:
            painter.setPen(color(theme.text))
            draw_text(painter, box.adjusted(UNIT, 0, -UNIT, 0), line.tokens[position], Qt.AlignmentFlag.AlignHCenter)

    # --- events ------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = self._position_at(event.position())
        if position is not None:
            self.chosen.emit(position)

    def here_and_last(self) -> tuple[int, int]:
        return self._selected or 0, self.positions - 1

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_lines"):
            self._measure()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            position = self._position_at(QPointF(event.pos()))
            row = min(event.pos().y() // px(_ROW), len(self._lines) - 1)
            if self._lines and position is None:
                QToolTip.showText(
                    event.globalPos(), as_tip(f"{self._lines[row].letter}: {self._lines[row].label}"), self
                )
            elif position is not None:
                same = "different tokens" if self._differs[position] else "the same token"
                QToolTip.showText(event.globalPos(), f"position {position}: {same}", self)
            return True
        return super().viewportEvent(event)


def _at(line: PairLine, position: int) -> str:
    return line.tokens[position] if position < len(line.tokens) else "nothing"
