"""The question how many attention heads a checkpoint has."""

from PySide6.QtWidgets import QDialog, QWidget

from gptviz.app.dialog_layout import lay_out
from gptviz.app.dialog_text import paragraph
from gptviz.session.requests import HeadsQuestion
from gptviz.widgets.choice_box import ChoiceBox


class HeadsDialog(QDialog):
    """Offers every number that divides the features, the likeliest first chosen."""

    def __init__(self, question: HeadsQuestion, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("How many heads?")
        self.text = paragraph(
            f"{question.name} does not say how many attention heads its {question.emb_dim:,} features are dealt out to."
            "\n\nThe weights have the same shapes whatever the number is, so a wrong one gives wrong numbers and no "
            "error. Take the number that the model was trained with."
        )
        self.choice = ChoiceBox()
        self.choice.setAccessibleName("Number of heads")
        self.choice.setToolTip("Heads, and the features that each of them has")
        for heads in question.choices:
            size = question.emb_dim // heads
            self.choice.addItem(f"{heads:,} {'head' if heads == 1 else 'heads'} of {size:,}", heads)
        self.choice.setCurrentIndex(question.choices.index(question.proposal))
        self.ok, _ = lay_out(self, self.text, self.choice, accept="Open")
        self.choice.setFocus()

    @property
    def heads(self) -> int:
        """The number that is chosen."""
        return int(self.choice.currentData())
