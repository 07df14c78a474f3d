"""One number in words, and the way to its arithmetic."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT


class Readout(QWidget):
    """A line of text that may wrap, with a link beside it."""

    explain_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.label = plain_label("readout", wrap=True)
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.link = QToolButton()
        self.link.setObjectName("link")
        self.link.setText("Explain ›")
        self.link.setToolTip("Show how the selected number was made (Ctrl+E; on a cell Enter or a double click)")
        self.link.setAccessibleName("Explain the selected number")
        self.link.setCursor(Qt.CursorShape.PointingHandCursor)
        self.link.clicked.connect(self.explain_wanted)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(2 * UNIT)
        line.addWidget(self.label, 1)
        line.addWidget(self.link, 0, Qt.AlignmentFlag.AlignTop)

    def setText(self, text: str) -> None:
        """Show ``text``."""
        self.label.setText(text)

    def text(self) -> str:
        """What is shown."""
        return self.label.text()
