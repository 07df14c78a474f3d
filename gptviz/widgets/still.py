"""A row that changes without the window being laid out anew."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget


class Still(QWidget):
    """Its ``row`` lays itself out in the place that there is: how wide its words are is nobody else's business.

    Elsewhere each new text of a label makes all layouts around it ask for all sizes again, up to the window and down
    into every dock.
    """

    def __init__(self) -> None:
        super().__init__()
        self._room = 0  # px
        self._inside = QWidget(self)  # in no layout: that is where a request to lay out ends
        self.row = QHBoxLayout(self._inside)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def keep_room(self, width: int) -> None:
        """Ask for ``width`` px instead of what others leave; in a narrow window it is less."""
        self._room = width
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._room, self._inside.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._inside.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._inside.setGeometry(self.rect())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
