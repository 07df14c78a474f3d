"""Columns of a lab, parted by hairlines; what no column wants stays empty at the right."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLayout, QVBoxLayout, QWidget

from gptviz.widgets.theme import UNIT, px

Part = QWidget | QLayout | int

_GAP = 5 * UNIT


class LabColumns(QWidget):
    """Each column is a list of widgets and layouts from top to bottom, with the widths it may have.

    A column grows with the window from its least to its greatest width; one with both equal is fixed. Where there is
    no room for all, as in lecture size, the last one stands below the others.
    """

    def __init__(self, columns: Sequence[tuple[Sequence[Part], int, int]]) -> None:
        """Make the columns: each the parts, the least and the greatest width in px; an int stretches."""
        super().__init__()
        self._limits = [(least, greatest) for _, least, greatest in columns]
        self._boxes: list[QWidget] = []
        self._lines = [_hairline() for _ in columns[1:]]
        self._narrow = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(_GAP)
        self._grid.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # narrower than all in a row
        for parts, *_ in columns:
            box = QWidget()
            box.setLayout(_stacked(parts))
            self._boxes.append(box)
        self._place()

    def minimumSizeHint(self) -> QSize:
        return QSize(self._least(self._limits[:-1]), self._grid.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _least(self, limits: Sequence[tuple[int, int]]) -> int:
        return sum(px(least) for least, _ in limits) + (len(limits) - 1) * (2 * _GAP + 1)

    def _place(self, again: bool = False) -> None:
        narrow = self.width() < self._least(self._limits)
        if self._grid.count() and narrow == self._narrow and not again:
            return
        self._narrow = narrow
        last = len(self._boxes) - 1
        for item in (*self._boxes, *self._lines):
            self._grid.removeWidget(item)
        for place, (box, (least, greatest)) in enumerate(zip(self._boxes, self._limits, strict=True)):
            below = narrow and place == last
            box.setMinimumWidth(px(least))
            box.setMaximumWidth(px(greatest))
            if below:
                self._grid.addWidget(box, 1, 2 * (last - 1), Qt.AlignmentFlag.AlignTop)
            else:
                self._grid.addWidget(box, 0, 2 * place)
                self._grid.setColumnStretch(2 * place, 0 if least == greatest else greatest)
            if place:
                line = self._lines[place - 1]
                self._grid.addWidget(line, 0, 2 * place - 1)  # before it is shown: else it would be a window
                line.setVisible(not below)
        self._grid.setColumnStretch(2 * last, 0 if narrow else self._limits[-1][1])
        self._grid.setColumnStretch(2 * last + 1, 1)
        self._grid.setRowStretch(0, 1)
        self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_grid"):
            self._place(again=True)


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
