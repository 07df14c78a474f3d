"""The question how many attention heads a checkpoint has."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from gptviz.app.dialog_text import paragraph
from gptviz.session.requests import HeadsQuestion
from gptviz.widgets.choice_box import ChoiceBox
from gptviz.widgets.theme import UNIT


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
        buttons = QDialogButtonBox()
        buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        self.ok = buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self.ok.setObjectName("primary")
        self.ok.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(5 * UNIT, 5 * UNIT, 5 * UNIT, 4 * UNIT)
        layout.setSpacing(4 * UNIT)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
        for part in (self.text, self.choice, buttons):
            layout.addWidget(part)
        self.choice.setFocus()

    @property
    def heads(self) -> int:
        """The number that is chosen."""
        return int(self.choice.currentData())
