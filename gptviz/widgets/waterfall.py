"""Parts that add up to a number: a bar for each, where the one before ended."""

import math
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from gptviz.widgets.theme import UNIT, color, current, mono_font, px, text_font
from gptviz.widgets.waterfall_model import BAR, MARK, PART, VALUE, WaterfallModel, WaterfallRow

_ROW = 22  # px
_EDGE = 3 * UNIT  # px, free on both sides of the bars
_STALE = 0.35  # opacity of what belongs to an earlier question


class Waterfall(QTreeView):
    """A row for each part: a click chooses it, a double click or Enter opens it.

    → shows what a row is the sum of, ← hides that.
    """

    keeps_arrows = True

    chosen = Signal(str)  # the row's key
    opened = Signal(str)

    def __init__(self, titles: tuple[str, str, str]) -> None:
        super().__init__()
        self._model = WaterfallModel(titles)
        self._low, self._high = 0.0, 1.0
        self._joined = True
        self.stale = False
        self.setModel(self._model)
        self.setItemDelegate(_Painter(self))
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setMinimumSectionSize(px(40))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
        header.hide()
        self.clicked.connect(self._choose)
        self.doubleClicked.connect(self._open)
        self.setExpandsOnDoubleClick(False)
        self._fit()

    @property
    def rows(self) -> tuple[WaterfallRow, ...]:
        return self._model.rows

    def set_rows(self, rows: tuple[WaterfallRow, ...], joined: bool) -> None:
        """Show ``rows``; ``joined`` says that each bar begins where the one before ended."""
        key = self._key()
        self._model.set_rows(rows)
        self._joined = joined
        ends = [end for row in _flat(rows) for end in (row.start, row.end) if math.isfinite(end)]
        self._low, self._high = min((0.0, *ends)), max((0.0, *ends))
        if key is not None and self._key() is None:
            self.setCurrentIndex(self._model.index_of(key))
        self.setAccessibleDescription("; ".join(f"{row.title} {row.written}" for row in rows[:40]))
        self._fit()
        self.viewport().update()

    def set_stale(self, stale: bool) -> None:
        """Show faintly what answers another question than the one that is asked now."""
        if stale != self.stale:
            self.stale = stale
            self.viewport().update()

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> WaterfallRow | None:
        """Return the row that an index of the view stands for."""
        return self._model.row_at(index)

    def index_of(self, key: str) -> QModelIndex:
        """Return where a row is; an invalid index if there is none."""
        return self._model.index_of(key)

    def x_of(self, value: float, width: float) -> float:
        """Return where ``value`` is in a column of bars that is ``width`` px wide."""
        span = self._high - self._low or 1.0
        room = max(1.0, width - 2 * px(_EDGE))
        return px(_EDGE) + (value - self._low) / span * room

    def bar_box(self, row: WaterfallRow, inner: bool, cell: QRectF) -> QRectF:
        """Return where the bar of ``row`` is drawn in its ``cell``; of what is no number there is none."""
        if not (math.isfinite(row.start) and math.isfinite(row.end)):
            return QRectF()
        ends = sorted(cell.left() + self.x_of(value, cell.width()) for value in (row.start, row.end))
        height = px(6 if inner else 10)
        return QRectF(ends[0], cell.center().y() - height / 2, max(1.5, ends[1] - ends[0]), height)

    # --- inside ------------------------------------------------------------------------------------------

    @property
    def joined(self) -> bool:
        return self._joined

    def _key(self) -> str | None:
        row = self._model.row_at(self.currentIndex())
        return None if row is None else row.key

    def _choose(self, index: QModelIndex) -> None:
        row = self._model.row_at(index)
        if row is not None:
            self.chosen.emit(row.key)

    def _open(self, index: QModelIndex) -> None:
        row = self._model.row_at(index)
        if row is not None:
            self.opened.emit(row.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def drawRow(
        self, painter: QPainter, options: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().drawRow(painter, options, index)
        current_row = self.currentIndex()
        if self.hasFocus() and (index.row(), index.parent()) == (current_row.row(), current_row.parent()):
            box = QRectF(options.rect)
            painter.setPen(QPen(color(current().accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def _fit(self) -> None:
        """Give the words what they need, and the bars the rest."""
        self.setIndentation(px(4 * UNIT))
        self.setIconSize(QSize(px(MARK), px(14)))
        words, numbers = QFontMetricsF(text_font(12)), QFontMetricsF(mono_font(12))
        rows = self._model.rows
        word = max((words.horizontalAdvance(row.title) for row in rows), default=0.0)
        written = max((numbers.horizontalAdvance(row.written) for row in _flat(rows)), default=0.0)
        self.setColumnWidth(PART, round(word) + px(MARK + 12 * UNIT))
        self.setColumnWidth(VALUE, max(round(written) + px(6 * UNIT), px(72)))

    def sizeHint(self) -> QSize:
        return QSize(px(420), px(_ROW) * 5)  # it takes what there is

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), px(_ROW) * 4)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange)
        if event.type() in kinds and hasattr(self, "_model"):
            self._model.forget_colours()
            self._fit()
            self.doItemsLayout()


class _Painter(QStyledItemDelegate):
    """Draws bars in the family's colour: full where a part adds, an outline where it takes away."""

    def __init__(self, view: Waterfall) -> None:
        super().__init__(view)
        self._view = view

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus  # the view draws it around the whole row

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(px(80), px(_ROW))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = self._view.row_at(index)
        if row is None:
            return
        painter.save()
        painter.setOpacity(_STALE if self._view.stale else 1.0)
        super().paint(painter, option, index)
        if index.column() == BAR:
            box = QRectF(option.rect)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_lines(painter, box, row, index)
            bar = self._view.bar_box(row, index.parent().isValid(), box)
            self._paint_bar(painter, bar, row, current().families[row.family])
        painter.restore()

    def _paint_lines(
        self, painter: QPainter, box: QRectF, row: WaterfallRow, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        view = self._view
        zero = round(view.x_of(0.0, box.width()))
        painter.fillRect(QRectF(box.left() + zero, box.top(), 1, box.height()), color(current().muted, 0.4))
        if not view.joined or row.total:
            return
        opened = bool(row.inner) and view.isExpanded(index.sibling(index.row(), 0))
        leaves = row.start if opened else row.end  # what is inside begins where its row began
        half = box.height() / 2
        for value, top in ((row.start, box.top()), (leaves, box.top() + half)):
            if math.isfinite(value):
                x = box.left() + round(view.x_of(value, box.width()))
                painter.fillRect(QRectF(x, top, 1, half), color(current().muted))

    def _paint_bar(self, painter: QPainter, bar: QRectF, row: WaterfallRow, tone: str) -> None:
        if bar.isNull():
            return
        tone = current().text if row.total else tone
        adds = row.end >= row.start or row.total
        painter.setPen(Qt.PenStyle.NoPen if adds else QPen(color(tone), 1))
        painter.setBrush(color(tone) if adds else color(tone, 0.25))
        painter.drawRoundedRect(bar if adds else bar.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)


def _flat(rows: Iterable[WaterfallRow]) -> Iterator[WaterfallRow]:
    for row in rows:
        yield row
        yield from row.inner
