"""The question what the tokens of a model with a vocabulary of its own are."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from gptviz.app.dialog_text import paragraph
from gptviz.session.requests import TableQuestion
from gptviz.widgets.theme import UNIT


class TableDialog(QDialog):
    """Accepted if a table is to be chosen; rejected if bare IDs will do."""

    def __init__(self, question: TableQuestion, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Which tokens?")
        self.text = paragraph(
            f"{question.name} has a vocabulary of its own, with {question.vocab_size:,} tokens, and checkpoints don't "
            "say what the tokens are.\n\nIf you have a table of them, choose it: a text file with one token a line, "
            "the first line for ID 0; \\n stands for the line break. Without one, prompts and texts are rows of IDs."
        )
        buttons = QDialogButtonBox()
        self.bare = buttons.addButton("Use bare IDs", QDialogButtonBox.ButtonRole.RejectRole)
        self.table = buttons.addButton("Choose a table …", QDialogButtonBox.ButtonRole.AcceptRole)
        self.table.setObjectName("primary")
        self.table.setDefault(True)
        self.bare.setToolTip("Write prompts as 0 1 2 (Esc)")
        self.table.setToolTip("Choose a text file with one token a line (Enter)")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(5 * UNIT, 5 * UNIT, 5 * UNIT, 4 * UNIT)
        layout.setSpacing(4 * UNIT)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
