"""Rows of one height that scroll below a header: what all rankings have in common."""

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea

from gptviz.widgets.theme import px


class RowsArea(QAbstractScrollArea):
    """Tells a ranking where its rows are, so that only those in sight are painted.

    ``row`` and ``header`` are heights in px at normal size.
    """

    def __init__(self, row: int, header: int) -> None:
        super().__init__()
        self._row_px, self._header_px, self._count = row, header, 0
        self.setFrameShape(self.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def row_box(self, place: int) -> QRectF:
        """Return where a row is drawn, in pixels of the viewport."""
        top = px(self._header_px) + place * px(self._row_px) - self.verticalScrollBar().value()
        return QRectF(0, top, self.viewport().width(), px(self._row_px))

    # --- for the rankings --------------------------------------------------------------------------------

    def set_count(self, count: int) -> None:
        """Make room for ``count`` rows."""
        self._count = count
        self._measure()

    @property
    def count(self) -> int:
        """The number of rows, also of those out of sight."""
        return self._count

    @property
    def in_sight(self) -> range:
        """The rows of which at least a part is seen."""
        offset, row = self.verticalScrollBar().value(), px(self._row_px)
        return range(offset // row, min(self._count, (offset + self.viewport().height()) // row + 1))

    def row_at(self, point: QPointF) -> int | None:
        """Return which row is at a point of the viewport."""
        below = point.y() - px(self._header_px)
        place = int((below + self.verticalScrollBar().value()) // px(self._row_px))
        return place if below >= 0 and place < self._count else None

    def bring_into_sight(self, place: int) -> None:
        """Scroll no further than it takes to see a row."""
        bar, row = self.verticalScrollBar(), px(self._row_px)
        bar.setValue(min(max(bar.value(), (place + 1) * row - bar.pageStep()), place * row))

    def keep_off_the_header(self, painter: QPainter) -> None:
        """Clip what ``painter`` draws from here on to the place of the rows."""
        header = px(self._header_px)
        painter.setClipRect(0, header, self.viewport().width(), self.viewport().height() - header)

    # --- inside ------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        bar, row = self.verticalScrollBar(), px(self._row_px)
        page = max(1, self.viewport().height() - px(self._header_px))
        bar.setRange(0, max(0, self._count * row - page))
        bar.setPageStep(page)
        bar.setSingleStep(row)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()
