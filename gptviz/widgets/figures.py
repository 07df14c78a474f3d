"""Named numbers in lines: each name small, its number beside it."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPointF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font

_ROW = 18  # px
_Group = Sequence[tuple[str, str]]


class Figures(QWidget):
    """Each group begins a line, and flows into as many as it needs."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: tuple[_Group, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def text(self) -> str:
        """All that is shown, as one line."""
        return "; ".join(f"{name} {value}" for group in self._groups for name, value in group)

    def set_groups(self, groups: Sequence[_Group]) -> None:
        """Show groups of names and values."""
        self._groups = tuple(groups)
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
        return QSize(px(120), px(_ROW))

    def _places(self, width: float) -> Iterator[tuple[int, float, str, str]]:
        """Yield the row and the left edge of each name and value."""
        names, values = QFontMetricsF(text_font(11)), QFontMetricsF(mono_font(12))
        row = -1
        for group in self._groups:
            x, row = 0.0, row + 1
            for name, value in group:
                needed = names.horizontalAdvance(name) + px(UNIT) + values.horizontalAdvance(value)
                if x and x + needed > width:
                    row, x = row + 1, 0.0
                yield row, x, name, value
                x += needed + px(3 * UNIT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        names, values = QFontMetricsF(text_font(11)), QFontMetricsF(mono_font(12))
        for row, x, name, value in self._places(self.width()):
            baseline = row * px(_ROW) + (px(_ROW) + values.ascent() - values.descent()) / 2
            painter.setFont(text_font(11))
            painter.setPen(color(current().muted))
            painter.drawText(QPointF(x, baseline), name)
            painter.setFont(mono_font(12))
            painter.setPen(color(current().text))
            painter.drawText(QPointF(x + names.horizontalAdvance(name) + px(UNIT), baseline), value)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self.update()
