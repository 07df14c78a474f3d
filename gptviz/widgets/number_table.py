"""A table of written numbers that can be read, scrolled through and copied."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from gptviz.widgets.theme import UNIT, blend, current, mono_font, px

Index = QModelIndex | QPersistentModelIndex
_ROW = 26  # px
_MOST = 8  # rows in sight; the table scrolls to the others
_NOWHERE = QModelIndex()
_SAMPLE = 200  # rows that are measured for the width of a column


class NumberTable(QTableView):
    """Shows rows of text, right-aligned; one of them may be marked. As wide as its numbers and no wider."""

    keeps_arrows = True

    def __init__(self, name: str, headers: Sequence[str], tips: Sequence[str] = ()) -> None:
        super().__init__()
        self._model = _Model(headers, tips)
        self.setModel(self._model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)  # Tab leaves the table
        self.setItemDelegate(_Delegate(self))
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._fit()

    def set_rows(self, rows: Sequence[Sequence[str]], marked: int | None = None) -> None:
        """Show ``rows``; the row ``marked`` stands out."""
        self._model.set_rows(rows, marked)
        self._fit()

    @property
    def rows(self) -> list[list[str]]:
        """All that is shown, row by row."""
        return [list(row) for row in self._model.rows]

    def sizeHint(self) -> QSize:
        width = sum(self.columnWidth(column) for column in range(self._model.columnCount()))
        height = self.horizontalHeader().height() + px(_ROW) * min(len(self._model.rows), _MOST)
        bar = self.verticalScrollBar().sizeHint().width() if len(self._model.rows) > _MOST else 0
        return QSize(width + bar + 2, height + 2)

    def minimumSizeHint(self) -> QSize:
        shown = min(len(self._model.rows), 4)
        return QSize(min(self.sizeHint().width(), px(320)), self.horizontalHeader().height() + px(_ROW) * shown)

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        self.horizontalHeader().setFixedHeight(px(_ROW))
        numbers, words = QFontMetrics(mono_font(12)), self.horizontalHeader().fontMetrics()
        for column, title in enumerate(self._model.headers):
            widest = max((numbers.horizontalAdvance(row[column]) for row in self._model.rows[:_SAMPLE]), default=0)
            self.setColumnWidth(column, max(widest, words.horizontalAdvance(title)) + 5 * UNIT)
        self.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            chosen = sorted({index.row() for index in self.selectedIndexes()})
            QGuiApplication.clipboard().setText("\n".join("\t".join(self._model.rows[row]) for row in chosen))
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_model"):
            self._fit()


class _Delegate(QStyledItemDelegate):
    """Paints what the style sheet would not: the background of the row that stands out."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        background = index.data(Qt.ItemDataRole.BackgroundRole)
        if background is not None:
            painter.fillRect(option.rect, background)
        super().paint(painter, option, index)


class _Model(QAbstractTableModel):
    def __init__(self, headers: Sequence[str], tips: Sequence[str]) -> None:
        super().__init__()
        self.headers = headers
        self._tips = tips
        self.rows: tuple[Sequence[str], ...] = ()
        self._marked: int | None = None

    def set_rows(self, rows: Sequence[Sequence[str]], marked: int | None) -> None:
        same = len(rows) == len(self.rows)
        if not same:
            self.beginResetModel()
        self.rows, self._marked = tuple(rows), marked
        if same and rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(self.headers) - 1))
        elif not same:
            self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.headers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.FontRole:
            return mono_font(12)
        if role == Qt.ItemDataRole.BackgroundRole and index.row() == self._marked:
            return blend(current().accent, current().panel, 0.1)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.headers[section]
            if role == Qt.ItemDataRole.ToolTipRole and section < len(self._tips):
                return self._tips[section]
        return None
