"""A formula, set on one line or on as many as its clauses need."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.math_boxes import Gap, Line
from gptviz.widgets.math_markup import set_formula, spoken
from gptviz.widgets.theme import UNIT, color, current, px

_SIZE = 17  # px
_CLAUSE_GAP = 9 * UNIT


class Formula(QWidget):
    """Draws markup as ``math_markup`` reads it; what is too wide for the widget is drawn smaller."""

    def __init__(self, size: int = _SIZE) -> None:
        """Make a formula whose letters are ``size`` px high."""
        super().__init__()
        self._size = size
        self._markup = ""
        self._clauses: list[Line] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Formula")

    @property
    def markup(self) -> str:
        return self._markup

    def set_markup(self, markup: str) -> None:
        """Show the formula ``markup``."""
        if markup != self._markup:
            self._markup = markup
            self.setAccessibleDescription(spoken(markup))
            self._set()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        heights = sum((line.ascent + line.descent) * scale for line, scale in lines)
        return round(heights + max(0, len(lines) - 1) * px(2 * UNIT)) + 2

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.heightForWidth(max(self.width(), px(320))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), 0)

    # --- inside ------------------------------------------------------------------------------------------

    def _set(self) -> None:
        self._clauses = set_formula(self._markup, px(self._size)) if self._markup else []
        self.updateGeometry()
        self.update()

    def _lines(self, width: float) -> list[tuple[Line, float]]:
        """Return the clauses in lines, each with the scale that makes it fit."""
        gap = px(_CLAUSE_GAP)
        lines: list[list[Line]] = []
        for clause in self._clauses:
            used = sum(other.width + gap for other in lines[-1]) if lines else 0.0
            if lines and used + clause.width <= width:
                lines[-1].append(clause)
            else:
                lines.append([clause])
        joined = [_joined(parts, gap) for parts in lines]
        return [(line, min(1.0, (width - 1) / line.width) if line.width else 1.0) for line in joined]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(color(current().text))
        y = 1.0
        for line, scale in self._lines(self.width()):
            painter.save()
            painter.translate(0, y)
            painter.scale(scale, scale)
            line.draw(painter, 0, line.ascent)
            painter.restore()
            y += (line.ascent + line.descent) * scale + px(2 * UNIT)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._set()


def _joined(clauses: list[Line], gap: float) -> Line:
    parts: list[Line | Gap] = [clauses[0]]
    for clause in clauses[1:]:
        parts += [Gap(gap), clause]
    return Line(parts)
