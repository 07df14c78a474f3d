"""The question what the tokens of a model with a vocabulary of its own are."""

from PySide6.QtWidgets import QDialog, QWidget

from gptviz.app.dialog_layout import lay_out
from gptviz.app.dialog_text import paragraph
from gptviz.session.requests import TableQuestion


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
        self.table, self.bare = lay_out(self, self.text, accept="Choose a table…", reject="Use bare IDs")
        self.bare.setToolTip("Write prompts as 0 1 2 (Esc)")
        self.table.setToolTip("Choose a text file with one token a line (Enter)")
