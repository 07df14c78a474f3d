"""The working of a number: a line for each step, with symbols, with numbers, and its result."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.math_boxes import Line
from gptviz.widgets.math_markup import set_formula, spoken
from gptviz.widgets.theme import UNIT, color, current, px, text_font

_SIZE = 15  # px
_NAME_GAP = 4 * UNIT  # px between names and equations
_EQUALS_GAP = 2 * UNIT  # px before an equals sign that stays in its line
_INDENT = 6 * UNIT  # px of a line that goes on with an equals sign
_LINE_GAP, _STEP_GAP = 2 * UNIT, 3 * UNIT + 2


@dataclass(frozen=True)
class WorkingStep:
    """One step in the markup of ``math_markup``; ``name`` is plain text, ``result`` may be empty."""

    name: str
    equation: str
    numbers: str
    result: str

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands between the equals signs."""
        return tuple(part for part in (self.equation, self.numbers, self.result) if part)


@dataclass(frozen=True)
class _Clause:
    """What no line ends within; one that ``begins`` something stands apart from what is before it."""

    line: Line
    begins: bool
    equals: bool
    result: bool

    @property
    def gap(self) -> float:
        """Room before it, in px, where it stands behind another one."""
        return px(_EQUALS_GAP) if self.begins else 0.0


@dataclass(frozen=True)
class _Placed:
    """A part of an equation, set: where it stands, and how much smaller than normal."""

    line: Line
    x: float
    baseline: float
    scale: float
    result: bool


class Working(QWidget):
    """Each step is one line if it fits; else it is continued below, beginning with an equals sign."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: tuple[WorkingStep, ...] = ()
        self._set: list[list[_Clause]] = []  # of each step
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Working")

    def set_steps(self, steps: Sequence[WorkingStep]) -> None:
        """Show ``steps``; the last one's result stands out."""
        self._steps = tuple(steps)
        self._set_all()
        self.setAccessibleDescription(self.text)
        self.updateGeometry()
        self.update()

    @property
    def text(self) -> str:
        """All that is shown, as one line."""
        lines = (" = ".join(spoken(part) for part in step.parts) for step in self._steps)
        return "; ".join(
            f"{step.name}: {line}" if step.name else line for step, line in zip(self._steps, lines, strict=True)
        )

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        bottom = 0.0
        for _, _, placed in self._layout(width):
            bottom = max(part.baseline + part.line.descent * part.scale for part in placed)
        return round(bottom) + 2

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.heightForWidth(max(self.width(), px(320))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(160), 0)

    # --- inside ------------------------------------------------------------------------------------------

    def _name_width(self) -> float:
        metrics = QFontMetricsF(text_font(12))
        widest = max((metrics.horizontalAdvance(step.name) for step in self._steps), default=0.0)
        return widest + px(_NAME_GAP) if widest else 0.0

    def _layout(self, width: float) -> Iterator[tuple[str, float, list[_Placed]]]:
        """Yield the name of each step, the baseline of its first line, and its parts."""
        left, y = self._name_width(), 1.0
        for step, clauses in zip(self._steps, self._set, strict=True):
            placed = list(self._placed(clauses, left, y, width))
            yield step.name, placed[0].baseline, placed
            y = max(part.baseline + part.line.descent * part.scale for part in placed) + px(_STEP_GAP)

    def _set_all(self) -> None:
        self._set = [
            [
                _Clause(
                    _set_clause(text), begins=text[0] not in "+−", equals=text[0] == "=", result=part is step.result
                )
                for place, part in enumerate(step.parts)
                for text in re.split(r"\s{3,}", f"= {part}" if place else part)
            ]
            for step in self._steps
        ]

    def _placed(self, clauses: list[_Clause], left: float, top: float, width: float) -> Iterator[_Placed]:
        for row, indent in _rows(clauses, width - left):
            used = sum(clause.line.width for clause in row)
            scale = min(1.0, (width - left - indent - 1) / max(1.0, used)) if len(row) == 1 else 1.0
            baseline = top + max(clause.line.ascent for clause in row) * scale
            x = left + indent
            for place, clause in enumerate(row):
                x += clause.gap if place else 0.0
                yield _Placed(clause.line, x, baseline, scale, clause.result)
                x += clause.line.width * scale
            top = baseline + max(clause.line.descent for clause in row) * scale + px(_LINE_GAP)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = current()
        steps = list(self._layout(self.width()))
        for number, (name, baseline, placed) in enumerate(steps):
            painter.setFont(text_font(12, QFont.Weight.Medium))
            painter.setPen(color(theme.muted))
            painter.drawText(QPointF(0, baseline), name)
            last = number == len(steps) - 1
            for part in placed:
                painter.save()
                painter.setPen(color(theme.accent if part.result and last else theme.text))
                painter.translate(part.x, part.baseline)
                painter.scale(part.scale, part.scale)
                part.line.draw(painter, 0, 0)
                painter.restore()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._set_all()
            self.updateGeometry()
            self.update()


def _set_clause(text: str) -> Line:
    """Set a clause; a sign that begins one has its room on both sides."""
    return set_formula(f"\\word{{}}{text}" if text[0] in "=+−" else text, px(_SIZE))[0]


def _rows(clauses: Sequence[_Clause], width: float) -> list[tuple[list[_Clause], float]]:
    """Fill lines of ``width`` px: what stands in each, and how far it is indented."""
    rows: list[tuple[list[_Clause], float]] = []
    used = 0.0
    for clause in clauses:
        if rows and used + clause.gap + clause.line.width <= width:
            rows[-1][0].append(clause)
            used += clause.gap + clause.line.width
        else:
            indent = 0.0 if not rows else px(_INDENT) if clause.equals else 2 * px(_INDENT)
            rows.append(([clause], indent))
            used = indent + clause.line.width
    return rows
