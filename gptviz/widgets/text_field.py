"""A line of text with its name above, and below it what it means or why it is refused."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT


class TextField(QWidget):
    """``changed`` is emitted with each text that a person enters, as they type."""

    changed = Signal(str)

    def __init__(self, name: str, text: str, tip: str) -> None:
        super().__init__()
        self.edit = QLineEdit(text)
        self.edit.setAccessibleName(name)
        self.edit.setToolTip(tip)
        self.edit.textEdited.connect(self.changed)
        self.note = plain_label("count", wrap=True)
        self.warning = plain_label("fieldMessage", wrap=True)
        self.setFocusProxy(self.edit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        for widget in (self.edit, self.note, self.warning):
            column.addWidget(widget)
        self.accept("")

    @property
    def text(self) -> str:
        return self.edit.text()

    def set_text(self, text: str) -> None:
        """Show ``text`` without reporting a change."""
        if text != self.edit.text():
            self.edit.setText(text)

    def refuse(self, reason: str) -> None:
        """Say why the text can't be used."""
        self.warning.setText(reason)
        self._show(refused=True)

    def accept(self, note: str) -> None:
        """Say what the text means."""
        self.note.setText(note)
        self._show(refused=False)

    def _show(self, refused: bool) -> None:
        self.note.setVisible(not refused)
        self.warning.setVisible(refused)
        self.edit.setAccessibleDescription(self.warning.text() if refused else self.note.text())
        if self.edit.property("refused") != refused:
            self.edit.setProperty("refused", refused)
            self.edit.style().polish(self.edit)
