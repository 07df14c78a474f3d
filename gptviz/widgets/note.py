"""A muted explanation in as many lines as it needs, which does not claim its height before it knows its width."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel

from gptviz.widgets.theme import px, text_font


class Note(QLabel):
    """A wrapped QLabel asks for the height that it would have at its narrowest; this one for a line."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setObjectName("muted")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(60), QFontMetrics(text_font(12)).lineSpacing())
