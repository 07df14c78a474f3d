"""Text to be read at leisure: paragraphs in a few styles, in which live values stand out."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import (
    QFont,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.theme import blend, color, current, mono_font, px, text_font

_SIZE, _MONO = 15, 13.5  # px
_LINE = 128  # per cent of the font's height
_GAP, _INDENT = 12, 16  # px after a paragraph; before an item


class Run(NamedTuple):
    """Words in one style: plain, bold, code or value."""

    text: str
    style: str


class Reading(QWidget):
    """As high as its text at the width that it gets. What is shown is never read as markup."""

    def __init__(self) -> None:
        super().__init__()
        self._paragraphs: tuple[tuple[bool, tuple[Run, ...]], ...] = ()
        self._document = QTextDocument(self)
        self._document.setDocumentMargin(0)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._document.setDefaultTextOption(option)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def text(self) -> str:
        """The words on screen, a line for each paragraph."""
        return "\n".join("".join(run.text for run in runs) for _, runs in self._paragraphs)

    def set_paragraphs(self, paragraphs: Sequence[tuple[bool, Sequence[Run]]]) -> None:
        """Show ``paragraphs``: for each whether it is an item of a list, and its words."""
        new = tuple((item, tuple(runs)) for item, runs in paragraphs)
        if new != self._paragraphs:
            self._paragraphs = new
            self.setAccessibleDescription(self.text)
            self._write()

    def _write(self) -> None:
        self._document.clear()
        cursor = QTextCursor(self._document)
        formats = _formats()
        for number, (item, runs) in enumerate(self._paragraphs):
            block = QTextBlockFormat()
            block.setLineHeight(_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            following = number + 1 < len(self._paragraphs)
            close = item and following and self._paragraphs[number + 1][0]
            block.setBottomMargin(px(_GAP / 2 if close else _GAP) if following else 0)
            if item:
                block.setLeftMargin(px(_INDENT))
                block.setTextIndent(-px(_INDENT) + 1)
            if number:
                cursor.insertBlock(block)
            else:
                cursor.setBlockFormat(block)
            if item:
                cursor.insertText("•\u2002", formats["bullet"])
            for run in runs:
                text = run.text.replace(" ", "\u00a0") if run.style == "value" else run.text  # a shape is not broken
                cursor.insertText(text, formats[run.style])
        self._document.setTextWidth(self.width())
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width != self._document.textWidth():
            self._document.setTextWidth(width)
        return round(self._document.size().height()) + 2

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.heightForWidth(max(self.width(), px(200))))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(160), px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._document.textWidth() != self.width():
            self._document.setTextWidth(self.width())
        painter = QPainter(self)
        self._document.drawContents(painter, QRectF(self.rect()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_document"):
            self._write()


def _formats() -> dict[str, QTextCharFormat]:
    theme = current()
    formats = {
        "plain": _format(text_font(_SIZE), theme.text),
        "bold": _format(text_font(_SIZE, QFont.Weight.DemiBold), theme.text),
        "code": _format(mono_font(_MONO), theme.text),
        "value": _format(mono_font(_MONO), theme.text),
        "bullet": _format(text_font(_SIZE), theme.muted),
    }
    formats["value"].setBackground(blend(theme.accent, theme.panel, 0.16))
    return formats


def _format(font: QFont, tone: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setFont(font)
    result.setForeground(color(tone))
    result.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignNormal)
    return result
