"""The stages of the forward pass as a tree: embeddings, blocks, output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QStandardItem, QStandardItemModel

from gptviz.capture.stages import Stage, catalogue
from gptviz.widgets.theme import current, mono_font, px, text_font

if TYPE_CHECKING:
    from gptviz.capture.trace import StageRecord
    from gptviz.model.config import GPTConfig

COLUMNS = ("Stage", "Operation", "Input → output", "Parameters", "ms")
STAGE, OPERATION, SHAPES, PARAMETERS, MS = range(5)
_NUMBERS = (PARAMETERS, MS)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_Role = Qt.ItemDataRole
MARK_WIDTH = 14  # px: the family's bar and room for a breakpoint's dot or an arrow
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


class ShapeTraceModel(QStandardItemModel):
    """All stages from the start; shapes and times appear as the stages finish.

    Qt keeps all that is drawn: a view that painted from Python would wait for the model's thread at each cell.
    What is written is not told to the view, which would look for every row again; it has to be repainted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._config: GPTConfig | None = None
        self._groups: tuple[Group, ...] = ()
        self._stages: tuple[Stage, ...] = ()
        self._group_rows: list[list[QStandardItem]] = []
        self._rows: list[list[QStandardItem]] = []  # of the stages, in their order
        self._records: Sequence[StageRecord] = ()
        self._icons: dict[tuple[str, bool, bool], QIcon] = {}
        self._held: str | None = None
        self._breakpoints: frozenset[str] = frozenset()
        self.setHorizontalHeaderLabels(COLUMNS)
        for column in _NUMBERS:
            self.setHeaderData(column, Qt.Orientation.Horizontal, _RIGHT, _Role.TextAlignmentRole)

    @property
    def groups(self) -> tuple[Group, ...]:
        return self._groups

    def set_config(self, config: "GPTConfig") -> None:
        """List the stages of a model of ``config``."""
        if config == self._config:
            return
        self.removeRows(0, self.rowCount())  # not the columns, whose widths the view would forget
        self._config, self._groups, self._records = config, groups_of(config), ()
        self._stages = tuple(stage for group in self._groups for stage in group.stages)
        self._group_rows, self._rows = [], []
        for group in self._groups:
            self._group_rows.append(_row(group.title))
            for stage in group.stages:
                self._rows.append(_row(stage.local_name, stage.operation))
                self._group_rows[-1][STAGE].appendRow(self._rows[-1])
        self.take_theme()
        for row in self._group_rows:
            self.appendRow(row)

    @property
    def records(self) -> "Sequence[StageRecord]":
        """The stages that have run."""
        return self._records

    def set_records(self, records: "Sequence[StageRecord]") -> None:
        """Take the shapes and times of the stages that have run."""
        before, self._records = self._records, records
        self._write({place: old for place, (old, new) in enumerate(zip_longest(before, records)) if old is not new})

    def set_marks(self, held: str | None, breakpoints: frozenset[str]) -> None:
        """Mark the stage at which a live pass waits, and those at which it will."""
        changed = {held, self._held} | (breakpoints ^ self._breakpoints)
        self._held, self._breakpoints = held, breakpoints
        with QSignalBlocker(self):
            for stage, row in zip(self._stages, self._rows, strict=True):
                if stage.name in changed:
                    self._mark(stage, row)

    def longest_shapes(self) -> int:
        """Return the number of characters of the longest pair of shapes."""
        return max((len(_shapes(record)) for record in self._records), default=0)

    def take_theme(self) -> None:
        """Draw everything in the present colours and fonts."""
        self._icons.clear()
        with QSignalBlocker(self):
            for row in self._group_rows:
                _dress(row, text_columns=(STAGE,))
            for stage, row in zip(self._stages, self._rows, strict=True):
                _dress(row, text_columns=(OPERATION,))
                self._mark(stage, row)
        self._write(dict.fromkeys(range(len(self._stages))))

    def stage_at(self, index: _Index) -> Stage | None:
        """Return the stage of a row; None for a group."""
        group = index.parent().row() if index.isValid() else -1
        return self._groups[group].stages[index.row()] if group >= 0 else None

    def stages_at(self, index: _Index) -> tuple[Stage, ...]:
        """Return the stage of a row, or all stages of a group's row."""
        stage = self.stage_at(index)
        return self._groups[index.row()].stages if stage is None else (stage,)

    def index_of(self, name: str) -> QModelIndex:
        """Return the row of a stage."""
        for stage, row in zip(self._stages, self._rows, strict=True):
            if stage.name == name:
                return row[STAGE].index()
        return QModelIndex()

    # --- inside ------------------------------------------------------------------------------------------

    def _write(self, changed: "Mapping[int, StageRecord | None]") -> None:
        """Write what differs from the records ``changed`` of before, and the groups that they are in."""
        with QSignalBlocker(self):
            for place, before in changed.items():
                self._write_stage(place, before)
            for group, row in zip(self._groups, self._group_rows, strict=True):
                if any(stage.index in changed for stage in group.stages):
                    self._write_group(group, row)

    def _write_stage(self, place: int, before: "StageRecord | None") -> None:
        stage, row = self._stages[place], self._rows[place]
        record = self._records[place] if place < len(self._records) else None
        row[MS].setData(None if record is None else _milliseconds(record.ms), _Role.DisplayRole)
        if record is not None and before is not None and _constant(record) == _constant(before):
            return
        row[SHAPES].setData(None if record is None else _shapes(record), _Role.DisplayRole)
        row[PARAMETERS].setData(_count(record), _Role.DisplayRole)
        row[STAGE].setToolTip(_tip(stage, record))
        ink = QColor(current().muted if record is None else current().text)
        for column in (STAGE, SHAPES):
            row[column].setData(ink, _Role.ForegroundRole)

    def _write_group(self, group: Group, row: list[QStandardItem]) -> None:
        done = self._records[group.stages[0].index : group.stages[-1].index + 1]
        complete = len(done) == len(group.stages)
        counted = f"{len(done)} of {len(group.stages)}…" if done and not complete else None
        row[OPERATION].setData(counted, _Role.DisplayRole)
        parameters, ms = sum(record.parameters for record in done), sum(record.ms for record in done)
        row[PARAMETERS].setData(f"{parameters:,}" if complete else None, _Role.DisplayRole)
        row[MS].setData(_milliseconds(ms) if complete else None, _Role.DisplayRole)
        row[STAGE].setData(QColor(current().text if done else current().muted), _Role.ForegroundRole)

    def _mark(self, stage: Stage, row: list[QStandardItem]) -> None:
        mark = stage.family.value, stage.name in self._breakpoints, stage.name == self._held
        if mark not in self._icons:
            self._icons[mark] = _icon(*mark)
        row[STAGE].setIcon(self._icons[mark])


