"""How much of a run is saved."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from gptviz.app.dialog_layout import lay_out
from gptviz.app.dialog_text import paragraph
from gptviz.runs import DEFAULT_BUDGET
from gptviz.session.recording import amount_of
from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule

if TYPE_CHECKING:
    from gptviz.session.recording import Recording

_MEGABYTE = 2**20
_LARGEST = 1_000_000  # MB


class SaveDialog(QDialog):
    """Asks for the budget, and says what it takes in."""

    def __init__(self, recording: "Recording", budget: int | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._recording = recording
        self.setWindowTitle("Save run")
        self.text = paragraph(
            "One file that opens later, on another machine, without the model, and shows the same: prompt, tokens, "
            "branches, measurements, view, and tensors as far as the budget goes. The pass on screen comes first, with "
            "the insides of its blocks, then the passes of the other steps."
        )
        megabytes = round((DEFAULT_BUDGET if budget is None else budget) / _MEGABYTE)
        rule = NumberRule(whole=True, lowest=1, highest=_LARGEST)
        self.field = NumberField("Budget for tensors", megabytes, rule, tip="Megabytes of tensors", hint="MB")
        self.amount = paragraph("–", name="rowTitle")
        self.ok, _ = lay_out(self, self.text, self.field, self.amount, accept="Choose file…")
        self.field.changed.connect(self._show_amount)
        self.field.edit.textEdited.connect(self._show_amount)
        self._show_amount()
        self.field.setFocus()

    @property
    def budget(self) -> int:
        """Bytes of tensors."""
        return int(self.field.value) * _MEGABYTE

    def accept(self) -> None:
        """Go on unless the number is refused."""
        if not self.field.message:
            super().accept()

    def _show_amount(self, *_: object) -> None:
        if self.field.message:
            self.amount.setText("–")
            self.ok.setEnabled(False)
            return
        amount = amount_of(self._recording.request_for(self.budget))
        self.amount.setText(str(amount))
        self.ok.setEnabled(amount.blocks is not None)
