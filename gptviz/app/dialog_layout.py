"""What the small dialogs have in common: parts one below the other, and two buttons."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from gptviz.widgets.theme import UNIT


def lay_out(dialog: QDialog, *parts: QWidget, accept: str, reject: str = "Cancel") -> tuple[QPushButton, QPushButton]:
    """Put ``parts`` into ``dialog``, and below them two buttons with these texts, of which Enter presses the first.

    Returns the two buttons, the accepting one first.
    """
    buttons = QDialogButtonBox()
    no = buttons.addButton(reject, QDialogButtonBox.ButtonRole.RejectRole)
    yes = buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
    yes.setObjectName("primary")
    yes.setDefault(True)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    layout = QVBoxLayout(dialog)
    layout.setContentsMargins(5 * UNIT, 5 * UNIT, 5 * UNIT, 4 * UNIT)
    layout.setSpacing(4 * UNIT)
    layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
    for part in (*parts, buttons):
        layout.addWidget(part)
    return yes, no
