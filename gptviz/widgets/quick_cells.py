"""Cells whose model answers once for each: Qt's way asks a model nine times for every cell that it paints."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QIcon, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_Feature = QStyleOptionViewItem.ViewItemFeature


@dataclass(frozen=True)
class Look:
    """All that is drawn of a cell."""

    text: str
    font: QFont
    ink: QColor
    align: Qt.AlignmentFlag = LEFT
    icon: QIcon | None = None
    ground: QColor | None = None


class LookModel(Protocol):
    """A model that says in one answer how a cell looks."""

    def look(self, index: Index) -> Look: ...


class QuickCells(QStyledItemDelegate):
    """Draws the cells of a ``LookModel`` as the style would. What is asked for rarely, such as tooltips, stays Qt's."""

    def __init__(self, model: LookModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        look = self._model.look(index)
        option.index = index  # type: ignore[assignment]
        option.font = look.font
        option.fontMetrics = QFontMetrics(look.font)
        option.displayAlignment = look.align
        option.palette.setColor(QPalette.ColorRole.Text, look.ink)
        if look.text:
            option.features |= _Feature.HasDisplay
            option.text = look.text
        if look.icon is not None:
            option.features |= _Feature.HasDecoration
            option.icon = look.icon
        if look.ground is not None:
            option.backgroundBrush = QBrush(look.ground)
