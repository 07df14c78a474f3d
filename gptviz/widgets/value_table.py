"""A table of names and numbers: monospaced figures, colour marks for families, nothing to edit."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QIcon, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QTreeWidget, QTreeWidgetItem

from gptviz.widgets.text import as_tip
from gptviz.widgets.theme import current, mono_font, px, text_font

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROW, _HEAD = 23, 26  # px
_LEAST_ROWS = 5  # where it is low, it scrolls


@dataclass(frozen=True)
class Column:
    """``width`` in px, which grows to ``most`` where there is room; ``figures`` are monospaced and on the right."""

    title: str
    width: int
    most: int = 0
    figures: bool = False
    mono: bool = False


@dataclass(frozen=True)
class Row:
    """``tones`` are one of "", "muted", "accent", "warning", "error" for each cell; too few mean ""."""

    cells: tuple[str, ...]
    tones: tuple[str, ...] = ()
    family: str | None = None
    strong: bool = False
    tip: str = ""


class ValueTable(QTreeWidget):
    """Shows rows; keeps its place when they are replaced."""

    def __init__(self, name: str, columns: Sequence[Column], fitted: bool = False) -> None:
        """Make the table; a ``fitted`` one is as high as its rows."""
        super().__init__()
        self._columns = tuple(columns)
        self._rows: tuple[Row, ...] = ()
        self._fitted = fitted
        self.setAccessibleName(name)
        self.setHeaderLabels([column.title for column in columns])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeWidget.Shape.NoFrame)
        self.setAllColumnsShowFocus(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.header().setStretchLastSection(False)
        self.header().setSectionsMovable(False)
        for place, column in enumerate(columns):
            if column.figures:
                self.headerItem().setTextAlignment(place, _RIGHT)
        if fitted:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show ``rows`` in place of what was there."""
        self._rows = tuple(rows)
        current_item = self.currentItem()
        chosen = -1 if current_item is None else self.indexOfTopLevelItem(current_item)
        place = self.verticalScrollBar().value()
        self.clear()
        self.addTopLevelItems([self._item(row) for row in self._rows])
        item = self.topLevelItem(chosen)
        if item is not None:
            self.setCurrentItem(item)
        self.verticalScrollBar().setValue(place)
        if self._fitted:
            self._fit()

    def set_titles(self, titles: Sequence[str]) -> None:
        """Name the columns anew."""
        for place, title in enumerate(titles):
            self.headerItem().setText(place, title)

    def _item(self, row: Row) -> QTreeWidgetItem:
        item = QTreeWidgetItem(list(row.cells))
        theme = current()
        tones = {"muted": theme.muted, "accent": theme.accent, "warning": theme.warning, "error": theme.error}
        for place, column in enumerate(self._columns):
            tone = row.tones[place] if place < len(row.tones) else ""
            font = QFont(mono_font(12) if column.mono or column.figures else text_font(13))
            font.setWeight(QFont.Weight.DemiBold if row.strong else QFont.Weight.Normal)
            item.setFont(place, font)
            item.setForeground(place, QBrush(QColor(tones.get(tone, theme.text))))
            if column.figures:
                item.setTextAlignment(place, _RIGHT)
            item.setToolTip(place, as_tip(row.tip or row.cells[place]))
        if row.family is not None:
            item.setIcon(0, _mark(theme.families.get(row.family, theme.muted)))
        return item

    def _fit(self) -> None:
        self._share_width()
        self.setIconSize(QSize(px(8), px(8)))
        if not self._fitted:
            self.setMinimumHeight(px(_HEAD) + _LEAST_ROWS * px(_ROW))
        else:
            wide = sum(self.columnWidth(place) for place in range(len(self._columns))) > self.viewport().width()
            bar = self.horizontalScrollBar().sizeHint().height() if wide else 0
            self.setFixedHeight(px(_HEAD) + px(_ROW) * len(self._rows) + bar)

    def _share_width(self) -> None:
        """Give what is left over to the columns that may grow, from the left."""
        shown = [place for place in range(len(self._columns)) if not self.isColumnHidden(place)]
        left = self.viewport().width() - sum(px(self._columns[place].width) for place in shown)
        for place in shown:
            column = self._columns[place]
            more = max(0, min(left, px(column.most) - px(column.width)))
            self.setColumnWidth(place, px(column.width) + more)
            left -= more

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_rows"):
            self._fit()
            self.set_rows(self._rows)


def _mark(colour: str) -> QIcon:
    """Return a dot of ``colour``."""
    picture = QPixmap(px(8), px(8))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(picture.rect(), 2, 2)
    painter.end()
    return QIcon(picture)
