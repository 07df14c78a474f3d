"""The rows of a waterfall, as Qt's views want them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPixmap

from gptviz.widgets.text import as_tip
from gptviz.widgets.theme import color, current, mono_font, px, text_font

PART, BAR, VALUE = range(3)
MARK = 4  # px, the width of the family's mark
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class WaterfallRow:
    """One part: its bar goes from ``start`` to ``end``; ``inner`` are the parts that it is the sum of.

    ``key`` tells rows apart while their numbers change. A ``total`` stands apart from what it is the sum of.
    """

    key: str
    title: str
    family: str
    start: float
    end: float
    written: str
    tip: str = ""
    inner: tuple["WaterfallRow", ...] = ()
    total: bool = False


class WaterfallModel(QAbstractItemModel):
    """Two levels: rows, and what is inside them."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self._titles = titles
        self._rows: tuple[WaterfallRow, ...] = ()
        self._icons: dict[tuple[str, bool], QIcon] = {}

    @property
    def rows(self) -> tuple[WaterfallRow, ...]:
        return self._rows

    def set_rows(self, rows: tuple[WaterfallRow, ...]) -> None:
        """Show ``rows``; what is opened and chosen stays as long as the same parts are there in the same order."""
        if _keys(rows) == _keys(self._rows):
            self._rows = rows
            return  # the view has to be repainted
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row_at(self, index: _Index) -> WaterfallRow | None:
        """Return what an index stands for."""
        if not index.isValid():
            return None
        parent = index.internalId()  # 0 at the top, else the parent's row + 1
        return self._rows[parent - 1].inner[index.row()] if parent else self._rows[index.row()]

    def forget_colours(self) -> None:
        """Draw the family marks anew, in the theme and the size in use."""
        self._icons.clear()

    def index_of(self, key: str) -> QModelIndex:
        """Return the index of a row; an invalid one if there is none."""
        for place, row in enumerate(self._rows):
            if row.key == key:
                return self.index(place, 0)
            for inside, inner in enumerate(row.inner):
                if inner.key == key:
                    return self.index(inside, 0, self.index(place, 0))
        return QModelIndex()

    # --- QAbstractItemModel ------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: _Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        return self.createIndex(row, column, 0 if not parent.isValid() else parent.row() + 1)

    def parent(self, index: _Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        parent = index.internalId() if index.isValid() else 0
        return self.createIndex(parent - 1, 0, 0) if parent else QModelIndex()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return len(self._rows)
        return 0 if parent.internalId() or parent.column() else len(self._rows[parent.row()].inner)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == VALUE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index)
        if row is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return (row.title, None, row.written)[column]
        if role == Qt.ItemDataRole.DecorationRole and column == PART:
            return self._mark(row.family, bool(index.internalId()))
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(row.tip) or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.title} {row.written}"
        if role == Qt.ItemDataRole.FontRole:
            weight = QFont.Weight.DemiBold if row.total else QFont.Weight.Normal
            return mono_font(12) if column == VALUE else text_font(12, weight)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == VALUE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current().muted if index.internalId() and column == PART else current().text)
        return None

    def _mark(self, family: str, inner: bool) -> QIcon:
        """A bar in the family's colour; a shorter one for what is inside."""
        if (family, inner) not in self._icons:
            pixmap = QPixmap(px(MARK), px(14))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(current().families[family], 0.6 if inner else 1.0))
            height = px(8 if inner else 14)
            painter.drawRoundedRect(0, (px(14) - height) // 2, px(MARK), height, 2, 2)
            painter.end()
            self._icons[family, inner] = QIcon(pixmap)
        return self._icons[family, inner]


def _keys(rows: tuple[WaterfallRow, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(row.key, tuple(inner.key for inner in row.inner)) for row in rows]
