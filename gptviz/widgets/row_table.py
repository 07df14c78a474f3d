"""A row of numbers that is edited cell by cell, with what is computed from it below."""

import math
import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gptviz.widgets.number_rule import NumberRule, RefusedError
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.row_model import Array, RowModel
from gptviz.widgets.theme import UNIT, blend, color, current, mono_font, px

Index = QModelIndex | QPersistentModelIndex
_CELL, _ROW, _NAMES = 66, 28, 88  # px
_LINES = 5  # the header and the rows that the height is kept for
_TINT = 0.34  # of the diverging colour, at the largest value
_SEPARATORS = re.compile(r"[;,\s]+")


class RowTable(QWidget):
    """``changed`` tells of other numbers, ``chosen`` of another cell. What is refused is explained underneath."""

    changed = Signal()
    chosen = Signal(int)

    def __init__(self, name: str, title: str, rule: NumberRule, longest: int) -> None:
        """Make the table; ``title`` names the row that is edited, ``longest`` is how long it can get."""
        super().__init__()
        self._rule, self._longest = rule, longest
        self._dropped: list[float] = []  # what stood behind the end before the row was made shorter
        self.model = RowModel(title, rule)
        self.view = _View(self)
        self.view.setModel(self.model)
        self.view.setAccessibleName(name)
        self.view.setToolTip(f"{name}: type into a cell, or paste a list (Ctrl+V)")
        self.model.edited.connect(self._edited)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.warning = plain_label("fieldMessage", wrap=True)
        self.setFocusProxy(self.view)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addWidget(self.view)
        column.addWidget(self.warning)
        self.fit()

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers of the row; of a cell that is refused, the last good one."""
        return tuple(self.model.values)

    @property
    def place(self) -> int:
        """The column of the chosen cell."""
        return max(0, self.view.currentIndex().column())

    @property
    def message(self) -> str:
        """What is refused and why; empty if nothing is."""
        return self.warning.text()

    def set_values(self, values: Sequence[float]) -> None:
        """Show other numbers without reporting a change, and forget what was wrong."""
        place = min(self.place, len(values) - 1)
        self._dropped = []
        self.model.set_values(values)
        self._choose(place)
        self._tell("")

    def set_length(self, length: int) -> None:
        """Drop numbers at the end, or add those that were dropped and then zeros; report the change."""
        known = [*self.model.values, *self._dropped]
        self.set_values([*known[:length], *[0.0] * (length - len(known))])
        self._dropped = known[length:]
        self.changed.emit()

    def set_computed(self, rows: Sequence[tuple[str, Array]]) -> None:
        """Show below the row what was computed from it: names and numbers."""
        place = self.place
        self.model.set_computed(rows)
        if not self.view.currentIndex().isValid():
            self._choose(place)
        self.view.viewport().update()

    # --- inside ------------------------------------------------------------------------------------------

    def _choose(self, column: int) -> None:
        index = self.model.index(0, column)
        self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _edited(self) -> None:
        self._tell("")
        self.changed.emit()

    def _tell(self, problem: str) -> None:
        refused = self.model.refused
        if refused and not problem:
            column = min(refused)
            problem = f"Number {column + 1}: {refused[column][1]}"
            if len(refused) > 1:
                problem += f" And {len(refused) - 1} more."
        self.warning.setText(problem)
        self.view.setAccessibleDescription(problem)

    def _current_changed(self, new: QModelIndex, old: QModelIndex) -> None:
        if new.isValid() and new.column() != old.column():
            self.chosen.emit(new.column())

    def paste(self, text: str) -> None:
        """Put a list of numbers into the row from the chosen cell on; the row grows as far as it has to."""
        parts = [part for part in _SEPARATORS.split(text.strip().strip("[]()")) if part]
        if not parts:
            return
        numbers: list[float] = []
        for place, part in enumerate(parts, start=1):
            try:
                numbers.append(self._rule.read(part))
            except RefusedError as error:
                self._tell(f"Nothing was pasted. Number {place} of the list: {error}")
                return
        start = self.place
        if start + len(numbers) > self._longest:
            self._tell(f"Nothing was pasted: {start + len(numbers):,} numbers are too many, at most {self._longest:,}.")
            return
        values = self.model.values
        self.set_values([*values[:start], *numbers, *values[start + len(numbers) :]])
        self.changed.emit()

    def fit(self) -> None:
        """Give the cells the size that the theme wants."""
        self.view.fit()
        self.warning.setMinimumHeight(px(16))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "warning"):
            self.fit()


class _View(QTableView):
    keeps_arrows = True

    def __init__(self, owner: RowTable) -> None:
        super().__init__()
        self._owner = owner
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setItemDelegate(_Delegate(self))
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.AnyKeyPressed | triggers.EditKeyPressed)
        self.setTabKeyNavigation(False)  # Tab leaves the table, but goes on to the next number while one is typed
        self.clicked.connect(self._edit)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(False)
            header.setSectionsClickable(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def fit(self) -> None:
        self.horizontalHeader().setDefaultSectionSize(px(_CELL))
        self.horizontalHeader().setFixedHeight(px(_ROW - 4))
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        self.verticalHeader().setFixedWidth(px(_NAMES))
        self.setFixedHeight(px(_ROW) * _LINES + px(10))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(px(_NAMES + 6 * _CELL) + 2, self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Paste):
            self._owner.paste(QGuiApplication.clipboard().text())
        elif event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            model = self._owner.model
            row = [model.index(index.row(), column) for column in range(model.columnCount())]
            QGuiApplication.clipboard().setText("\t".join(f"{model.number_at(cell):.9g}" for cell in row))
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and index.isValid():
            self._owner.model.setData(index, "")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._edit(index)
        else:
            super().keyPressEvent(event)

    def _edit(self, index: QModelIndex) -> None:
        """Open the editor, unless one is closing with the same key."""
        if index.isValid() and index.row() == 0 and self.state() != QAbstractItemView.State.EditingState:
            self.edit(index)


class _Delegate(QStyledItemDelegate):
    """Tints a number by its sign and size, and draws what can be edited as a field."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, RowModel)
        box = QRectF(option.rect).adjusted(2.5, 2.5, -2.5, -2.5)
        theme = current()
        refused = index.row() == 0 and index.column() in model.refused
        value, largest = model.number_at(index), model.largest
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if not math.isnan(value) and largest > 0 and not refused:
            shade = theme.diverging[2 if value > 0 else 0]
            share = min(1.0, abs(value) / largest) * _TINT
            painter.setBrush(blend(shade, theme.panel, share))
            painter.drawRoundedRect(box, px(3), px(3))
        view = self.parent()
        assert isinstance(view, _View)
        here = index == view.currentIndex()
        if index.row() == 0 or here:
            edge = theme.error if refused else theme.accent if here else blend(theme.muted, theme.panel, 0.4).name()
            painter.setPen(QPen(color(edge), 2 if here and view.hasFocus() else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, px(3), px(3))
        painter.setFont(mono_font(12))
        painter.setPen(color(theme.error if refused else theme.text))
        text = str(model.data(index) or ("empty" if refused else ""))
        inner = box.adjusted(UNIT, 0, -1.5 * UNIT, 0)
        metrics = painter.fontMetrics()
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(inner.width()))
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), shown)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        editor.setObjectName("cell")
        editor.setAccessibleName(f"Number {index.column() + 1}")
        return editor