def _icon(family: str, breakpoint_here: bool, held_here: bool) -> QIcon:
    """Draw the family's bar, and as debuggers do a dot for a breakpoint and an arrow where the pass waits."""
    pixmap = QPixmap(px(MARK_WIDTH), px(14))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(current().families[family]))
    painter.drawRoundedRect(0, 0, px(4), px(14), 2, 2)
    if breakpoint_here:
        painter.setBrush(QColor(current().error))
        painter.drawEllipse(px(6), px(3), px(8), px(8))
    if held_here:
        painter.setBrush(QColor(current().panel if breakpoint_here else current().accent))
        left, right, middle, half = (8, 13, 7, 3) if breakpoint_here else (6, 13, 7, 5)
        corners = ((left, middle - half), (right, middle), (left, middle + half))
        painter.drawPolygon([QPoint(px(x), px(y)) for x, y in corners])
    painter.end()
    return QIcon(pixmap)


def _row(*texts: str) -> list[QStandardItem]:
    return [QStandardItem(text) for text in texts] + [QStandardItem() for _ in COLUMNS[len(texts) :]]


def _dress(row: list[QStandardItem], text_columns: tuple[int, ...]) -> None:
    for column, item in enumerate(row):
        item.setFont(text_font(12) if column in text_columns else mono_font(11))
        item.setData(QColor(current().muted), _Role.ForegroundRole)
        if column in _NUMBERS:
            item.setTextAlignment(_RIGHT)


def _tip(stage: Stage, record: "StageRecord | None") -> str:
    if record is None:
        return f"{stage.name}: has not run\n{_BREAKPOINT_TIP}"
    shapes = f"{record.input_shape} → {record.output_shape}"
    return f"{stage.name}\n{stage.operation}: {shapes}\n{_BREAKPOINT_TIP}"


def _constant(record: "StageRecord") -> tuple[object, ...]:
    """Return what is the same in every pass on as many tokens."""
    return record.input_shape, record.output_shape, record.parameters


def _count(record: "StageRecord | None") -> str | None:
    return None if record is None or not record.parameters else f"{record.parameters:,}"


def _milliseconds(value: float) -> str:
    places = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"


def _shapes(record: "StageRecord") -> str:
    return f"{_compact(record.input_shape)} → {_compact(record.output_shape)}"


def _compact(sizes: Sequence[int]) -> str:
    return f"({','.join(str(size) for size in sizes)})"
