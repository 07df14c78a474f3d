"""The five lines of the loop: the code, the shapes that go in and come out, the time; the one that runs is lit."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font, tone

_ROW = 26  # px
_NUMBER = 20  # px of the line's number
_TIME = 76  # px


@dataclass(frozen=True)
class LoopRow:
    """One line: its code, the colour of its family, and what it did; empty before it ran."""

    code: str
    tone: str
    shapes: str
    time: str


class LoopView(QWidget):
    """Draws the lines; where the shapes have no room beside the code, they stand below it."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: Sequence[LoopRow] = ()
        self._lit: int | None = None
        self._waits = False
        self._needs = 0.0
        self.setAccessibleName("The loop, line by line")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_rows(self, rows: Sequence[LoopRow], lit: int | None, waits: bool) -> None:
        """Show ``rows``; ``lit`` is the one that runs, or that waits to run if ``waits``."""
        before = self._needs
        self._rows, self._lit, self._waits = rows, lit, waits
        self._measure()
        spoken = [f"{row.code}: {row.shapes or 'not run yet'} {row.time}".strip() for row in rows]
        if lit is not None:
            spoken.append(f"line {lit + 1} {'waits' if waits else 'runs'}")
        self.setAccessibleDescription("; ".join(spoken))
        if self._needs != before:
            self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:
        return px(_ROW) * max(5, len(self._rows)) * (1 if self._fits(width) else 2)

    def sizeHint(self) -> QSize:
        return QSize(px(440), self.heightForWidth(max(self.width(), px(300))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), px(_ROW) * 5)

    def _measure(self) -> None:
        """Note the width that code and shapes need side by side: the longest code has not the longest shapes."""
        shapes = QFontMetricsF(mono_font(11))
        widths = [_code_width(row) + shapes.horizontalAdvance(row.shapes) for row in self._rows]
        self._needs = px(_NUMBER) + max(widths, default=0.0) + 4 * UNIT + px(_TIME)

    def _fits(self, width: float) -> bool:
        return self._needs <= width

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fits = self._fits(self.width())
        height = px(_ROW) * (1 if fits else 2)
        for index, row in enumerate(self._rows):
            self._paint_row(painter, row, QRectF(0, index * height, self.width(), height), index, fits)

    def _paint_row(self, painter: QPainter, row: LoopRow, box: QRectF, index: int, fits: bool) -> None:
        theme, lit = current(), index == self._lit
        shade = tone(row.tone)
        if lit:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(shade, 0.12 if self._waits else 0.28))
            painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), UNIT, UNIT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(shade, 1.0 if lit or row.shapes else 0.35))
        painter.drawRoundedRect(QRectF(2, box.top() + px(6), 3, box.height() - px(12)), 1.5, 1.5)
        line = QRectF(box.left(), box.top(), box.width(), px(_ROW))
        painter.setFont(text_font(11))
        painter.setPen(color(theme.muted))
        draw_text(painter, line.adjusted(10, 0, 0, 0), str(index + 1))
        painter.setFont(mono_font(12))
        painter.setPen(color(theme.text))
        code = line.adjusted(px(_NUMBER) + 4, 0, 0, 0)
        code.setWidth(_code_width(row) + 2)
        draw_text(painter, code, row.code)
        painter.setFont(mono_font(11))
        time = QRectF(line.right() - px(_TIME), line.top(), px(_TIME) - UNIT, line.height())
        painter.setPen(color(theme.muted))
        draw_text(painter, time, "waits" if lit and self._waits else row.time, Qt.AlignmentFlag.AlignRight)
        shapes = QRectF(code.right() + 2 * UNIT, line.top(), 0, line.height())
        if not fits:
            shapes = QRectF(code.left(), line.bottom() - px(4), 0, line.height())
        shapes.setRight(time.left() if fits else box.right() - UNIT)
        painter.setPen(color(theme.text if row.shapes else theme.muted))
        align = Qt.AlignmentFlag.AlignRight if fits else Qt.AlignmentFlag.AlignLeft
        draw_text(painter, shapes, row.shapes, align)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_needs"):
            self._measure()
            self.updateGeometry()


def _code_width(row: LoopRow) -> float:
    return QFontMetricsF(mono_font(12)).horizontalAdvance(row.code)
