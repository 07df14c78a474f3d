"""The numbers that another one was made from, as chips: what each is called, where it is, its value."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gptviz.widgets.text import as_tip, draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_HEIGHT, _GAP, _PAD = 28, 2 * UNIT, 2 * UNIT + 2  # px
_MOVES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


@dataclass(frozen=True)
class NumberChip:
    """One number; a ``link`` can be followed, anything else is an end, such as a weight."""

    symbol: str
    where: str
    value: str
    family: str
    link: bool
    tip: str


class NumberChips(QWidget):
    """Chips in as many lines as they need. A click follows one; arrow keys and Enter do too."""

    chosen = Signal(int)

    keeps_arrows = True

    def __init__(self) -> None:
        super().__init__()
        self._chips: tuple[NumberChip, ...] = ()
        self._hovered: int | None = None
        self._current = 0
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setAccessibleName("Made from")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def set_chips(self, chips: Sequence[NumberChip]) -> None:
        """Show ``chips``."""
        self._chips, self._hovered, self._current = tuple(chips), None, 0
        self.setAccessibleDescription("; ".join(f"{chip.symbol} {chip.where} {chip.value}" for chip in chips))
        self.updateGeometry()
        self.update()

    @property
    def chips(self) -> tuple[NumberChip, ...]:
        return self._chips

    def chip_box(self, place: int) -> QRectF:
        """Return where a chip is drawn."""
        return self._boxes(self.width())[place]

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        boxes = self._boxes(width)
        return round(boxes[-1].bottom()) + 1 if boxes else 0

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.heightForWidth(max(self.width(), px(320))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(160), 0)

    # --- inside ------------------------------------------------------------------------------------------

    def _boxes(self, width: float) -> list[QRectF]:
        boxes: list[QRectF] = []
        x = y = 0.0
        for chip in self._chips:
            needed = min(sum(self._widths(chip)) + 2 * px(_PAD) + 2 * px(_GAP), width - 1)
            if x and x + needed > width:
                x, y = 0.0, y + px(_HEIGHT) + px(UNIT)
            boxes.append(QRectF(x + 0.5, y + 0.5, needed, px(_HEIGHT) - 1))
            x += needed + px(_GAP)
        return boxes

    def _widths(self, chip: NumberChip) -> tuple[float, float, float]:
        mono, text = QFontMetricsF(mono_font(12)), QFontMetricsF(text_font(12))
        return (
            mono.horizontalAdvance(chip.symbol),
            text.horizontalAdvance(chip.where),
            mono.horizontalAdvance(chip.value),
        )

    def _chip_at(self, point: QPoint) -> int | None:
        return next((i for i, box in enumerate(self._boxes(self.width())) if box.contains(point)), None)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, (chip, box) in enumerate(zip(self._chips, self._boxes(self.width()), strict=True)):
            self._paint_chip(painter, chip, box, place)

    def _paint_chip(self, painter: QPainter, chip: NumberChip, box: QRectF, place: int) -> None:
        theme = current()
        tone = theme.families.get(chip.family, theme.muted)
        lit = chip.link and place == self._hovered
        focused = self.hasFocus() and place == self._current
        border = QPen(color(theme.accent if lit or focused else tone, 1.0 if lit or focused else 0.45), 1)
        if not chip.link:
            border.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(border)
        painter.setBrush(color(tone, 0.16 if lit else 0.09) if chip.link else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, px(UNIT) + 1, px(UNIT) + 1)
        symbol, _, value = self._widths(chip)
        inner = box.adjusted(px(_PAD), 0, -px(_PAD), 0)
        painter.setFont(mono_font(12))
        painter.setPen(color(tone))
        draw_text(painter, inner, chip.symbol)
        painter.setPen(color(theme.text))
        draw_text(painter, inner, chip.value, Qt.AlignmentFlag.AlignRight)
        painter.setFont(text_font(12))
        painter.setPen(color(theme.accent if lit else theme.muted))
        middle = inner.adjusted(symbol + px(_GAP), 0, -value - px(_GAP), 0)
        draw_text(painter, middle, chip.where)

    # --- events ------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hovered(self._chip_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)

    def _set_hovered(self, place: int | None) -> None:
        if place != self._hovered:
            self._hovered = place
            link = place is not None and self._chips[place].link
            self.setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._chip_at(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or place is None:
            event.ignore()
            return
        self._current = place
        self._follow(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._chips:
            self._follow(self._current)
        elif key in _MOVES and self._chips and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._current = min(max(self._current + _MOVES[key], 0), len(self._chips) - 1)
            self.update()
        else:
            super().keyPressEvent(event)

    def _follow(self, place: int) -> None:
        if self._chips[place].link:
            self.chosen.emit(place)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self._chip_at(event.pos())
            if place is not None:
                QToolTip.showText(event.globalPos(), as_tip(self._chips[place].tip), self)
            return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
