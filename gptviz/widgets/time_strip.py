"""The text as a strip in time: the prompt's tokens, then those that were generated; the step on screen is marked."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip

from gptviz.widgets.text import as_tip, draw_text, visible
from gptviz.widgets.theme import UNIT, color, current, mono_font, px
from gptviz.widgets.token_line import TokenLine

_HEIGHT = 28  # px of a chip
_LONGEST = 140  # px of a chip's text
_PARTING = 20  # px between the prompt and what was generated


@dataclass(frozen=True)
class TimeChip:
    """One token; ``picked`` if a person chose it."""

    text: str
    picked: bool = False


class TimeStrip(TokenLine):
    """Clicks, ← and → go to a step: ``chosen`` tells its place among the generated tokens, from 0.

    The chips before the marked one are what the model saw for it, as far as they are in the context; the ones that fell
    out of it are struck through, and those that came later are only outlined.
    """

    def __init__(self) -> None:
        super().__init__("Text so far")
        self._chips: Sequence[TimeChip] = ()
        self._prompt = 0
        self._context = 0
        self._shown: int | None = None
        self._tip: Callable[[int], str] = lambda place: ""
        self._rights: list[float] = []
        self._fit()

    def set_text(self, chips: Sequence[TimeChip], prompt: int, context: int, tip: Callable[[int], str]) -> None:
        """Show ``chips``, of which the first ``prompt`` are the prompt's; the model sees ``context`` tokens at most.

        ``tip`` tells of the generated token at a place. Chips that are the same objects as before keep their places.
        """
        same = 0
        if prompt == self._prompt:
            limit = min(len(chips), len(self._chips))
            same = next((i for i in range(limit) if chips[i] is not self._chips[i]), limit)
        self._chips, self._prompt, self._context, self._tip = chips, prompt, context, tip
        self._measure(same)

    def set_shown(self, place: int | None) -> None:
        """Mark the generated token at ``place``, whose choice is on screen, and scroll to it.

        None if it is the choice of the next one, after all tokens.
        """
        self._shown = place
        self._scroll_to_mark()
        steps = len(self._chips) - self._prompt
        where = f"step {place + 1} of {steps}" if place is not None else "all tokens" if steps else "the prompt"
        self.setAccessibleDescription(f"{self._prompt} prompt tokens, {steps} generated; on screen: {where}")
        self.viewport().update()

    def chip_box(self, index: int) -> QRectF:
        """Return where a chip is drawn, in pixels of the viewport."""
        left = self._rights[index - 1] + UNIT if index else 1.0
        if index == self._prompt and index:
            left += px(_PARTING) - UNIT
        return QRectF(left - self.horizontalScrollBar().value(), 2, self._rights[index] - left, px(_HEIGHT) - 4)

    def sizeHint(self) -> QSize:
        return QSize(px(300), px(_HEIGHT) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(_HEIGHT) + 2)

    # --- inside ------------------------------------------------------------------------------------------

    @property
    def _mark(self) -> int | None:
        if self._shown is None or not self._chips:
            return None
        return min(self._prompt + self._shown, len(self._chips) - 1)

    def _scroll_to_mark(self) -> None:
        mark = self._mark
        if mark is not None:
            box, bar = self.chip_box(mark), self.horizontalScrollBar()
            if box.left() < 0 or box.right() > self.viewport().width():
                bar.setValue(int(bar.value() + box.center().x() - self.viewport().width() / 2))

    def _fit(self) -> None:
        self.setFixedHeight(px(_HEIGHT) + 2)

    def _measure(self, same: int = 0) -> None:
        """Lay out the chips from ``same`` on; those before are as they were."""
        metrics = QFontMetricsF(mono_font(12))
        rights = self._rights[:same]
        right = rights[-1] if rights else 1.0 - UNIT
        for index in range(same, len(self._chips)):
            gap = px(_PARTING) if index == self._prompt and index else UNIT
            text = visible(self._chips[index].text)
            right += gap + min(metrics.horizontalAdvance(text), px(_LONGEST)) + 3 * UNIT
            rights.append(right)
        self._rights = rights
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, int((rights[-1] if rights else 0) + UNIT - self.viewport().width())))
        bar.setPageStep(self.viewport().width())
        self.viewport().update()

    def _chip_at(self, point: QPoint) -> int | None:
        x = point.x() + self.horizontalScrollBar().value()
        index = bisect_right(self._rights, x)
        return index if index < len(self._rights) and self.chip_box(index).contains(point) else None

    # --- events ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(mono_font(12))
        offset, width = self.horizontalScrollBar().value(), self.viewport().width()
        first, last = bisect_right(self._rights, offset), bisect_right(self._rights, offset + width)
        for index in range(first, min(last + 1, len(self._chips))):
            self._paint_chip(painter, index)
        if 0 < self._prompt < len(self._chips):
            x = self.chip_box(self._prompt).left() - px(_PARTING) / 2
            painter.setPen(QPen(color(current().families["head"]), 2))
            painter.drawLine(QRectF(x, 3, 0, px(_HEIGHT) - 6).topLeft(), QRectF(x, 3, 0, px(_HEIGHT) - 6).bottomLeft())

    def _paint_chip(self, painter: QPainter, index: int) -> None:
        theme, box, chip = current(), self.chip_box(index).adjusted(0.5, 0.5, -0.5, -0.5), self._chips[index]
        mark = self._mark
        end = len(self._chips) if mark is None else mark
        later, fallen_out = index > end, index < end - self._context
        family = theme.families["head"] if index >= self._prompt else theme.muted
        if index == mark:
            painter.setPen(QPen(color(theme.accent), 2))
            painter.setBrush(color(theme.accent, 0.18))
        else:
            painter.setPen(QPen(color(family, 0.35) if later else color(theme.hairline), 1))
            plain = later or fallen_out
            painter.setBrush(Qt.BrushStyle.NoBrush if plain else color(family, 0.16 if index >= self._prompt else 0.12))
        painter.drawRoundedRect(box, UNIT, UNIT)
        painter.setPen(color(theme.muted if later or fallen_out else theme.text))
        draw_text(painter, box.adjusted(1.5 * UNIT - 1, 0, -UNIT, 0), visible(chip.text))
        if fallen_out:
            middle = box.center().y()
            painter.drawLine(QPoint(int(box.left() + UNIT), int(middle)), QPoint(int(box.right() - UNIT), int(middle)))
        if chip.picked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(theme.warning))
            painter.drawEllipse(QRectF(box.right() - 5, box.top() + 2, 4, 4))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._chip_at(event.position().toPoint())
        if index is not None and len(self._chips) > self._prompt:
            self.chosen.emit(max(0, index - self._prompt))

    def here_and_last(self) -> tuple[int, int]:
        last = len(self._chips) - self._prompt - 1
        return last + 1 if self._shown is None else self._shown, last

    def resizeEvent(self, event: QEvent) -> None:
        self._measure(len(self._chips))
        self._scroll_to_mark()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_rights"):
            self._fit()
            self._measure()
            self._scroll_to_mark()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._chip_at(event.pos())
            if index is not None:
                text = f"position {index} of the prompt" if index < self._prompt else self._tip(index - self._prompt)
                QToolTip.showText(event.globalPos(), as_tip(text), self)
            return True
        return super().viewportEvent(event)
