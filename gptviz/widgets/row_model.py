"""The numbers of an editable row, and what was computed from each of them below."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from gptviz.widgets.number_rule import NumberRule, RefusedError, write
from gptviz.widgets.text import number
from gptviz.widgets.theme import mono_font

Array = np.ndarray[Any, np.dtype[Any]]
Index = QModelIndex | QPersistentModelIndex

_NOWHERE = QModelIndex()


class RowModel(QAbstractTableModel):
    """Row 0 is edited; a cell whose text is refused keeps the text, and its last good number counts."""

    edited = Signal()

    def __init__(self, title: str, rule: NumberRule) -> None:
        super().__init__()
        self._title = title
        self._rule = rule
        self.values: list[float] = []
        self.largest = 0.0
        self.refused: dict[int, tuple[str, str]] = {}  # column: what stands there, and why it is refused
        self._rows: Sequence[tuple[str, Array]] = ()

    def set_values(self, values: Sequence[float]) -> None:
        """Show other numbers; what was computed from the old ones goes."""
        self.beginResetModel()
        self.values, self.refused, self._rows = list(values), {}, ()
        self._measure()
        self.endResetModel()

    def set_computed(self, rows: Sequence[tuple[str, Array]]) -> None:
        """Show below what was computed: a name and as many numbers as the row has."""
        if len(rows) != len(self._rows):
            self.beginResetModel()
            self._rows = rows
            self._measure()
            self.endResetModel()
            return
        self._rows = rows
        self._measure()
        self.dataChanged.emit(self.index(1, 0), self.index(len(rows), max(0, len(self.values) - 1)))

    def number_at(self, index: Index) -> float:
        """Return the number of a cell; NaN where there is none."""
        if index.row() == 0:
            return self.values[index.column()]
        values = self._rows[index.row() - 1][1]
        return float(values[index.column()]) if index.column() < len(values) else float("nan")

    def _measure(self) -> None:
        """Find the largest finite absolute value of all rows, for the tints."""
        rows = (np.array(self.values, dtype=np.float64), *(values for _, values in self._rows))
        found = np.abs(np.concatenate(rows))
        found = found[np.isfinite(found)]
        self.largest = float(found.max()) if found.size else 0.0

    # --- Qt's model --------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1 + len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.values)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.row() == 0 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            if index.row() == 0 and index.column() in self.refused:
                return self.refused[index.column()][0]
            value = self.number_at(index)
            as_typed = role == Qt.ItemDataRole.EditRole or (index.row() == 0 and value == round(value, 2))
            return write(value) if as_typed else _written(value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.FontRole:
            return mono_font(12)
        if role == Qt.ItemDataRole.ToolTipRole and index.row() == 0:
            return self.refused.get(index.column(), ("", "Type a number; Ctrl+V pastes a list"))[1]
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.row() != 0:
            return False
        column, text = index.column(), str(value)
        was_refused = self.refused.pop(column, None) is not None
        if text != write(self.values[column]):  # what is written may be rounded
            try:
                self.values[column] = self._rule.read(text)
            except RefusedError as error:
                self.refused[column] = (text, str(error))
        elif not was_refused:
            return True
        self.dataChanged.emit(index, index)
        self.edited.emit()
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            if orientation == Qt.Orientation.Horizontal:
                return str(section + 1)
            return self._title if section == 0 else self._rows[section - 1][0]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if orientation == Qt.Orientation.Vertical else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


def _written(value: float) -> str:
    """Write a number with four places, as torch prints them, as long as that says something."""
    if value == 0 or not 5e-5 <= abs(value) < 10:
        return number(value, 4 if abs(value) >= 10 else 2)
    return f"{value:.4f}".replace("-", "−")
