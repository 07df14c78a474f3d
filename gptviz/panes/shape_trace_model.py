"""The stages of the forward pass as a tree: embeddings, blocks, output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from gptviz.capture.stages import Stage, catalogue
from gptviz.widgets.quick_cells import LEFT, Look
from gptviz.widgets.theme import blend, current, mono_font, px, text_font

if TYPE_CHECKING:
    from gptviz.capture.trace import StageRecord
    from gptviz.model.config import GPTConfig

COLUMNS = ("Stage", "Operation", "Input → output", "Parameters", "ms")
STAGE, OPERATION, SHAPES, PARAMETERS, MS = range(5)
_NUMBERS = (PARAMETERS, MS)
MARK_WIDTH = 14  # px: the family's bar and room for a breakpoint's dot
_BREAKPOINT_TIP = "B or the context menu: hold a live pass here"
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Group:
    """Rows that fold together."""

    title: str
    stages: tuple[Stage, ...]


def groups_of(config: "GPTConfig") -> tuple[Group, ...]:
    """Divide the catalogue into embeddings, one group for each block, and output."""
    stages = catalogue(config)
    start = tuple(stage for stage in stages if stage.layer is None and stage.index < len(stages) // 2)
    end = tuple(stage for stage in stages if stage.layer is None and stage.index >= len(stages) // 2)
    blocks = [
        Group(f"Block {layer + 1}", tuple(stage for stage in stages if stage.layer == layer))
        for layer in range(config.n_layers)
    ]
    return Group("Embeddings", start), *blocks, Group("Output", end)


class ShapeTraceModel(QAbstractItemModel):
    """All stages from the start; shapes and times appear as the stages finish."""

    def __init__(self) -> None:
        super().__init__()
        self._config: GPTConfig | None = None
        self._groups: tuple[Group, ...] = ()
        self._records: Sequence[StageRecord] = ()
        self._icons: dict[tuple[str, bool], QIcon] = {}
        self._held: str | None = None
        self._breakpoints: frozenset[str] = frozenset()
        self._looks: dict[tuple[int, int, int], Look] = {}

    @property
    def groups(self) -> tuple[Group, ...]:
        return self._groups

    def set_config(self, config: "GPTConfig") -> None:
        """List the stages of a model of ``config``."""
        if config != self._config:
            self.beginResetModel()
            self._looks.clear()
            self._config, self._groups, self._records = config, groups_of(config), ()
            self.endResetModel()

    @property
    def records(self) -> "Sequence[StageRecord]":
        """The stages that have run."""
        return self._records

    def set_records(self, records: "Sequence[StageRecord]") -> None:
        """Take the shapes and times of the stages that have run.

        The view has to be repainted. dataChanged is not emitted: the view would ask for every row's index
        again, many times a second while the model runs.
        """
        if records is not self._records:
            self._records = records
            self._looks.clear()

    def set_marks(self, held: str | None, breakpoints: frozenset[str]) -> None:
        """Mark the stage at which a live pass waits, and those at which it will; the view has to be repainted."""
        self._held, self._breakpoints = held, breakpoints
        self._looks.clear()

    def longest_shapes(self) -> int:
        """Return the number of characters of the longest pair of shapes."""
        return max((len(_shapes(record)) for record in self._records), default=0)

    def forget_colours(self) -> None:
        """Draw the family marks anew, in the colours of another theme."""
        self._icons.clear()
        self._looks.clear()

    def stage_at(self, index: _Index) -> Stage | None:
        """Return the stage of a row; None for a group."""
        group = index.internalId() if index.isValid() else 0  # 0 for groups, else the group's row + 1
        return self._groups[group - 1].stages[index.row()] if group else None

    def stages_at(self, index: _Index) -> tuple[Stage, ...]:
        """Return the stage of a row, or all stages of a group's row."""
        stage = self.stage_at(index)
        return self._groups[index.row()].stages if stage is None else (stage,)

    def index_of(self, name: str) -> QModelIndex:
        """Return the row of a stage."""
        for row, group in enumerate(self._groups):
            for place, stage in enumerate(group.stages):
                if stage.name == name:
                    return self.index(place, 0, self.index(row, 0))
        return QModelIndex()

    # --- QAbstractItemModel ------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: _Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        return self.createIndex(row, column, 0 if not parent.isValid() else parent.row() + 1)

    def parent(self, index: _Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        group = index.internalId() if index.isValid() else 0
        return self.createIndex(group - 1, 0, 0) if group else QModelIndex()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return len(self._groups)
        return 0 if parent.internalId() or parent.column() else len(self._groups[parent.row()].stages)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        stage = self.stage_at(index)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if stage is None:
            return self._group_data(self._groups[index.row()], index.column(), role)
        return self._stage_data(stage, index.column(), role)

    def look(self, index: _Index) -> Look:
        """Say in one answer how a cell is drawn."""
        key = index.internalId(), index.row(), index.column()
        if key not in self._looks:
            role = Qt.ItemDataRole
            self._looks[key] = Look(
                self.data(index, role.DisplayRole) or "",
                self.data(index, role.FontRole),
                self.data(index, role.ForegroundRole),
                self.data(index, role.TextAlignmentRole) or LEFT,
                self.data(index, role.DecorationRole),
                self.data(index, role.BackgroundRole),
            )
        return self._looks[key]

    def _group_data(self, group: Group, column: int, role: int) -> Any:
        done = list(self._records[group.stages[0].index : group.stages[-1].index + 1])
        if role == Qt.ItemDataRole.FontRole:
            return text_font(12) if column == STAGE else mono_font(11)
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current().text if done and column == STAGE else current().muted)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        complete = len(done) == len(group.stages)
        if column == STAGE:
            return group.title
        if column == OPERATION and done and not complete:
            return f"{len(done)} of {len(group.stages)}…"
        if column == PARAMETERS and complete:
            return f"{sum(record.parameters for record in done):,}"
        if column == MS and complete:
            return _milliseconds(sum(record.ms for record in done))
        return None

    def _stage_data(self, stage: Stage, column: int, role: int) -> Any:
        record = self._records[stage.index] if stage.index < len(self._records) else None
        if role == Qt.ItemDataRole.DecorationRole and column == STAGE:
            return self._mark(stage.family.value, stage.name in self._breakpoints)
        if role == Qt.ItemDataRole.BackgroundRole and stage.name == self._held:
            return QColor(blend(current().accent, current().panel, 0.3))
        if role == Qt.ItemDataRole.FontRole:
            return text_font(12) if column == OPERATION else mono_font(11)
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current().text if record is not None and column in (STAGE, SHAPES) else current().muted)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(stage, record)
        return _cell(stage, record, column) if role == Qt.ItemDataRole.DisplayRole else None

    def _tip(self, stage: Stage, record: "StageRecord | None") -> str:
        if record is None:
            return f"{stage.name}: has not run\n{_BREAKPOINT_TIP}"
        shapes = f"{record.input_shape} → {record.output_shape}"
        return f"{stage.name}\n{stage.operation}: {shapes}\n{_BREAKPOINT_TIP}"

    def _mark(self, family: str, breakpoint_here: bool) -> QIcon:
        key = family, breakpoint_here
        if key not in self._icons:
            pixmap = QPixmap(px(MARK_WIDTH), px(14))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(current().families[family]))
            painter.drawRoundedRect(0, 0, px(4), px(14), 2, 2)
            if breakpoint_here:
                painter.setBrush(QColor(current().error))
                painter.drawEllipse(px(6), px(4), px(7), px(7))
            painter.end()
            self._icons[key] = QIcon(pixmap)
        return self._icons[key]


def _cell(stage: Stage, record: "StageRecord | None", column: int) -> str | None:
    if column == STAGE:
        return stage.local_name
    if column == OPERATION:
        return stage.operation
    if record is None:
        return None
    if column == SHAPES:
        return _shapes(record)
    if column == PARAMETERS:
        return f"{record.parameters:,}" if record.parameters else None
    return _milliseconds(record.ms)


def _milliseconds(value: float) -> str:
    places = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"


def _shapes(record: "StageRecord") -> str:
    return f"{_compact(record.input_shape)} → {_compact(record.output_shape)}"


def _compact(sizes: Sequence[int]) -> str:
    return f"({','.join(str(size) for size in sizes)})"
