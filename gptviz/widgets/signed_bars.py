"""What a sum is made of: a row for each term, with its factors and a bar to the left or the right of zero."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px

_ROW, _BAR = 22, 10  # px
_FACTOR, _VALUE = 9, 9  # characters
_LABELS = (24, 24, 12)  # characters, with no, one, and two factors
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class Factor:
    """One of the numbers that a term was made from; a ``link`` can be followed."""

    text: str
    link: bool


@dataclass(frozen=True)
class TermRow:
    """A row: ``fraction`` from -1 to 1 is the length of its bar. A ``quiet`` one stands for several terms."""

    label: str
    factors: tuple[Factor, ...]
    fraction: float
    value: str
    quiet: bool = False


class SignedBars(QWidget):
    """Paints the rows in sight alone. A click on a factor follows it; arrow keys and Enter do too."""

    chosen = Signal(int, int)  # row, factor
    row_reached = Signal(int, int)  # top and bottom, in px, of the row that the keyboard came to

    keeps_arrows = True

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self._row: Callable[[int], TermRow] | None = None
        self._total = ""
        self._signed = True
        self._current = (0, 0)
        self._hovered: tuple[int, int] | None = None
        self._factors = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Terms of the sum")

    def set_rows(self, count: int, row: Callable[[int], TermRow], total: str, signed: bool = True) -> None:
        """Show ``count`` rows, for which ``row`` is asked when they come into sight, and their ``total`` if any.

        Zero is in the middle where terms are ``signed``, else at the left.
        """
        self._count, self._row, self._total, self._signed = count, row, total, signed
        self._current, self._hovered = (0, 0), None
        first = [row(i) for i in range(min(count, 10))]
        self._factors = max((len(one.factors) for one in first), default=0)
        self.setAccessibleDescription("; ".join(f"{one.label} {one.value}" for one in first))
        self.updateGeometry()
        self.update()

    @property
    def count(self) -> int:
        return self._count

    def row(self, index: int) -> TermRow:
        """Return what a row shows."""
        assert self._row is not None
        return self._row(index)

    def factor_box(self, row: int, factor: int) -> QRectF:
        """Return where a factor is drawn."""
        left, width = self._columns()[1 + factor]
        return QRectF(left, row * px(_ROW), width, px(_ROW))

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(_ROW) * (self._count + bool(self._total)) + (px(UNIT) if self._total else 0))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(200), self.sizeHint().height())

    # --- inside ------------------------------------------------------------------------------------------

    def _columns(self) -> list[tuple[float, float]]:
        """Left edge and width of label, factors, bar and value."""
        digit = QFontMetricsF(mono_font(11)).horizontalAdvance("0")
        label, factor, value, gap = _LABELS[self._factors] * digit, _FACTOR * digit, _VALUE * digit, px(3 * UNIT)
        columns = [(0.0, label)]
        x = label + gap / 2
        for _ in range(self._factors):
            columns.append((x, factor))
            x += factor + gap
        columns.append((x, max(px(40), self.width() - x - value - gap)))
        columns.append((self.width() - value - 1.0, value))
        return columns

    def _zero(self, left: float, width: float) -> float:
        return left + width / 2 if self._signed else left

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, height = self._columns(), px(_ROW)
        bar = columns[-2]
        middle = round(self._zero(*bar)) + 0.5
        painter.setPen(QPen(color(current().hairline), 1))
        painter.drawLine(QPointF(middle, 0), QPointF(middle, self._count * height))
        for index in range(max(0, event.rect().top() // height), min(self._count, event.rect().bottom() // height + 1)):
            self._paint_row(painter, index, columns)
        if self._total:
            self._paint_total(painter, columns)

    def _paint_row(self, painter: QPainter, index: int, columns: list[tuple[float, float]]) -> None:
        row, theme, height = self.row(index), current(), px(_ROW)
        boxes = [QRectF(left, index * height, width, height) for left, width in columns]
        painter.setFont(mono_font(11))
        painter.setPen(color(theme.muted))
        label = boxes[0] if row.factors else QRectF(0, index * height, columns[-2][0] - px(UNIT), height)
        draw_text(painter, label, row.label)
        for place, factor in enumerate(row.factors):
            self._paint_factor(painter, boxes[1 + place], factor, (index, place))
            if place + 1 < len(row.factors):
                painter.setPen(color(theme.muted))
                between = QRectF(boxes[1 + place].right(), index * height, px(3 * UNIT), height)
                draw_text(painter, between, "·", Qt.AlignmentFlag.AlignHCenter)
        self._paint_bar(painter, boxes[-2], row)
        painter.setPen(color(theme.muted if row.quiet else theme.text))
        draw_text(painter, boxes[-1], row.value, Qt.AlignmentFlag.AlignRight)

    def _paint_factor(self, painter: QPainter, box: QRectF, factor: Factor, at: tuple[int, int]) -> None:
        theme = current()
        lit = factor.link and (at == self._hovered or (self.hasFocus() and at == self._current))
        painter.setPen(color(theme.accent if lit else theme.text))
        align = Qt.AlignmentFlag.AlignLeft if at[1] else Qt.AlignmentFlag.AlignRight  # around the dot between them
        draw_text(painter, box, factor.text, align)
        if lit:
            width = min(box.width(), QFontMetricsF(painter.font()).horizontalAdvance(factor.text))
            left, y = box.left() if at[1] else box.right() - width, box.center().y() + px(7)
            painter.setPen(QPen(color(theme.accent), 1))
            painter.drawLine(QPointF(left, y), QPointF(left + width, y))

    def _paint_bar(self, painter: QPainter, box: QRectF, row: TermRow) -> None:
        zero = self._zero(box.left(), box.width())
        length = max(1.5, (box.right() - zero) * min(1.0, abs(row.fraction))) if row.fraction else 0.0
        left = zero - length if row.fraction < 0 else zero
        negative, _, positive = current().diverging
        tone = negative if row.fraction < 0 else positive
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(tone, 0.35 if row.quiet else 0.9))
        painter.drawRoundedRect(QRectF(left, box.center().y() - px(_BAR) / 2, length, px(_BAR)), 1.5, 1.5)

    def _paint_total(self, painter: QPainter, columns: list[tuple[float, float]]) -> None:
        top = self._count * px(_ROW) + px(UNIT) / 2
        left = columns[-2][0]
        painter.setPen(QPen(color(current().muted), 1))
        painter.drawLine(QPointF(left, round(top) + 0.5), QPointF(self.width(), round(top) + 0.5))
        painter.setFont(mono_font(11))
        painter.setPen(color(current().muted))
        box = QRectF(left, top, columns[-1][0] - left, px(_ROW))
        draw_text(painter, box, "sum", Qt.AlignmentFlag.AlignLeft)
        painter.setPen(color(current().accent))
        draw_text(
            painter, box.adjusted(0, 0, self.width() - box.right() - 1, 0), self._total, Qt.AlignmentFlag.AlignRight
        )

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        """Return the row and the factor at ``point``; beside the factors it is the first that can be followed."""
        index = int(point.y() // px(_ROW))
        if self._row is None or not 0 <= index < self._count:
            return None
        factors = self.row(index).factors
        for place, factor in enumerate(factors):
            if factor.link and self.factor_box(index, place).contains(point):
                return index, place
        return next(((index, place) for place, factor in enumerate(factors) if factor.link), None)

    # --- events ------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hovered(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)

    def _set_hovered(self, at: tuple[int, int] | None) -> None:
        if at != self._hovered:
            self._hovered = at
            self.setCursor(Qt.CursorShape.ArrowCursor if at is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or at is None:
            event.ignore()
            return
        self.chosen.emit(*at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, (row, factor) = Qt.Key(event.key()), self._current
        if self._row is None or not self._count or event.modifiers() & Qt.KeyboardModifier.AltModifier:
            super().keyPressEvent(event)
        elif key in _ENTER:
            factors = self.row(row).factors
            if factor < len(factors) and factors[factor].link:
                self.chosen.emit(row, factor)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._move(row + (1 if key == Qt.Key.Key_Down else -1), factor)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._move(row, factor + (1 if key == Qt.Key.Key_Right else -1))
        else:
            super().keyPressEvent(event)

    def _move(self, row: int, factor: int) -> None:
        row = min(max(row, 0), self._count - 1)
        self._current = row, min(max(factor, 0), max(0, self._factors - 1))
        self.row_reached.emit(row * px(_ROW), (row + 1) * px(_ROW))
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
