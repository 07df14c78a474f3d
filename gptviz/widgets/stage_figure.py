"""Inputs and output of an operation: matrices and token IDs, side by side or one above the other."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.matrix_view import MatrixView
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT
from gptviz.widgets.token_strip import Chip, TokenStrip


class TokenView(QWidget):
    """A row of chips with a caption."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.caption = plain_label("rowTitle")
        self.strip = TokenStrip()
        self.strip.setAccessibleName(name)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addWidget(self.caption)
        column.addWidget(self.strip)

    def show_tokens(self, caption: str, chips: list[Chip], selected: int | None) -> None:
        """Show chips and mark one."""
        self.caption.setText(caption)
        self.strip.set_chips(chips)
        self.strip.set_selected(selected)


class StageFigure(QWidget):
    """Two places for inputs, one for the output; each holds a matrix or tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = (MatrixView("Input"), MatrixView("Second input"))
        self.output = MatrixView("Output")
        self.tokens_in, self.tokens_out = TokenView("Input tokens"), TokenView("Output tokens")
        self._before = QWidget()
        row = QHBoxLayout(self._before)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5 * UNIT)
        row.addWidget(self.tokens_in)
        for view in self.inputs:
            row.addWidget(view, 1)
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self._before, 1)
        self._layout.addWidget(self.output, 1)
        self._layout.addWidget(self.tokens_out, 0, Qt.AlignmentFlag.AlignTop)
        self._layout.addStretch()

    def arrange(self, matrices_in: int, tokens_in: bool, tokens_out: bool, side_by_side: bool) -> None:
        """Choose what is there: how many matrices go in, whether tokens do, whether tokens come out."""
        for place, view in enumerate(self.inputs):
            view.setVisible(place < matrices_in)
        self.tokens_in.setVisible(tokens_in)
        self._before.setVisible(bool(matrices_in) or tokens_in)
        self.output.setVisible(not tokens_out)
        self.tokens_out.setVisible(tokens_out)
        vertical = QSizePolicy.Policy.Maximum if tokens_out else QSizePolicy.Policy.Preferred
        self.setSizePolicy(QSizePolicy.Policy.Preferred, vertical)
        across = side_by_side and matrices_in > 0 and not tokens_out
        direction = QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom
        self._layout.setDirection(direction)
        self._layout.setSpacing(5 * UNIT if across else 2 * UNIT)
        self._layout.setStretch(0, matrices_in if across else int(matrices_in > 0 and not tokens_out))
