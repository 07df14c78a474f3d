"""Asking for the name of a model on the Hugging Face Hub."""

from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from gptviz.app.dialog_layout import lay_out
from gptviz.app.dialog_text import paragraph


class HubDialog(QDialog):
    """A name such as ``openai-community/gpt2``, or the address of its page."""

    def __init__(self, installed: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Open from Hugging Face")
        self.text = paragraph(
            "The model is downloaded into the cache that other programs use too; what is there already is not fetched "
            "again, and is enough without a network. A download that was cancelled goes on where it stopped."
            if installed
            else "Downloads need huggingface_hub, which is not installed. Run\n\n    pip install 'gptviz[hub]'\n\nand "
            "start gptviz again."
        )
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the model")
        self.name.setToolTip("owner/name, or the address of the model's page")
        self.name.setPlaceholderText("openai-community/gpt2 or distilbert/distilgpt2")
        self.name.setEnabled(installed)
        self.name.textChanged.connect(self._name_changed)
        self.ok, _ = lay_out(self, self.text, self.name, accept="Open")
        self.ok.setEnabled(False)
        self.name.setFocus()

    def _name_changed(self, text: str) -> None:
        self.ok.setEnabled(bool(text.strip()))
