"""Generation: the greedy loop, one token at a time."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
)

from gptviz.analysis.place import Place
from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs
from gptviz.session.generation import GeneratedStep
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import steps_table
from gptviz.widgets.note import Note
from gptviz.widgets.text import as_tip, percent, visible
from gptviz.widgets.theme import UNIT, current, mono_font, px, text_font

_COLUMNS = ("Step", "Token", "p", "Others")
_RUNNERS_UP = 3


class GenerationPane(Pane):
    """Step, play, reset; a row for each token.

    Choosing a row shows that step's trace in all panes; a double click or Enter explains its token's probability.
    """

    name = "generation"
    title = "Generation"
    how_to_fill = "Generate a token first (Ctrl+G)"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.step = QPushButton("Step")
        self.step.setObjectName("primary")
        self.step.setToolTip("Append a token (Ctrl+G)")
        self.step.clicked.connect(session.loop.step)
        self.play = QPushButton("Play")
        self.play.setToolTip("Append tokens until paused (Ctrl+Shift+G)")
        self.play.clicked.connect(session.loop.toggle)
        self.reset = QPushButton("Reset")
        self.reset.setToolTip("Drop the generated tokens and go back to the prompt (Ctrl+R)")
        self.reset.clicked.connect(session.loop.reset)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setObjectName("generated")
        self.text.setAccessibleName("Prompt and generated text")
        self.hint = QLabel("Step appends the likeliest token and runs the model again on the longer text.")
        self.hint.setObjectName("muted")
        self.hint.setWordWrap(True)
        self.how = Note()
        self.how.setToolTip("How the next tokens are chosen: the pane Loop changes it")
        self.model = _StepsModel(session)
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName("Generated tokens")
        self.table.setShowGrid(False)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.horizontalHeader().setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)
        self.table.activated.connect(self._row_opened)
        self.table.setToolTip("Click shows a step's pass everywhere; a double click or Enter explains its token")
        self._following = False
        self._to_explain: int | None = None  # the step that is explained as soon as its pass is there
        self._set_sizes()
        self._lay_out()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * UNIT)
        for button in (self.step, self.play, self.reset):
            button.setAccessibleName(button.text())
            buttons.addWidget(button)
        buttons.addStretch()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 3 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(buttons)
        layout.addWidget(self.how)
        layout.addWidget(self.text)
        layout.addWidget(self.hint, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.table, 1)
        layout.addStretch()  # takes what the table leaves while it is hidden

    def _set_sizes(self) -> None:
        self.text.setFixedHeight(QFontMetrics(text_font()).lineSpacing() * 3 + px(16))
        self.table.verticalHeader().setDefaultSectionSize(px(24))
        for column, width in enumerate((36, 72, 70)):
            self.table.setColumnWidth(column, px(width))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "table"):
            self._set_sizes()

    def as_table(self) -> Table | None:
        steps = self.session.state.generation.steps
        return steps_table(steps, self.session.token_text) if steps else None

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        ready = new.trace is not None
        generation = new.generation
        self.step.setEnabled(ready and new.activity is None)
        self.play.setEnabled(ready and (generation.playing or new.held is None))
        self.play.setText("Pause" if generation.playing else "Play")
        self.reset.setEnabled(bool(generation.nodes))
        self._explain_opened(new)
        if differs(old, new, "decoding", "caching"):
            self.how.setText(new.decoding.brief + (" · cache" if new.caching else ""))
        if not differs(old, new, "generation"):
            return
        self.model.set_steps(generation.steps)
        self.hint.setVisible(not generation.steps)
        self.table.setVisible(bool(generation.steps))
        self._following = True
        if generation.shown is not None:
            self.table.selectRow(generation.shown)
            self.table.scrollTo(self.model.index(generation.shown, 0))
        else:
            self.table.clearSelection()
        self._following = False
        self._show_text(new)

    def _show_text(self, new: ViewState) -> None:
        self.text.setPlainText(self.session.text_of(new.generation.ids))
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _row_chosen(self, index: QModelIndex, before: QModelIndex) -> None:
        if index.isValid() and not self._following:
            self.session.travel.show(index.row())

    def _row_opened(self, index: QModelIndex) -> None:
        self.session.travel.show(index.row())
        self._to_explain = index.row()
        self._explain_opened(self.session.state)

    def _explain_opened(self, state: ViewState) -> None:
        """Explain the logit of the step that was opened, once its pass is on screen; another choice forgets it."""
        step, loop = self._to_explain, self.session.loop
        if step is None or (state.generation.shown == step and state.activity is not None):
            return
        self._to_explain = None
        if state.generation.shown == step and loop.step_of(state.trace) == step:
            token = state.generation.steps[step].chosen.id
            self.session.go_to(Place("last", (state.selection.row, token)))
            self.explain_selected()


class _StepsModel(QAbstractTableModel):
    """A row for each generated token."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._steps: tuple[GeneratedStep, ...] = ()

    def set_steps(self, steps: tuple[GeneratedStep, ...]) -> None:
        """Show ``steps``; those that are there already keep their rows."""
        before = self._steps
        if steps == before:
            return
        if before and len(steps) > len(before) and steps[: len(before)] == before:
            self.beginInsertRows(QModelIndex(), len(before), len(steps) - 1)
            self._steps = steps
            self.endInsertRows()
        else:
            self.beginResetModel()
            self._steps = steps
            self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._steps)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return _COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        step = self._steps[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(index.row(), step, index.column())
        if role == Qt.ItemDataRole.FontRole:
            return mono_font(11)
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current().text if index.column() == 1 else current().muted)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [f"{self._text(c.id)}  {percent(c.probability)}" for c in step.candidates]
            return as_tip("\n".join([f"{step.context_tokens} tokens in, token {step.chosen.id} out", *lines]))
        return None

    def _cell(self, row: int, step: GeneratedStep, column: int) -> str:
        if column == 0:
            return str(row + 1)
        if column == 1:
            return self._text(step.chosen.id)
        if column == 2:
            return percent(step.chosen.probability)
        others = [candidate for candidate in step.candidates if candidate.id != step.chosen.id]
        return "  ".join(self._text(candidate.id) for candidate in others[:_RUNNERS_UP])

    def _text(self, token: int) -> str:
        return visible(self._session.token_text(token))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (0, 2) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
