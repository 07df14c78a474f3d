"""A few candidates side by side: token, probability, and a bar relative to the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_LINE, _BAR_LINE = 17, 13  # px
_LEAST, _MOST = 64, 200  # px of a candidate; where there is no room for all, the last ones give way


@dataclass(frozen=True)
class RowCandidate:
    """A token, its written probability, and its share of the first one's."""

    text: str
    value: str
    fraction: float


class CandidateRow(QWidget):
    """A heading, and the candidates under it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._heading = ""
        self._candidates: Sequence[RowCandidate] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """All that is shown, as one line."""
        return "; ".join([self._heading, *(f"{one.text} {one.value}" for one in self._candidates)])

    def set_candidates(self, heading: str, candidates: Sequence[RowCandidate]) -> None:
        """Show ``candidates``, the likeliest first."""
        if (heading, candidates) != (self._heading, self._candidates):
            self._heading, self._candidates = heading, candidates
            self.setAccessibleDescription(self.text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(400), 2 * px(_LINE) + px(_BAR_LINE))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(12))
        painter.setPen(color(current().muted))
        draw_text(painter, QRectF(0, 0, self.width(), px(_LINE)), self._heading)
        if not self._candidates:
            return
        room = self.width() + 3 * UNIT
        shown = self._candidates[: max(1, int(room / (px(_LEAST) + 3 * UNIT)))]
        width = min(float(px(_MOST)), room / len(shown))
        for place, candidate in enumerate(shown):
            box = QRectF(place * width, px(_LINE), width - 3 * UNIT, px(_LINE))
            self._paint_candidate(painter, box, candidate, first=place == 0)

    def _paint_candidate(self, painter: QPainter, box: QRectF, candidate: RowCandidate, first: bool) -> None:
        painter.setFont(mono_font(12))
        painter.setPen(color(current().text))
        draw_text(painter, box, candidate.text)
        small = mono_font(10)
        value = QFontMetricsF(small).horizontalAdvance(candidate.value)
        line = QRectF(box.left(), box.bottom(), box.width(), px(_BAR_LINE))
        painter.setFont(small)
        painter.setPen(color(current().muted))
        draw_text(painter, line, candidate.value, Qt.AlignmentFlag.AlignRight)
        track = QRectF(line.left(), line.center().y() - 1.5, line.width() - value - 2 * UNIT, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(track, 1.5, 1.5)
        painter.setBrush(color(current().families["head"], 1.0 if first else 0.6))
        length = max(3.0, track.width() * candidate.fraction) if candidate.fraction > 0 else 0.0
        painter.drawRoundedRect(QRectF(track.left(), track.top(), length, 3), 1.5, 1.5)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
