"""What is known of the model on screen."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLabel, QVBoxLayout, QWidget

from gptviz.app.dialog_text import one_line, paragraph
from gptviz.session.state import ModelInfo
from gptviz.widgets.theme import UNIT


class ModelDialog(QDialog):
    """Name, where it comes from, and its settings, to be read and copied."""

    def __init__(self, model: ModelInfo, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("About this model")
        title = paragraph(model.title, 460, "rowTitle")
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        form.setHorizontalSpacing(6 * UNIT)
        form.setVerticalSpacing(2 * UNIT)
        self.values = {name: (one_line if name == "Source" else paragraph)(value, 360) for name, value in facts(model)}
        for name, value in self.values.items():
            caption = QLabel(name)
            caption.setObjectName("muted")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            form.addRow(caption, value)
        buttons = QDialogButtonBox()
        buttons.addButton("Close", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(5 * UNIT, 5 * UNIT, 5 * UNIT, 4 * UNIT)
        layout.setSpacing(4 * UNIT)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
        layout.addWidget(title)
        layout.addLayout(form)
        layout.addWidget(buttons)


def facts(model: ModelInfo) -> tuple[tuple[str, str], ...]:
    """Return what there is to say of a model, as pairs of name and value."""
    config = model.config
    sizes = (
        f"{config.n_layers} blocks, {config.n_heads} heads of {config.head_dim}, {config.emb_dim:,} features, "
        f"{config.ff_dim:,} in the feed-forward's middle, context {config.context_length:,}"
    )
    if not model.trained:
        return (
            ("Weights", f"random, seed {model.seed}"),
            ("Parameters", f"{model.parameters:,}"),
            ("Architecture", sizes),
        )
    return (*model.facts, ("Architecture", sizes))
