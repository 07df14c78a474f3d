"""Stage: the selected operation on one screen: what it does, its formula, its tensors, its code."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gptviz.analysis import stage_tensor
from gptviz.analysis.formulas import Sizes
from gptviz.analysis.operands import inputs_of
from gptviz.analysis.source import Code, stage_source
from gptviz.analysis.stage_tensor import Matrix
from gptviz.analysis.stage_text import dropout_text, input_title, is_dropout, short_title, stage_text
from gptviz.capture.stages import Stage, catalogue
from gptviz.panes.pane import Pane, differs
from gptviz.panes.stage_figures import EXTREMES, NOUNS, all_narrow, heatmap_data, pairs
from gptviz.session.missing import why_missing
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.figures import Figures
from gptviz.widgets.formula import Formula
from gptviz.widgets.matrix_view import MatrixView
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.readout import Readout
from gptviz.widgets.source_view import ShownCode, SourceView
from gptviz.widgets.stage_figure import StageFigure
from gptviz.widgets.stage_title import StageTitle
from gptviz.widgets.text import milliseconds, number, shape, visible
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.token_strip import Chip

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_HINT = "Choose a stage to see what it does: in the flow, in the shape trace, or with the arrow keys."
_POINT = "Point at a cell to read it · click selects, double click explains · wheel zooms in"
_TWO_COLUMNS, _LOW = 860, 600  # px: from this width on and below this height the code stands beside
_ROWS_ARE_KEYS = (("att.scores", 1), ("att.context", 1))  # stage, input


class StagePane(Pane):
    """Shows ``selection.stage``; input and output are the selected sequence's and head's."""

    name = "stage"
    title = "Stage"
    shows_selected_stage = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.heading = StageTitle()
        self.sentence = _label("sentence")
        self.formula = Formula()
        self.dropout = _label("muted")
        self.figure = StageFigure()
        self.readout = Readout()
        self.readout.explain_wanted.connect(self.explain_selected)
        self.figures = Figures()
        self.figures.setAccessibleName("Shape and statistics")
        self.figures.setToolTip("Click min or max to see how that number was made")
        self.figures.chosen.connect(self._extreme_chosen)
        self.source = SourceView()
        self.hint = _label("muted", _HINT)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._shown: dict[MatrixView, tuple[Matrix, bool]] = {}  # what a view shows; whether its rows are keys
        self._labels: list[str] = []  # the tokens of the trace, as they are written
        self._labelled: ViewState | None = None
        self._lay_out()
        for view in (*self.figure.inputs, self.figure.output):
            view.hovered.connect(self._hovered)
            view.clicked.connect(self._clicked)
            view.opened.connect(self._opened)
        for tokens in (self.figure.tokens_in, self.figure.tokens_out):
            tokens.strip.chosen.connect(self._token_chosen)

    def _lay_out(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT + UNIT // 2)
        column.addWidget(self.heading)
        column.addWidget(self.sentence)
        column.addWidget(self.formula)
        column.addWidget(self.dropout)
        column.addWidget(self.figure, 1)
        column.addWidget(self.readout)
        column.addWidget(self.figures)
        column.addStretch()
        self._left, self._left_side = column, left
        body = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, body)
        self._columns.setContentsMargins(4 * UNIT, 2 * UNIT, 4 * UNIT, 2 * UNIT)
        self._columns.setSpacing(2 * UNIT)
        self._columns.addWidget(left, 3)
        self._columns.addWidget(self.source, 1)
        self.area = QScrollArea()
        self.area.setAccessibleName("The selected stage")
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(body)
        for part in (body, self.area.viewport()):
            part.setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.hint)
        layout.addWidget(self.area)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= px(_TWO_COLUMNS) and event.size().height() < px(_LOW)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._columns.setDirection(direction)
        self._columns.setSpacing(6 * UNIT if beside else 2 * UNIT)
        self._columns.setStretch(1, 2 if beside else 1)

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "trace", "trace_pieces", "selection"):
            return
        stage = self._stage(new)
        self.hint.setVisible(stage is None)
        self.area.setVisible(stage is not None)
        if stage is None or new.trace is None:
            return
        if not self._content_differs(old, new):
            self._show_selected(new)
            return
        self.area.setUpdatesEnabled(False)  # all is painted once, when the layout has settled
        self._show_all(new, new.trace, stage)
        self._show_selected(new)
        for view in (*self.figure.inputs, self.figure.output):
            view.catch_up()
        self.area.setUpdatesEnabled(True)

    def _stage(self, state: ViewState) -> Stage | None:
        if state.trace is None or state.selection.stage is None:
            return None
        stages = catalogue(state.trace.config)
        return next((stage for stage in stages if stage.name == state.selection.stage), None)

    def _content_differs(self, old: ViewState | None, new: ViewState) -> bool:
        """Tell whether more has to be shown than another selected cell."""
        if differs(old, new, "trace", "trace_pieces") or old is None:
            return True
        before, after = old.selection, new.selection
        if (before.stage, before.row, before.head) != (after.stage, after.row, after.head):
            return True
        output = self._shown.get(self.figure.output)
        return output is not None and not output[0].whole and new.query not in output[0].positions

    def _show_all(self, state: ViewState, trace: "Trace", stage: Stage) -> None:
        """Show a stage, and let the layout settle."""
        if differs(self._labelled, state, "trace", "trace_pieces"):
            self._labelled = state
            self._labels = [visible(piece.text) for piece in state.trace_pieces]
            self._labels += [""] * (trace.tokens - len(self._labels))
        self._show_words(trace, stage)
        self._show_tensors(state, stage)
        self._show_source(trace, stage)
        for _ in range(2):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)

    def _show_words(self, trace: "Trace", stage: Stage) -> None:
        module = _module(trace, stage)
        eps, p = getattr(module, "eps", 1e-5), getattr(module, "p", 0.0)
        text = stage_text(Sizes(stage, trace.config, trace.batch, trace.tokens, eps, p))
        self.heading.set_title(text.title, stage.family.value)
        self.sentence.setText(text.sentence)
        self.formula.set_markup(text.formula)

    def _show_tensors(self, state: ViewState, stage: Stage) -> None:
        trace = state.trace
        assert trace is not None
        assert state.query is not None
        row, head = state.selection.row, state.selection.head
        self._shown.clear()
        at = (row, head, state.query)
        output = None if stage.name in ("ids", "next") else stage_tensor.stage_matrix(trace, stage, *at)
        names = [name for name in inputs_of(stage, trace.config) if name != "ids"]
        stages = [_by_name(trace, name) for name in names]
        inputs = [stage_tensor.stage_matrix(trace, source, *at) for source in stages]
        self.figure.arrange(
            len(inputs), stage.name == "tok_emb", stage.name in ("ids", "next"), all_narrow([*inputs, output])
        )
        for layout, part, share in ((self._left, self.figure, 1), (self._columns, self._left_side, 3)):
            layout.setStretchFactor(part, 0 if stage.name in ("ids", "next") else share)
        for place, (source, matrix) in enumerate(zip(stages, inputs, strict=True)):
            keys = (stage.local_name, place) in _ROWS_ARE_KEYS
            self._show_matrix(
                self.figure.inputs[place], f"in   {input_title(source)}", matrix, why_missing(trace, source.name), keys
            )
        if stage.name in ("ids", "next"):
            self._show_token_row(state, stage)
        else:
            self._show_matrix(self.figure.output, f"out   {short_title(stage)}", output, why_missing(trace, stage.name))
        if stage.name == "tok_emb":
            chips = self._chips(state)
            self.figure.tokens_in.show_tokens(f"in   token IDs   {shape((len(chips),))}", chips, state.query)
        self._show_figures(state, stage, output)
        self._show_dropout(trace, stage, inputs, output)

    def _show_matrix(
        self, view: MatrixView, caption: str, matrix: Matrix | None, missing: str, rows_are_keys: bool = False
    ) -> None:
        if matrix is None:
            view.show_note(caption, missing)
            return
        self._shown[view] = matrix, rows_are_keys
        limit = 1.0 if matrix.shares else stage_tensor.limit(matrix.values)
        data, noun = heatmap_data(matrix, limit, self._labels), NOUNS[matrix.columns]
        written = f"{caption}   {shape(matrix.values.shape)}"
        view.show_matrix(written, data, noun, matrix.columns == "key", matrix.masked)

    def _show_token_row(self, state: ViewState, stage: Stage) -> None:
        trace = state.trace
        assert trace is not None
        view, ids = self.figure.tokens_out, stage_tensor.token_ids(trace, stage, state.selection.row)
        if ids is None:
            view.show_tokens(why_missing(trace, stage.name), [], None)
        elif stage.name == "ids":
            view.show_tokens(f"out   token IDs   {shape((len(ids),))}", self._chips(state), state.query)
        else:
            text = self.session.token_text(ids[0])
            view.show_tokens(f"out   next token   {shape((1,))}", [Chip(text, ids[0], text.encode(), 0)], None)

    def _chips(self, state: ViewState) -> list[Chip]:
        assert state.trace is not None
        ids = state.trace.array("ids")[state.selection.row].tolist()
        pieces = state.trace_pieces[: len(ids)]
        return [Chip(piece.text, ids[place], piece.bytes, piece.group) for place, piece in enumerate(pieces)]

    def _show_figures(self, state: ViewState, stage: Stage, output: Matrix | None) -> None:
        trace = state.trace
        assert trace is not None
        facts = [("output", shape(stage.shape(trace.config, trace.batch, trace.tokens)))]
        if stage.name in trace:
            record = trace.record(stage.name)
            facts += [("parameters", f"{record.parameters:,}"), ("time", milliseconds(record.ms))]
        measured = []
        if output is not None:
            part = stage_tensor.part_shown(output, trace.batch, state.selection.row, state.selection.head)
            facts += [("measured", part)] if part else []
            measured = pairs(stage_tensor.statistics(output.values))
        self.figures.set_groups((facts, measured), EXTREMES)

    def _show_dropout(self, trace: "Trace", stage: Stage, inputs: list[Matrix | None], output: Matrix | None) -> None:
        self.dropout.setVisible(is_dropout(stage))
        if not is_dropout(stage):
            return
        module, before = _module(trace, stage), inputs[0]
        same = None if before is None or output is None else stage_tensor.unchanged(before, output)
        self.dropout.setText(dropout_text(getattr(module, "p", 0.0), bool(getattr(module, "training", False)), same))

    def _show_source(self, trace: "Trace", stage: Stage) -> None:
        source = stage_source(trace, stage)
        if source is None:
            self.source.show_code(None, None, stage.family.value)
            return
        caller = None
        if source.caller is not None:
            line = source.caller
            caller = ShownCode(f"Called in {line.name}", _place(line), line.marked_text, line.marked.start, range(0))
        code = source.code
        note = "PyTorch's own · " if source.of_torch else ""
        shown = ShownCode(code.name, note + _place(code), code.text, code.first_line, code.marked)
        self.source.show_code(shown, caller, stage.family.value)

    # --- the selected cell -------------------------------------------------------------------------------

    def _show_selected(self, state: ViewState) -> None:
        for view, (matrix, rows_are_keys) in self._shown.items():
            view.map.set_selected(_selected_cell(state, matrix, rows_are_keys))
        for tokens in (self.figure.tokens_in, self.figure.tokens_out):
            if state.selection.stage != "next":
                tokens.strip.set_selected(state.query)
        self._show_readout(None, None)

    def _show_readout(self, view: MatrixView | None, cell: tuple[int, int] | None) -> None:
        if view is None or cell is None:
            view = self.figure.output
            cell = view.map.selected
        shown = self._shown.get(view)
        self.readout.setVisible(bool(self._shown))
        if shown is None or cell is None:
            self.readout.setText(_POINT)
            return
        matrix, rows_are_keys = shown
        row, column = cell
        if row >= len(matrix.values) or column >= matrix.values.shape[1]:
            return
        token = f"{'key' if rows_are_keys else 'query' if matrix.columns == 'key' else 'token'} "
        token += self._token(matrix.positions[row])
        across = f"key {self._token(column)}" if matrix.columns == "key" else f"{matrix.columns} {column}"
        if matrix.columns == "token":
            across = f"token ID {column} {visible(self.session.token_text(column))}"
        value = float(matrix.values[row, column])
        masked = " (masked)" if matrix.masked and column > matrix.positions[row] else ""
        self.readout.setText(f"{short_title(matrix.stage)}   {token}   {across}   {number(value, 7)}{masked}")

    def _token(self, position: int) -> str:
        return f"{position} {self._labels[position]}"

    # --- intents -----------------------------------------------------------------------------------------

    def _hovered(self, cell: object) -> None:
        view = self.sender()
        assert isinstance(view, MatrixView)
        self._show_readout(view, cell if isinstance(cell, tuple) else None)

    def _clicked(self, row: int, column: int) -> None:
        view = self.sender()
        if not isinstance(view, MatrixView) or view not in self._shown:
            return
        matrix, rows_are_keys = self._shown[view]
        position = matrix.positions[row]
        if matrix.columns == "token":
            self.session.select(query=position, token=column)
        elif matrix.columns == "key":
            self.session.select(query=position, key=column)
        elif rows_are_keys:
            self.session.select(key=position, feature=column)
        else:
            self.session.select(query=position, feature=column)

    def _opened(self, row: int, column: int) -> None:
        view = self.sender()  # of an input the number is another stage's
        if isinstance(view, MatrixView) and view in self._shown:
            self._explain_cell(self._shown[view][0], row, column)

    def _explain_cell(self, matrix: Matrix, row: int, column: int) -> None:
        self.session.select_stage(matrix.stage.name, **{"query": matrix.positions[row], matrix.columns: column})
        self.explain_selected()

    def _extreme_chosen(self, name: str) -> None:
        shown = self._shown.get(self.figure.output)
        if shown is not None:
            self._explain_cell(shown[0], *stage_tensor.extreme(shown[0].values, name == "max"))

    def _token_chosen(self, position: int) -> None:
        if self.session.state.selection.stage != "next":
            self.session.select(query=position)


def _by_name(trace: "Trace", name: str) -> Stage:
    return next(stage for stage in catalogue(trace.config) if stage.name == name)


def _module(trace: "Trace", stage: Stage) -> object:
    return trace.replay.model.get_submodule(stage.module)


def _selected_cell(state: ViewState, matrix: Matrix, rows_are_keys: bool) -> tuple[int, int] | None:
    selection = state.selection
    position = selection.key if rows_are_keys else state.query
    column = {"key": selection.key, "token": selection.token}.get(matrix.columns, selection.feature)
    if position is None or column is None or position not in matrix.positions:
        return None
    return (position - matrix.positions.start, column) if column < matrix.values.shape[1] else None


def _place(code: Code) -> str:
    return f"{code.short_file}:{code.marked.start}"


def _label(name: str, text: str = "") -> QLabel:
    label = plain_label(name, text, wrap=True)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label
