"""Compare: a run that was pinned, A, beside the run on screen, B."""

from itertools import zip_longest

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gptviz.analysis.compared_tokens import head_map, ranked_tokens
from gptviz.analysis.comparison import Run, in_order
from gptviz.analysis.table import Table
from gptviz.capture.stages import block_name
from gptviz.panes.compare_maps import CompareMaps, HeadOfRun
from gptviz.panes.compare_words import ranked_items, run_label, stage_rows, summary
from gptviz.panes.pane import Pane, differs, other_pass
from gptviz.session.missing import why_missing
from gptviz.session.session import Session
from gptviz.session.state import PinnedRun, ViewState
from gptviz.session.tables import differences_table
from gptviz.widgets.difference_table import DifferenceTable
from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.progress_line import ProgressLine
from gptviz.widgets.rank_change import RankChange
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.text import data_size, visible
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.token_pair import PairLine, TokenPair

_SUBJECTS = [
    ("attention", "Attention", "The chosen head of both runs, and the difference"),
    ("tokens", "Next token", "The likeliest next tokens of both runs"),
    ("stages", "Stages", "Every stage: shapes, and the size of the difference"),
]
_EMPTY = (
    "Pin a run, then run anything else: another prompt, another step of a generation, another model or seed.\n"
    "Both stand here side by side."
)
PIN_KEY, UNPIN_KEY = "Ctrl+P", "Ctrl+Shift+P"


