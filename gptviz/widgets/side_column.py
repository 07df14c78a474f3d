"""The column of controls beside a lab's result; it scrolls where the window is low or the type large."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, px

_SCROLL_BAR = 12  # px


class SideColumn(QScrollArea):
    """Sections of controls, one under the other, ``width`` px wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self._body = QWidget()
        self.setObjectName("sideColumn")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2 * UNIT)
        self._column.addStretch()
        self.setWidget(self._body)
        self._fit()

    def add_section(self, title: str, *widgets: QWidget) -> None:
        """Put ``widgets`` under a title."""
        if self._column.count() > 1:
            self._column.insertSpacing(self._column.count() - 1, 2 * UNIT)
        label = plain_label("rowTitle", title)
        for widget in (label, *widgets):
            self._column.insertWidget(self._column.count() - 1, widget)

    def _fit(self) -> None:
        self.setFixedWidth(px(self._width + _SCROLL_BAR))
        self._column.setContentsMargins(1, 1, px(_SCROLL_BAR), 1)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_column"):
            self._fit()
