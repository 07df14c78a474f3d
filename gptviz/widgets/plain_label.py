"""A label that shows its text as it is."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel


def plain_label(name: str, text: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """Return a label that takes nothing in ``text`` for markup; ``name`` says how the style sheet draws it.

    ``wrap`` lets long text take several lines, and ``selectable`` lets it be copied with the mouse.
    """
    label = QLabel(text)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    if selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
