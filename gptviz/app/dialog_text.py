"""Words in a dialog, as high as they need to be."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import px


def paragraph(text: str, width: int = 420, name: str = "") -> QLabel:
    """Return a label of ``width`` px at normal size: a dialog does not ask wrapped text for its height."""
    label = plain_label(name, text, wrap=True)
    label.ensurePolished()
    label.setFixedWidth(px(width))
    label.setFixedHeight(max(0, label.heightForWidth(px(width))))
    return label


def one_line(text: str, width: int) -> QLabel:
    """Return a label that leaves out the middle of a long path, which has no place to wrap; a tooltip has it whole."""
    label = paragraph("/", width)
    shown = label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, px(width))
    label.setText(shown)
    label.setToolTip(f"<p>{escape(text)}</p>" if shown != text else "")
    return label
