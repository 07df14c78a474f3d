"""Two columns side by side, or below each other where there is no room for both."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from gptviz.widgets.theme import UNIT, px


class TwoColumns(QWidget):
    """A subclass puts its columns into ``columns``, a layout that turns at ``least`` px."""

    def __init__(self, least: int) -> None:
        super().__init__()
        self._least = least
        self.columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self.columns.setContentsMargins(0, 0, 0, 0)
        self.columns.setSpacing(4 * UNIT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "columns"):
            self._turn()

    def _turn(self) -> None:
        wanted = QBoxLayout.Direction.LeftToRight
        if self.width() < px(self._least):
            wanted = QBoxLayout.Direction.TopToBottom
        if self.columns.direction() != wanted:
            self.columns.setDirection(wanted)