class ComparePane(Pane):
    """Everything follows the one selection, in both runs."""

    name = "compare"
    title = "Compare"
    how_to_fill = "Pin a run first (Ctrl+P), then run another one"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.subjects = Segmented(_SUBJECTS, "What is compared")
        self.subjects.set_choice("attention")
        self.block = Stepper("Block", "The block whose head is compared", "Block ")
        self.head = Stepper("Head", "The head that is compared", "Head ")
        self.tokens = TokenPair()
        self.pin = QPushButton("Pin this run to compare")
        self.pin.setObjectName("primary")
        self.pin.setToolTip(f"Put the run on screen aside as A ({PIN_KEY})")
        self.unpin = _button("Unpin A")
        self.repin = _button("Pin B instead of A", f"Pin the run on screen instead of A ({PIN_KEY})")
        self.maps = CompareMaps()
        self.ranks = RankChange("Likeliest next tokens of both runs")
        self.stages = DifferenceTable("Stages of both runs")
        self.progress = ProgressLine("Parts compared")
        self._pages = QStackedWidget()
        self._stack = QStackedWidget()
        self._lay_out()
        self._connect()
        self._apply_theme()

    def _lay_out(self) -> None:
        stages = QWidget()
        column = QVBoxLayout(stages)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addWidget(self.stages, 1)
        column.addWidget(self.progress)
        for page in (self.maps, self.ranks, stages):
            self._pages.addWidget(page)
        controls = QHBoxLayout()
        controls.setSpacing(2 * UNIT)
        controls.addWidget(self.subjects)
        controls.addStretch()
        controls.addWidget(self.block)
        controls.addWidget(self.head)
        lines = QGridLayout()
        lines.setSpacing(0)
        lines.setHorizontalSpacing(2 * UNIT)
        lines.addWidget(self.tokens, 0, 0, 2, 1)
        lines.addWidget(self.unpin, 0, 1)
        lines.addWidget(self.repin, 1, 1)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * UNIT)
        column.addLayout(controls)
        column.addLayout(lines)
        column.addWidget(self._pages, 1)
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 2 * UNIT, 3 * UNIT, 2 * UNIT)
        layout.addWidget(self._stack)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        words = plain_label("muted", _EMPTY, wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(page)
        column.setSpacing(4 * UNIT)
        column.addStretch()
        column.addWidget(words)
        column.addWidget(self.pin, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        return page

    def _connect(self) -> None:
        comparing = self.session.comparing
        self.pin.clicked.connect(comparing.pin)
        self.repin.clicked.connect(comparing.pin)
        self.unpin.clicked.connect(comparing.unpin)
        self.progress.stopped.connect(comparing.stop)
        self.progress.resumed.connect(comparing.go_on)
        self.subjects.chosen.connect(self._subject_chosen)
        self.block.changed.connect(self._head_chosen)
        self.head.changed.connect(self._head_chosen)
        self.tokens.chosen.connect(self._position_chosen)
        self.maps.chosen.connect(self._cell_chosen)
        self.stages.chosen.connect(self._stage_chosen)

    # --- state -------------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "trace", "comparison", "selection", "options", "model", "trace_rows"):
            return
        pinned, trace = new.comparison.pinned, new.trace
        self.pin.setEnabled(trace is not None and trace.complete)
        self.repin.setEnabled(trace is not None and trace.complete and not self.session.comparing.compares_itself)
        self._stack.setCurrentIndex(0 if pinned is None else 1)
        if pinned is None:
            return
        b = None if trace is None or not trace.complete else Run(trace, new.selection.row)
        self._show_stages(pinned, b, new)
        another = old is None or old.comparison.pinned is not pinned
        if another or differs(old, new, "trace", "selection", "options", "model", "trace_rows"):
            another |= other_pass(old, new) or old is None or old.selection.row != new.selection.row
            if another or differs(old, new, "model", "trace_rows"):
                self._show_tokens(pinned, new)
            self.tokens.set_selected(new.query)
            self._show_heads(pinned, b, new)
            if another or differs(old, new, "options"):
                self._show_ranks(pinned, b, new)

    def _show_tokens(self, pinned: PinnedRun, state: ViewState) -> None:
        label = run_label(pinned.model, pinned.step, pinned.trace.batch, pinned.row)
        a = PairLine("A", label, [visible(piece.text) for piece in pinned.pieces])
        pieces = state.trace_pieces if state.trace is not None else ()
        b = PairLine("B", self._label_of_b(state), [visible(piece.text) for piece in pieces])
        both = zip_longest(*([piece.bytes or piece.text for piece in row] for row in (pinned.pieces, pieces)))
        differing = [one != other for one, other in both]
        self.tokens.set_lines(a, b, differing)
        self.unpin.setToolTip(f"Let A go, and its {data_size(pinned.trace.nbytes)} of memory ({UNPIN_KEY})")

    def _label_of_b(self, state: ViewState) -> str:
        if state.trace is None or state.model is None:
            return "no pass yet"
        if self.session.comparing.compares_itself:
            return "the same run"
        step = self.session.loop.step_of(state.trace) if state.generation.steps else None
        return run_label(state.model, step, state.trace.batch, state.selection.row)

    def _show_heads(self, pinned: PinnedRun, b: Run | None, state: ViewState) -> None:
        a, selection, view = Run(pinned.trace, pinned.row), state.selection, state.options.attention_view
        config = a.config if b is None else b.config  # the selection is B's
        self.block.set_value(min(selection.layer + 1, config.n_layers), config.n_layers)
        self.head.set_value(min(selection.head + 1, config.n_heads), config.n_heads)
        if b is None:
            self.maps.show_nothing("The pass has not come to its end yet.")
            return
        values_a, why = head_map(a, selection.layer, selection.head, view)
        values_b, why_b = head_map(b, selection.layer, selection.head, view)
        name = f"{block_name(selection.layer)}.att.{view}"
        if values_a is None and not why:
            why = why_missing(pinned.trace, name)
        if values_b is None and not why_b:
            why_b = why_missing(b.trace, name)
        self.maps.show_heads(
            HeadOfRun(values_a, why, [visible(piece.text) for piece in pinned.pieces]),
            HeadOfRun(values_b, why_b, [visible(piece.text) for piece in state.trace_pieces]),
            view,
        )
        cell = None if selection.key is None or state.query is None else (state.query, selection.key)
        self.maps.set_selected(cell)

    def _show_ranks(self, pinned: PinnedRun, b: Run | None, state: ViewState) -> None:
        if b is None:
            self.ranks.set_rankings((), ())
            return
        one, other, k = Run(pinned.trace, pinned.row).last_logits, b.last_logits, state.options.top_k
        text_a, text_b = pinned.token_text, self.session.token_text
        ranked_a, ranked_b = ranked_tokens(one, other, k), ranked_tokens(other, one, k)
        highest = max(ranked_a[0].probability, ranked_b[0].probability)
        self.ranks.set_rankings(
            ranked_items(ranked_a, text_a, text_b, -1, highest), ranked_items(ranked_b, text_b, text_a, +1, highest)
        )

    def _show_stages(self, pinned: PinnedRun, b: Run | None, state: ViewState) -> None:
        view, comparing = state.comparison, self.session.comparing
        self.stages.set_rows(stage_rows(in_order(view.differences)))
        self.stages.follow(state.selection.stage)
        if view.problem:
            self.progress.show_words(view.problem, broken=True)
        elif comparing.compares_itself:
            self.progress.show_words("A is the run on screen. Now run another prompt, step, model or seed.")
        elif b is None:
            self.progress.show_words("The pass has not come to its end yet.")
        elif view.done < comparing.total:
            words = f"{'stopped at' if view.stopped else 'comparing'} part {view.done + 1} of {comparing.total}"
            self.progress.show_progress(view.done, comparing.total, words, view.stopped)
        else:
            self.progress.show_words(summary(view.differences, pinned.trace.tokens, b.tokens))

    def as_table(self) -> Table | None:
        """The stages that were compared so far."""
        differences = self.session.state.comparison.differences
        return differences_table(in_order(differences)) if differences else None

    # --- who looks, and what is chosen -------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.comparing.watch(self._in_sight)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.comparing.watch(False)

    @Slot(bool)
    def set_in_sight(self, in_sight: bool) -> None:
        super().set_in_sight(in_sight)
        self.session.comparing.watch(in_sight and self.isVisible())

    def _apply_theme(self) -> None:
        for button, name in ((self.unpin, "close"), (self.repin, "pin")):
            button.setIcon(icon(name))
            button.setIconSize(QSize(px(14), px(14)))
            button.setFixedSize(px(24), px(24))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "unpin"):
            self._apply_theme()

    def _subject_chosen(self, subject: str) -> None:
        self._pages.setCurrentIndex([key for key, _, _ in _SUBJECTS].index(subject))
        for stepper in (self.block, self.head):
            stepper.setVisible(subject == "attention")

    def _head_chosen(self) -> None:
        self.session.select(layer=self.block.value - 1, head=self.head.value - 1)

    def _position_chosen(self, position: int) -> None:
        self.session.select(query=position)

    def _cell_chosen(self, query: int, key: int) -> None:
        self.session.select(query=query, key=key)

    def _stage_chosen(self, stage: str) -> None:
        trace = self.session.state.trace
        if trace is not None and stage in trace:
            self.session.select_stage(stage)


def _button(name: str, tip: str = "") -> QToolButton:
    button = QToolButton()
    button.setObjectName("inRow")
    button.setAccessibleName(name)
    button.setToolTip(tip)
    return button
