"""The top of a lab: what it asks, how it is used, and the way back to the chapter's figures."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, px

RESET_KEY = "Ctrl+Shift+R"


class LabHeader(QWidget):
    """A question, a sentence, and a button that brings the chapter's figures back."""

    reset = Signal()

    def __init__(self, question: str, sentence: str, reset_text: str = "Reset to the chapter's figures") -> None:
        super().__init__()
        self.question = plain_label("labQuestion", question)
        self.sentence = plain_label("muted", sentence, wrap=True)
        self.button = QPushButton(reset_text)
        self.button.setObjectName("reset")
        self.button.setShortcut(RESET_KEY)
        self.button.setToolTip(f"{reset_text} ({RESET_KEY})")
        self.button.setAccessibleName(reset_text)
        self.button.clicked.connect(self.reset)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        words = QVBoxLayout()
        words.setSpacing(UNIT)
        words.addWidget(self.question)
        words.addWidget(self.sentence)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6 * UNIT)
        row.addLayout(words, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self._draw_icon()

    def _draw_icon(self) -> None:
        self.button.setIcon(icon("reset"))
        self.button.setIconSize(QSize(px(14), px(14)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "button"):
            self._draw_icon()
