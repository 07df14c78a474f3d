"""A lab's controls at the left, its result beside them; on a wide screen the rest stays empty."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

from gptviz.widgets.side_column import SideColumn
from gptviz.widgets.theme import UNIT, px


class LabBody(QWidget):
    """The result is at most ``widest`` px wide; of its parts ``tall`` takes the height that is left."""

    def __init__(
        self, side: SideColumn, parts: Sequence[QWidget | QLayout], tall: QWidget | QLayout, widest: int
    ) -> None:
        super().__init__()
        self._widest = widest
        self._main = QWidget()
        column = QVBoxLayout(self._main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * UNIT)
        for part in parts:
            stretch = 1 if part is tall else 0
            if isinstance(part, QWidget):
                column.addWidget(part, stretch)
            else:
                column.addLayout(part, stretch)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5 * UNIT)
        row.addWidget(side)
        row.addWidget(self._main, 1000)
        row.addStretch(1)
        self._fit()

    def _fit(self) -> None:
        self._main.setMaximumWidth(px(self._widest))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
