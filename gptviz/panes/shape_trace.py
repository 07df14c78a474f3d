"""Shape trace: every stage of the pass with its shapes, filling while the model runs."""

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QHelpEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs
from gptviz.panes.shape_trace_model import MARK_WIDTH, MS, OPERATION, PARAMETERS, SHAPES, STAGE, ShapeTraceModel
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import stages_table
from gptviz.widgets.theme import UNIT, mono_font, px

_LEAST_OPERATION = 52  # px
_Index = QModelIndex | QPersistentModelIndex


class _Tips(QStyledItemDelegate):
    """A row has one tooltip."""

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: _Index
    ) -> bool:
        return super().helpEvent(event, view, option, index.sibling(index.row(), STAGE))


class ShapeTracePane(Pane):
    """A table of stages grouped by block. A click selects the stage everywhere."""

    name = "shape-trace"
    title = "Shape trace"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.model = ShapeTraceModel()
        self.tree = QTreeView()
        self.tree.setObjectName("stages")
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(_Tips(self.tree))
        self.tree.setAccessibleName("Stages of the forward pass")
        self.tree.setUniformRowHeights(True)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setFrameShape(QTreeView.Shape.NoFrame)
        self.tree.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.tree.selectionModel().currentChanged.connect(self._current_changed)
        self.tree.clicked.connect(self._current_changed)
        self.tree.activated.connect(self._opened)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(OPERATION, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(px(36))
        self.hold = QAction("Hold a live pass here", self)
        self.hold.setShortcut("B")
        self.hold.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.hold.setToolTip("Set or clear a breakpoint for live stepping (B)")
        self.hold.triggered.connect(self._toggle_breakpoint)
        self.tree.addAction(self.hold)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._following = False
        self._set_sizes()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tree)

    def _set_sizes(self) -> None:
        self.tree.setIconSize(QSize(px(MARK_WIDTH), px(14)))
        self.tree.setIndentation(px(10))
        for column, width in ((STAGE, 145), (OPERATION, 50), (SHAPES, 150), (PARAMETERS, 78), (MS, 40)):
            self.tree.setColumnWidth(column, px(width))

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if new.model is not None and differs(old, new, "model"):
            self.model.set_config(new.model.config)
            self.tree.expand(self.model.index(0, 0))
            self.tree.expand(self.model.index(1, 0))
            self.tree.expand(self.model.index(len(self.model.groups) - 1, 0))
        if new.model is not None and differs(old, new, "live", "trace", "model"):
            self._show_records(old, new)
        if differs(old, new, "held", "breakpoints"):
            self.model.set_marks(new.held, new.breakpoints)
            self.tree.viewport().update()
        if differs(old, new, "selection", "model"):  # another model may have brought other rows
            self._follow(new.selection.stage)

    def _show_records(self, old: ViewState | None, new: ViewState) -> None:
        if new.live is not None:
            before = len(old.live) if old is not None and old.live is not None and old.live else None
            self.model.set_records(new.live)
            self._repaint(before, len(new.live))
            if differs(old, new, "trace"):
                self._fit_shapes()  # the pass waits, and is looked at
            return
        if new.trace is not None and new.model is not None and new.trace.config == new.model.config:
            if self.model.records is new.trace.records:
                return  # another block of the same pass was replayed
            self.model.set_records(new.trace.records)
            self._fit_shapes()
        else:
            self.model.set_records(())
        self.tree.viewport().update()

    def _repaint(self, first: int | None, last: int) -> None:
        """Repaint the rows in sight whose stages, from ``first`` to ``last``, have finished; all if it is None."""
        viewport = self.tree.viewport()
        if first is None:
            viewport.update()
            return
        index = self.tree.indexAt(QPoint(0, 0))
        while index.isValid():
            box = self.tree.visualRect(index)
            if box.top() > viewport.height():
                break
            stages = self.model.stages_at(index)
            if stages[0].index < last and stages[-1].index >= first:
                viewport.update(0, box.top(), viewport.width(), box.height())
            index = self.tree.indexBelow(index)

    def _fit_shapes(self) -> None:
        text = "0" * self.model.longest_shapes()
        width = QFontMetrics(mono_font(11)).horizontalAdvance(text) + px(3 * UNIT)
        if width > self.tree.columnWidth(SHAPES):
            self.tree.setColumnWidth(SHAPES, width)
            self._hide_operation_if_crowded()

    def spot(self, part: str) -> tuple[QWidget, QRect] | None:
        """Also ``selected``: the row of the selected stage."""
        if part != "selected":
            return super().spot(part)
        box = self.tree.visualRect(self.tree.currentIndex())
        width = self.tree.viewport().width()
        return None if box.isEmpty() else (self.tree.viewport(), QRect(0, box.y(), width, box.height()))

    def as_table(self) -> Table | None:
        state = self.session.state
        records = state.live if state.live is not None else () if state.trace is None else state.trace.records
        return stages_table(records) if records else None

    def reveal(self) -> None:
        self.tree.scrollTo(self.tree.currentIndex())

    def _follow(self, stage: str | None) -> None:
        current = self.model.stage_at(self.tree.currentIndex())
        if stage is None or (current is not None and current.name == stage):
            return
        index = self.model.index_of(stage)
        if index.isValid():
            self._following = True
            self.tree.expand(index.parent())
            self.tree.selectionModel().setCurrentIndex(
                index, QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            )
            if not self.tree.viewport().rect().contains(self.tree.visualRect(index)):
                self.tree.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)  # the next rows are seen too
            self._following = False

    def _current_changed(self, index: QModelIndex, before: QModelIndex | None = None) -> None:
        stage = self.model.stage_at(index)
        if stage is not None and not self._following and self.session.state.trace is not None:
            self.session.select_stage(stage.name)

    def _opened(self, index: QModelIndex) -> None:
        if self.model.stage_at(index) is not None and self.session.state.trace is not None:
            self._current_changed(index)
            self.explain_selected()

    def _toggle_breakpoint(self) -> None:
        stage = self.model.stage_at(self.tree.currentIndex())
        if stage is not None:
            self.session.live.toggle_breakpoint(stage.name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hide_operation_if_crowded()

    def _hide_operation_if_crowded(self) -> None:
        """In a narrow place shapes and numbers go first; the operation is in the tooltip too."""
        others = sum(self.tree.columnWidth(column) for column in (STAGE, SHAPES, PARAMETERS, MS))
        self.tree.setColumnHidden(OPERATION, self.width() < others + px(_LEAST_OPERATION))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "tree"):
            self.model.take_theme()
            self._set_sizes()
            self._fit_shapes()
            self.tree.doItemsLayout()
