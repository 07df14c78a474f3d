"""What a slide shows of one operation: its sentence, shapes, formula, tokens, tensors and figures."""

from collections.abc import Sequence

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gptviz.widgets.chip_lines import ChipLines
from gptviz.widgets.figures import Figures
from gptviz.widgets.formula import Formula
from gptviz.widgets.matrix_view import MatrixView
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.stage_figure import StageFigure
from gptviz.widgets.theme import UNIT

_LEGEND_BESIDE = 340  # px of a tensor, from which on its legend has room beside the caption


class SlideStage(QWidget):
    """The parts of the Stage pane that tell something on paper."""

    def __init__(self) -> None:
        super().__init__()
        self.sentence = plain_label("sentence", wrap=True)
        self.shapes = plain_label("readout")
        self.formula = Formula()
        self.caption = plain_label("rowTitle")
        self.chips = ChipLines()
        self.figure = StageFigure()
        self.figures = Figures()
        for view in self.views:
            view.keep_legend_beside(_LEGEND_BESIDE)
            view.map.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # else a PDF blurs cells as JPEG
        words = QVBoxLayout()
        words.setSpacing(3 * UNIT)
        words.addWidget(self.sentence)
        words.addWidget(self.shapes)
        words.addStretch()
        formula = QVBoxLayout()
        formula.addWidget(self.formula)
        formula.addStretch()
        top = QHBoxLayout()
        top.setSpacing(10 * UNIT)
        top.addLayout(words, 1)
        top.addLayout(formula, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, UNIT, 0, 0)
        column.setSpacing(3 * UNIT)
        column.addLayout(top)
        column.addSpacing(UNIT)
        column.addWidget(self.caption)
        column.addWidget(self.chips, 1)
        column.addWidget(self.figure, 3)
        column.addStretch()
        column.addWidget(self.figures)

    @property
    def views(self) -> Sequence[MatrixView]:
        """Where matrices are shown: inputs, then the output."""
        return (*self.figure.inputs, self.figure.output)

    def show_tokens(self, caption: str, chips: Sequence[tuple[str, int]], alone: bool) -> None:
        """Show tokens above the tensors, or ``alone``, or none if there is no caption."""
        self.caption.setText(caption)
        self.chips.set_chips(chips)
        for part in (self.caption, self.chips):
            part.setVisible(bool(caption))
        self.figure.setVisible(not alone)
