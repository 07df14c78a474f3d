"""A small button beside the cell that was chosen: the way to its arithmetic, where the eyes are."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from gptviz.widgets.theme import px


class ExplainTag(QToolButton):
    """Stands below its cell or above it, where it touches it, so that the pointer gets there."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("tag")
        self.setText("Explain ›")
        self.setToolTip("Show how this number was made (Enter, or a double click on the cell)")
        self.setAccessibleName("Explain the chosen cell")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Enter on the cell does the same
        self.hide()

    def show_at(self, cell: QRectF) -> None:
        """Stand at ``cell``, in pixels of the parent."""
        room, size = self._parent.rect(), self.sizeHint()
        x = cell.center().x() - size.width() / 2
        y = cell.bottom() - px(2)
        if y + size.height() > room.height():
            y = cell.top() - size.height() + px(2)
        x = min(max(0.0, x), room.width() - size.width())
        self.setGeometry(round(x), round(max(0.0, y)), size.width(), size.height())
        self.show()
        self.raise_()
