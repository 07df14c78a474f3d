"""The tree of what was generated, in the loop pane: a row for each branch."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gptviz.panes.pane import differs
from gptviz.session.generation import Generation
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.branch_lanes import LANE, Lane, LaneDelegate
from gptviz.widgets.note import Note
from gptviz.widgets.text import as_tip, visible
from gptviz.widgets.theme import UNIT, mono_font, px, text_font

_COLUMNS = ("Branch", "Steps", "Text from the fork on")
_NAME, _STEPS = 128, 190  # px
_MARGINS = 16  # px
_MOST_NAME, _MOST_STEPS = 0.36, 0.3  # of the table's width, which the text shares
_WORDS = 40  # tokens of a branch's text that are shown
Index = QModelIndex | QPersistentModelIndex


class BranchesView(QWidget):
    """A click goes to a branch; its name is edited in place."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._following = False
        self.model = _Branches(session)
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName("Branches")
        self.table.setShowGrid(False)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.verticalHeader().hide()
        self.table.setItemDelegateForColumn(1, LaneDelegate(self.table))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)
        self.rename = QPushButton("Rename")
        self.rename.setToolTip("Give the present branch another name (double click on the name)")
        self.rename.setAccessibleName("Rename the branch")
        self.rename.clicked.connect(self._edit_name)
        self.note = Note("Picking another token at a step begins a branch. The others stay as they are.")
        row = QHBoxLayout()
        row.setSpacing(2 * UNIT)
        row.addWidget(self.rename)
        row.addWidget(self.note, 1, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)
        self._set_sizes()

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "generation"):
            return
        self._following = True
        self.model.set_generation(new.generation)
        self.table.selectRow(new.generation.branch)
        self._following = False
        self.rename.setEnabled(bool(new.generation.prompt))
        self._fit_columns()

    def _set_sizes(self) -> None:
        self.table.verticalHeader().setDefaultSectionSize(px(28))
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give names the width that they need, as far as the text keeps some."""
        metrics, width = QFontMetricsF(text_font(13, QFont.Weight.DemiBold)), self.table.viewport().width()
        longest = max(metrics.horizontalAdvance(branch.name) for branch in self._session.state.generation.branches)
        name = max(px(_NAME), int(min(longest + px(_MARGINS), width * _MOST_NAME)))
        for column, wanted in ((0, name), (1, min(px(_STEPS), int(width * _MOST_STEPS)))):
            if self.table.columnWidth(column) != wanted:
                self.table.setColumnWidth(column, wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _row_chosen(self, index: QModelIndex, before: QModelIndex) -> None:
        if index.isValid() and not self._following:
            self._session.travel.switch(index.row())

    def _edit_name(self) -> None:
        self.table.setFocus()
        self.table.edit(self.model.index(self._session.state.generation.branch, 0))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "rename"):
            self._set_sizes()


class _Branches(QAbstractTableModel):
    """A row for each branch; the name can be edited."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._generation = Generation()
        self._lanes: list[Lane] = []

    def set_generation(self, generation: Generation) -> None:
        """Show the branches of ``generation``; an editor stays open while their number is the same."""
        more = len(generation.branches) != len(self._generation.branches)
        if more:
            self.beginResetModel()
        self._generation = generation
        self._lanes = _lanes(generation)
        if more:
            self.endResetModel()
        else:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(_COLUMNS) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._generation.branches)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == 0 and self._generation.prompt else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        branch = self._generation.branches[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return (branch.name, "", self._text(index.row()))[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 0:
            return as_tip(branch.name)
        if role == LANE and index.column() == 1:
            return self._lanes[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 1:
            lane = self._lanes[index.row()]
            return f"steps {lane.first + 1} to {lane.last}" if lane.last > lane.first else "no step"
        if role == Qt.ItemDataRole.FontRole:
            present = index.row() == self._generation.branch
            weight = QFont.Weight.DemiBold if present else QFont.Weight.Normal
            return mono_font(11) if index.column() == 2 else text_font(13, weight)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() != 0:
            return False
        self._session.travel.rename(index.row(), str(value))
        return True

    def _text(self, branch: int) -> str:
        nodes = self._generation.path(branch)[self._generation.branches[branch].fork :][:_WORDS]
        return "".join(visible(self._session.token_text(self._generation.nodes[node].chosen.id)) for node in nodes)


def _lanes(generation: Generation) -> list[Lane]:
    lengths = [len(generation.path(branch)) for branch in range(len(generation.branches))]
    longest = max(lengths)
    forks = [(branch.origin, row, branch.fork) for row, branch in enumerate(generation.branches)]
    lanes = []
    for row, branch in enumerate(generation.branches):
        present = row == generation.branch
        passing = tuple(fork for origin, other, fork in forks if origin is not None and origin < row < other)
        leaving = tuple(fork for origin, _, fork in forks if origin == row)
        shown = generation.shown if present else None
        forked = branch.origin is not None
        lanes.append(Lane(branch.fork, lengths[row], longest, present, shown, passing, leaving, forked))
    return lanes
