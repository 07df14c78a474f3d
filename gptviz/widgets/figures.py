"""Named numbers in lines: each name small, its number beside it."""

from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW = 18  # px
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_Group = Sequence[tuple[str, str]]


class Figures(QWidget):
    """Each group begins a line, and flows into as many as it needs.

    Numbers that are links can be clicked; with the keyboard ← and → go from one to the next, Enter follows it.
    """

    chosen = Signal(str)  # the name of a number that is a link

    def __init__(self, aligned: bool = False) -> None:
        super().__init__()
        self._aligned = aligned  # whether numbers stand below each other; for groups of one
        self._groups: tuple[_Group, ...] = ()
        self._widths: dict[tuple[str, str], tuple[float, float]] | None = None  # None: to be measured
        self._links: tuple[str, ...] = ()
        self._current = 0
        self._hovered: str | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def text(self) -> str:
        """All that is shown, as one line."""
        return "; ".join(f"{name} {value}" for group in self._groups for name, value in group)

    @property
    def keeps_arrows(self) -> bool:
        """Whether ← and → are of use here."""
        return bool(self._links)

    def set_groups(self, groups: Sequence[_Group], links: Iterable[str] = ()) -> None:
        """Show groups of names and values; the names in ``links`` can be clicked, as far as they are there."""
        self._groups, self._widths = tuple(groups), None
        shown = [name for group in self._groups for name, _ in group]
        self._links = tuple(name for name in links if name in shown)
        self._hovered = None
        self._current = min(self._current, max(0, len(self._links) - 1))
        self.setMouseTracking(bool(self._links))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._links else Qt.FocusPolicy.NoFocus)
        self.setAccessibleDescription(self.text)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return px(_ROW) * (1 + max((row for row, *_ in self._places(width)), default=0))

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.heightForWidth(max(self.width(), px(320))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(_ROW) * (max(1, len(self._groups)) if self._aligned else 1))

    def _places(self, width: float) -> Iterator[tuple[int, float, str, str]]:
        """Yield the row and the left edge of each name and value."""
        measured = self._measured()
        row = -1
        for group in self._groups:
            x, row = 0.0, row + 1
            for name, value in group:
                needed = measured[name, value][1]
                if x and x + needed > width:
                    row, x = row + 1, 0.0
                yield row, x, name, value
                x += needed + px(3 * UNIT)

    def _measured(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the px that each name takes, and each name with its value: layouts ask many times for a height."""
        if self._widths is None:
            names, values = QFontMetricsF(text_font(11)), QFontMetricsF(mono_font(12))
            shown = [one for group in self._groups for one in group]
            widest = max((names.horizontalAdvance(name) for name, _ in shown), default=0.0)
            self._widths = {}
            for name, value in shown:
                own = widest if self._aligned else names.horizontalAdvance(name)
                self._widths[name, value] = own, own + px(UNIT) + values.horizontalAdvance(value)
        return self._widths

    def figure_box(self, name: str) -> QRectF:
        """Return where a number is drawn with its name; nowhere if there is none of that name."""
        for row, x, known, value in self._places(self.width()):
            if known == name:
                return QRectF(x, row * px(_ROW), self._measured()[name, value][1], px(_ROW))
        return QRectF()

    # --- links -------------------------------------------------------------------------------------------

    def _link_at(self, point: QPointF) -> str | None:
        return next((name for name in self._links if self.figure_box(name).contains(point)), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._link_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, name: str | None) -> None:
        if name != self._hovered:
            self._hovered = name
            self.setCursor(Qt.CursorShape.ArrowCursor if name is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        name = self._link_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and name is not None:
            self._current = self._links.index(name)
            self.chosen.emit(name)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is not None and self._links:
            self._current = min(max(self._current + step, 0), len(self._links) - 1)
            self.update()
        elif event.key() in _ENTER and self._links:
            self.chosen.emit(self._links[self._current])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # --- drawing -----------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        values = QFontMetricsF(mono_font(12))
        for row, x, name, value in self._places(self.width()):
            baseline = row * px(_ROW) + (px(_ROW) + values.ascent() - values.descent()) / 2
            painter.setFont(text_font(11))
            painter.setPen(color(current().muted))
            painter.drawText(QPointF(x, baseline), name)
            painter.setFont(mono_font(12))
            painter.setPen(color(current().text))
            left = x + self._measured()[name, value][0] + px(UNIT)
            painter.drawText(QPointF(left, baseline), value)
            if name in self._links:
                self._underline(painter, name, QPointF(left, baseline + px(3)), values.horizontalAdvance(value))

    def _underline(self, painter: QPainter, name: str, start: QPointF, width: float) -> None:
        """Mark a link: dotted, and a line in the accent's colour where it would be followed."""
        reached = name == self._hovered or (self.hasFocus() and name == self._links[self._current])
        style = Qt.PenStyle.SolidLine if reached else Qt.PenStyle.DotLine
        painter.setPen(QPen(color(current().accent if reached else current().muted), 1, style))
        painter.drawLine(start, start + QPointF(width, 0))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._widths = None
            self.updateGeometry()
            self.update()
