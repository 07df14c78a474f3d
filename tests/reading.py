"""Reading what is painted: the words on a widget that draws them itself."""

from html import unescape
from re import findall

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget


def painted_words(widget: QWidget) -> list[str]:
    """Return every text that ``widget`` paints, in the order of painting."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture = QSvgGenerator()
    picture.setOutputDevice(buffer)
    picture.setSize(widget.size())
    QWidget.render(widget, picture)
    svg = bytes(buffer.data()).decode()
    return [unescape(text).strip() for text in findall(r"<text[^>]*>([^<]*)</text>", svg)]
