"""Large figures side by side, each with what it counts below."""

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT
from gptviz.widgets.wrapping_row import WrappingBox


class FigureRow(WrappingBox):
    """As many figures as there are names."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(spacing=8 * UNIT)
        self._figures: list[tuple[QLabel, QLabel]] = []
        for name in names:
            figure, caption = plain_label("figure", selectable=True), plain_label("muted", name, selectable=True)
            box = QWidget()
            column = QVBoxLayout(box)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            column.addWidget(figure)
            column.addWidget(caption)
            self._figures.append((figure, caption))
            self.row.addWidget(box)

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as written."""
        return tuple(figure.text() for figure, _ in self._figures)

    def set_figures(self, figures: Sequence[str]) -> None:
        """Show ``figures`` over the names."""
        for (label, caption), figure in zip(self._figures, figures, strict=True):
            label.setText(figure)
            label.setAccessibleName(f"{caption.text()}: {figure}")
