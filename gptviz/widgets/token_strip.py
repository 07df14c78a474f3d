"""Tokens as chips in one line: text with visible white space, and the ID."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip

from gptviz.widgets.text import draw_text, visible
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px
from gptviz.widgets.token_line import TokenLine

_MAX_TEXT = 180  # px of a chip's text
_CHIP, _NOTE = 24, 16  # px, heights
_STRONGEST = 0.5  # share of the colour that a note of 1 has: its text stays readable


@dataclass(frozen=True)
class Chip:
    """One token; ``group`` is the position of the first token of the same character."""

    text: str
    id: int
    bytes: bytes
    group: int


@dataclass(frozen=True)
class Note:
    """What stands under a chip: a short text, how strongly it is coloured from 0 to 1, and its tooltip."""

    text: str
    share: float
    tip: str


class TokenStrip(TokenLine):
    """A line of chips that scrolls sideways; click or arrow keys choose one."""

    def __init__(self) -> None:
        super().__init__("Tokens")
        self._chips: Sequence[Chip] = ()
        self._notes: Sequence[Note] | None = None
        self._lefts: list[float] = [0.0]
        self._selected: int | None = None

    def set_chips(self, chips: Sequence[Chip]) -> None:
        """Show ``chips`` from the left. Those that are as before keep their places: a generated text only grows."""
        pairs = enumerate(zip(chips, self._chips, strict=False))
        same = next((place for place, (new, old) in pairs if new != old), min(len(chips), len(self._chips)))
        self._chips = chips
        self._measure(same)
        self._describe()

    def set_notes(self, notes: Sequence[Note] | None) -> None:
        """Show a row of ``notes`` under the first chips, or no such row."""
        if notes != self._notes:
            self._notes = notes
            self._measure()
            self._describe()

    def set_selected(self, position: int | None) -> None:
        """Mark one chip and scroll to it."""
        if position != self._selected:
            self._selected = position
            if position is not None and position < len(self._chips):
                self._scroll_to(position)
            self.viewport().update()

    def chip_box(self, position: int) -> QRectF:
        """Return where a chip is drawn, in pixels of the viewport."""
        left, right = self._lefts[position], self._lefts[position + 1] - UNIT
        return QRectF(left - self.horizontalScrollBar().value() + 1, 1, right - left, px(_CHIP))

    def note_box(self, position: int) -> QRectF:
        """Return where the note under a chip is drawn, in pixels of the viewport."""
        box = self.chip_box(position)
        return QRectF(box.left(), box.bottom() + 2 * UNIT, box.width(), px(_NOTE))

    def chips_box(self) -> QRect:
        """Return where all chips in sight are, in pixels of the viewport."""
        end = self._lefts[-1] - UNIT - self.horizontalScrollBar().value()
        return QRect(0, 0, min(max(0, round(end)), self.viewport().width()), px(24) + 2)

    def sizeHint(self) -> QSize:
        notes = 0 if self._notes is None else px(_NOTE) + UNIT
        return QSize(px(300), px(_CHIP) + 2 * UNIT + notes)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), self.sizeHint().height())

    # --- inside ------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        notes = [f" {note.text}" for note in self._notes or ()]
        notes += [""] * (len(self._chips) - len(notes))
        spoken = (f"{visible(chip.text)} {chip.id}{note}" for chip, note in zip(self._chips[:64], notes, strict=False))
        self.setAccessibleDescription(", ".join(spoken))

    def _measure(self, same: int = 0) -> None:
        """Lay out the chips from ``same`` on; those before are as they were."""
        text, small = QFontMetricsF(mono_font(12)), QFontMetricsF(mono_font(10))
        self._lefts = self._lefts[: same + 1]
        for chip in self._chips[same:]:
            width = min(text.horizontalAdvance(visible(chip.text)), px(_MAX_TEXT))
            width += small.horizontalAdvance(str(chip.id)) + 5 * UNIT
            self._lefts.append(self._lefts[-1] + width + UNIT)
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, int(self._lefts[-1] - self.viewport().width())))
        bar.setPageStep(self.viewport().width())
        self.setFixedHeight(self.sizeHint().height())
        self.viewport().update()

    def _scroll_to(self, position: int) -> None:
        box, bar = self.chip_box(position), self.horizontalScrollBar()
        if box.left() < 0 or box.right() > self.viewport().width():
            bar.setValue(int(bar.value() + box.center().x() - self.viewport().width() / 2))

    def _chip_at(self, point: QPoint) -> int | None:
        inside = (
            position
            for position in self._in_sight(point.x(), point.x())
            if self.chip_box(position).united(self.note_box(position)).contains(point)
        )
        return next(inside, None)

    def _in_sight(self, left: float, right: float) -> range:
        """Return the chips that ``left`` to ``right`` may show, in pixels of the viewport."""
        start = self.horizontalScrollBar().value()
        first = bisect_right(self._lefts, start + left - 2)
        return range(max(0, first - 1), min(bisect_right(self._lefts, start + right), len(self._chips)))

    # --- events ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text_width_font, small_font = mono_font(12), mono_font(10)
        small = QFontMetricsF(small_font)
        for position in self._in_sight(0, self.viewport().width()):
            chip, box = self._chips[position], self.chip_box(position)
            selected = position == self._selected
            painter.setPen(QPen(color(current().accent if selected else current().hairline), 1))
            painter.setBrush(color(current().accent, 0.14) if selected else color(current().raised))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), UNIT, UNIT)
            inner = box.adjusted(2 * UNIT, 0, -2 * UNIT, 0)
            id_width = small.horizontalAdvance(str(chip.id)) + 1
            painter.setFont(text_width_font)
            painter.setPen(color(current().text))
            draw_text(painter, inner.adjusted(0, 0, -id_width - UNIT + 2, 0), visible(chip.text))
            painter.setFont(small_font)
            painter.setPen(color(current().muted))
            draw_text(painter, inner.adjusted(inner.width() - id_width, 1, 1, 0), str(chip.id))
            if chip.group != position or self._is_split(position):
                self._draw_bracket(painter, position, box)
            if self._notes is not None and position < len(self._notes):
                self._draw_note(painter, self._notes[position], self.note_box(position))

    def _draw_note(self, painter: QPainter, note: Note, box: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        share = _STRONGEST * min(max(note.share, 0.0), 1.0)
        painter.setBrush(blend(current().families["head"], current().window, share))
        painter.drawRoundedRect(box, UNIT / 2, UNIT / 2)
        painter.setFont(mono_font(10))
        painter.setPen(color(current().text))
        draw_text(painter, box, note.text, Qt.AlignmentFlag.AlignHCenter)

    def _is_split(self, position: int) -> bool:
        return position + 1 < len(self._chips) and self._chips[position + 1].group == position

    def _draw_bracket(self, painter: QPainter, position: int, box: QRectF) -> None:
        """Underline the chips that make one character together."""
        y = box.bottom() + 3
        first = self._chips[position].group == position
        last = position + 1 == len(self._chips) or self._chips[position + 1].group != self._chips[position].group
        left, right = box.left() + (2 if first else -UNIT), box.right() - (2 if last else 0)
        painter.setPen(QPen(color(current().warning), 1.5))
        painter.drawLine(QRectF(left, y, right - left, 0).topLeft(), QRectF(left, y, right - left, 0).topRight())
        for x in ([left] if first else []) + ([right] if last else []):
            painter.drawLine(QRectF(x, y - 3, 0, 3).topLeft(), QRectF(x, y - 3, 0, 3).bottomLeft())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = self._chip_at(event.position().toPoint())
        if position is not None:
            self.chosen.emit(position)

    def here_and_last(self) -> tuple[int, int]:
        return self._selected or 0, len(self._chips) - 1

    def resizeEvent(self, event: QEvent) -> None:
        self._measure(len(self._chips))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            position = self._chip_at(event.pos())
            if position is not None:
                chip = self._chips[position]
                tip = f"position {position} · ID {chip.id} · bytes {chip.bytes.hex(' ')}"
                if self._notes is not None and position < len(self._notes):
                    tip += f"\n{self._notes[position].tip}"
                QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().viewportEvent(event)
