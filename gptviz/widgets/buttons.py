"""Buttons with a text, and a row of them."""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gptviz.widgets.theme import UNIT


def text_button(text: str, tip: str, key: str = "") -> QPushButton:
    """Return a button; ``key`` is its shortcut, which stands in the tooltip."""
    button = QPushButton(text)
    if key:
        button.setShortcut(key)
        tip = f"{tip} ({key})"
    button.setToolTip(tip)
    button.setAccessibleName(text)
    return button


def row_of(*widgets: QWidget) -> QWidget:
    """Return ``widgets`` side by side, from the left."""
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2 * UNIT)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch()
    return box
