"""Rows of a name, one or two shapes, and the size of a difference as a bar and a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font, tone

NAME, SHAPE, DIFFERENCE = range(3)
_TITLES = ("Stage", "Shape", "Difference, relative to A")
_TIPS = (
    "Every stage of both runs; a click selects it",
    "The shape of the output; a size that differs is written as A | B",
    "‖B − A‖ / ‖A‖ over all numbers of the stage; the bar goes from 0 to 1",
)
_ROW, _BAR_WIDTH, _BAR = 22, 96, 5  # px
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class DifferenceRow:
    """One row. ``fraction`` is the bar's length from 0 to 1, None for no bar; ``warns`` marks differing shapes."""

    key: str
    family: str
    name: str
    shape: str
    warns: bool
    fraction: float | None
    value: str
    tip: str


class DifferenceModel(QAbstractTableModel):
    """Rows that only ever grow at the end, or are replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[DifferenceRow] = ()

    def set_rows(self, rows: Sequence[DifferenceRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(_TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section]
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return left if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (row.name, row.shape, row.value)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.tip
        return None


class DifferenceTable(QTableView):
    """``chosen`` tells the key of a row."""

    chosen = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._model = DifferenceModel()
        self._following = False
        self.setModel(self._model)
        self.setItemDelegate(_Delegate(self))
        self.setAccessibleName(name)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().currentChanged.connect(self._current_changed)
        self._fit()

    @property
    def rows(self) -> tuple[DifferenceRow, ...]:
        return tuple(self._model.rows)

    def set_rows(self, rows: Sequence[DifferenceRow]) -> None:
        """Show other rows; the place stays."""
        if list(rows) == list(self._model.rows):
            return
        place, key = self.verticalScrollBar().value(), self._key()
        self._model.set_rows(rows)
        self.follow(key)
        self.verticalScrollBar().setValue(place)

    def follow(self, key: str | None) -> None:
        """Make the row of ``key`` the current one, without telling."""
        row = next((place for place, row in enumerate(self._model.rows) if row.key == key), None)
        self._following = True
        if row is None:
            self.clearSelection()
        elif row != self.currentIndex().row():
            self.selectRow(row)
        self._following = False

    def _key(self) -> str | None:
        row = self.currentIndex().row()
        return self._model.rows[row].key if 0 <= row < len(self._model.rows) else None

    def _current_changed(self, index: QModelIndex, before: QModelIndex) -> None:
        key = self._key()
        if key is not None and not self._following and index.row() != before.row():
            self.chosen.emit(key)

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        room = self.viewport().width()
        difference = max(px(190), round(room * 0.36))
        name = min(max(px(150), round(room * 0.3)), px(260))
        for column, width in ((NAME, name), (SHAPE, max(px(80), room - name - difference)), (DIFFERENCE, difference)):
            self.setColumnWidth(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_model"):
            self._fit()


class _Delegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, DifferenceModel)
        row, box = model.rows[index.row()], QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        {NAME: _paint_name, SHAPE: _paint_shape, DIFFERENCE: _paint_difference}[index.column()](painter, box, row)
        painter.restore()


def _paint_name(painter: QPainter, box: QRectF, row: DifferenceRow) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color(tone(row.family)))
    painter.drawRoundedRect(QRectF(box.left() + UNIT, box.top() + px(4), px(3), box.height() - px(8)), 1, 1)
    painter.setFont(mono_font(11))
    painter.setPen(color(current().text))
    draw_text(painter, box.adjusted(px(3) + 3 * UNIT, 0, -UNIT, 0), row.name)


def _paint_shape(painter: QPainter, box: QRectF, row: DifferenceRow) -> None:
    painter.setFont(mono_font(11))
    painter.setPen(color(current().warning if row.warns else current().muted))
    draw_text(painter, box.adjusted(UNIT, 0, -UNIT, 0), row.shape)


def _paint_difference(painter: QPainter, box: QRectF, row: DifferenceRow) -> None:
    inner = box.adjusted(UNIT, 0, -2 * UNIT, 0)
    if row.fraction is None:
        painter.setFont(text_font(12))
        painter.setPen(color(current().muted))
        draw_text(painter, inner, row.value)
        return
    painter.setFont(mono_font(11))
    number = QFontMetricsF(painter.font()).horizontalAdvance("0" * 9)
    width = min(float(px(_BAR_WIDTH)), inner.width() - number - 2 * UNIT)
    track = QRectF(inner.left(), inner.center().y() - px(_BAR) / 2, width, px(_BAR))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color(current().raised))
    painter.drawRoundedRect(track, 2, 2)
    if row.fraction > 0:
        painter.setBrush(color(current().diverging[2]))
        painter.drawRoundedRect(track.adjusted(0, 0, -width * (1 - row.fraction), 0), 2, 2)
    painter.setPen(color(current().text))
    draw_text(painter, inner.adjusted(width + 2 * UNIT, 0, 0, 0), row.value)
