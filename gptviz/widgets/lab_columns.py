"""Columns of a lab, parted by hairlines; what no column wants stays empty at the right."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from gptviz.widgets.theme import UNIT, px

Part = QWidget | QLayout | int

_GAP = 5 * UNIT


class LabColumns(QWidget):
    """Each column is a list of widgets and layouts from top to bottom, with the widths it may have.

    A column grows with the window from its least to its greatest width; one with both equal is fixed.
    """

    def __init__(self, columns: Sequence[tuple[Sequence[Part], int, int]]) -> None:
        """Make the columns: each the parts, the least and the greatest width in px; an int stretches."""
        super().__init__()
        self._limits: list[tuple[QWidget, int, int]] = []
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP)
        for place, (parts, least, greatest) in enumerate(columns):
            if place:
                row.addWidget(_hairline())
            box = QWidget()
            box.setLayout(_stacked(parts))
            self._limits.append((box, least, greatest))
            row.addWidget(box, 0 if least == greatest else greatest)
        row.addStretch(1)
        self._fit()

    def _fit(self) -> None:
        for box, least, greatest in self._limits:
            box.setMinimumWidth(px(least))
            box.setMaximumWidth(px(greatest))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()


def _stacked(parts: Sequence[Part]) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2 * UNIT)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part)
        elif isinstance(part, int):
            column.addStretch(part)
        else:
            column.addLayout(part)
    return column


def _hairline() -> QFrame:
    line = QFrame()
    line.setObjectName("hairline")
    line.setFixedWidth(1)
    return line
