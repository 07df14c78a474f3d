"""Logit lens: what each block would predict if the output head read the residual stream after it."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from gptviz.analysis.logit_lens import UNREAD, LensReading, lens_stages
from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs
from gptviz.session.missing import not_recorded
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import lens_table
from gptviz.widgets.candidate_row import CandidateRow, RowCandidate
from gptviz.widgets.cell_table import Cell, CellTable, Column
from gptviz.widgets.legend import Legend
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.progress_line import ProgressLine
from gptviz.widgets.text import number, percent, visible
from gptviz.widgets.theme import UNIT, px

_WORDS = "Final norm and head, applied after each block: a reading, no step of the model."
_MARK = "Colour: probability. •: the last row's token."
_LEGEND_WIDTH, _WIDE = 132, 400  # px
_SAME = 1e-3  # of a logit; more than rounding changes


if TYPE_CHECKING:
    from gptviz.tokenizer import Piece


class LensPane(Pane):
    """Rows are the embeddings and the blocks, columns are positions; the last row is the model's output."""

    name = "lens"
    title = "Logit lens"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._reading: LensReading | None = None
        self._pieces: tuple[Piece, ...] = ()
        self._columns: list[Column] = []
        self.words = plain_label("muted", _WORDS, wrap=True)
        self.table = CellTable("Likeliest token after each block, at each position")
        self.table.setToolTip("")
        self.row = CandidateRow("Likeliest tokens of the cell")
        self.legend = Legend()
        self.rescale = QPushButton("Rescale")
        self.rescale.setObjectName("toggle")
        self.rescale.setCheckable(True)
        self.rescale.setAccessibleName("Rescale colours")
        self.rescale.setToolTip("Colour relative to the largest probability in the table; the numbers stay as they are")
        self.progress = ProgressLine("Places read")
        self.rescale.toggled.connect(self._refresh)
        self.table.hovered_changed.connect(self._show_candidates)
        self.table.chosen.connect(self._cell_chosen)
        self.table.moved.connect(self._columns_moved)
        self.progress.stopped.connect(session.lens.stop)
        self.progress.resumed.connect(session.lens.go_on)
        self._foot = foot = QHBoxLayout()
        foot.setSpacing(3 * UNIT)
        foot.addWidget(self.legend)
        foot.addWidget(self.progress, 1)
        foot.addStretch()
        foot.addWidget(self.rescale)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 2 * UNIT, 3 * UNIT, 2 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.words)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.row)
        layout.addLayout(foot)

    # --- state -------------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if differs(old, new, "trace", "lens", "trace_rows"):
            self._refresh()
        if differs(old, new, "trace", "selection"):
            self._follow(new)
            self._show_candidates()

    @Slot()
    def _refresh(self, *_: object) -> None:
        state = self.session.state
        trace, self._reading = state.trace, _reading_of(state)
        if trace is None or not trace.complete:
            self.table.set_table((), (), self._cell, 1.0)
            self.row.set_candidates("", ())
            missing = "No pass has run on this model yet." if trace is None else "The pass has not come to its end yet."
            self.progress.show_words(missing)
            return
        blocks = [f"block {layer + 1}" for layer in range(trace.config.n_layers)]
        largest = 0.0 if self._reading is None else self._reading.largest
        rescaled = self.rescale.isChecked() and largest > 0
        high = largest if rescaled else 1.0
        if state.trace_pieces is not self._pieces:
            self._pieces = state.trace_pieces
            self._columns = [Column(visible(piece.text), str(piece.position)) for piece in self._pieces]
        self.table.set_table(["embeddings", *blocks], self._columns, self._cell, high)
        self.legend.set_range(0.0, high, signed=False)
        self.legend.setFixedWidth(px(_LEGEND_WIDTH))
        self.legend.setToolTip(f"probability of the likeliest token, from 0 to {percent(high)}")
        self._show_progress(state)
        self._show_candidates()

    def as_table(self) -> Table | None:
        """All candidates of all cells that were read."""
        reading = self._reading
        return None if reading is None else lens_table(reading, self._pieces, self.session.token_text)

    def _cell(self, stage: int, position: int) -> Cell | None:
        reading = self._reading
        if reading is None or position >= reading.tokens or not reading.has(stage, position):
            return None
        token, value = int(reading.ids[stage, position, 0]), float(reading.probabilities[stage, position, 0])
        last = len(reading.stages) - 1
        agrees = stage < last and token == int(reading.ids[last, position, 0])
        return Cell(visible(self.session.token_text(token)), _share(value), value, agrees)

    def _show_progress(self, state: ViewState) -> None:
        view, reading = state.lens, self._reading
        lacking = reading is not None and reading.lacks
        self.words.setText(_without_head(reading) if reading is not None and lacking else _WORDS)
        if view.problem:
            self.progress.show_words(view.problem, broken=True)
        elif reading is not None and reading.lacks and reading.complete:
            self.progress.show_words("")
        elif reading is None or not reading.complete:
            done, total = (0, 1) if reading is None else (reading.done, reading.total)
            share = f"{done:,} of {total:,} places" if reading is not None else "the last block"
            self.progress.show_progress(
                done, total, f"{'stopped at' if view.stopped else 'reading'} {share}", view.stopped
            )
        elif reading.difference > _SAME or np.isnan(reading.difference):
            off = number(reading.difference, 2)
            text = f"The last row is off by {off}: the weights were changed since. Press Run."
            self.progress.show_words(text, broken=True)
        else:
            off = "bit for bit" if reading.difference == 0 else f"logits within {number(reading.difference, 2)}"
            self.progress.show_words(f"The last row is the model's output, {off}\n{_MARK}")

    def _follow(self, state: ViewState) -> None:
        trace, query = state.trace, state.query
        if trace is None or query is None:
            self.table.set_selected(None, None)
            return
        stages = lens_stages(trace.config)
        stage = state.selection.stage
        self.table.set_selected((stages.index(stage), query) if stage in stages else None, query)

    @Slot(object)
    def _show_candidates(self, *_: object) -> None:
        state, reading = self.session.state, self._reading
        place = self.table.hovered or self.table.selected
        if state.trace is None or state.query is None or not self.table.row_titles:
            return
        stage, position = place or (len(self.table.row_titles) - 1, state.query)
        if position >= len(state.trace_pieces):
            return
        token = visible(state.trace_pieces[position].text)
        after = "the embeddings" if stage == 0 else self.table.row_titles[stage]
        heading = f"after {after}, at position {position} {token}"
        if reading is None or not reading.has(stage, position):
            never = reading is not None and stage < reading.first
            self.row.set_candidates(f"{heading}: {'not in the recording' if never else 'not read yet'}", ())
            return
        values = reading.probabilities[stage, position]
        first = float(values[0])
        candidates = [
            RowCandidate(
                visible(self.session.token_text(int(token_id))),
                percent(float(value)),
                float(value) / first if first > 0 else 0.0,
            )
            for token_id, value in zip(reading.ids[stage, position], values, strict=True)
        ]
        self.row.set_candidates(heading, candidates)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the words of the last line below it where it is short."""
        super().resizeEvent(event)
        wide = self.width() >= px(_WIDE)
        if wide == (self._foot.indexOf(self.progress) >= 0):
            return
        (self._column if wide else self._foot).removeWidget(self.progress)
        if wide:
            self._foot.insertWidget(1, self.progress, 1)
        else:
            self._column.addWidget(self.progress)

    # --- who looks, and what is chosen -------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.lens.watch(self._in_sight)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.lens.watch(False)

    @Slot(bool)
    def set_in_sight(self, in_sight: bool) -> None:
        super().set_in_sight(in_sight)
        self.session.lens.watch(in_sight and self.isVisible())

    @Slot()
    def _columns_moved(self) -> None:
        seen = self.table.columns_in_sight
        if len(seen):
            self.session.lens.look_at(seen[len(seen) // 2])

    def _cell_chosen(self, stage: int, position: int) -> None:
        trace = self.session.state.trace
        if trace is not None:
            self.session.select_stage(lens_stages(trace.config)[stage], query=position)


def _without_head(reading: LensReading) -> str:
    """Say what there is of a recording: at most the model's own output."""
    there = "The last row is the model's output. " if reading.first < len(reading.stages) else ""
    known = bool((reading.ids[: reading.first, :, 0] != UNREAD).any())
    rest = "Of the others there is what had been read" if known else "The others can't be computed"
    return not_recorded(reading.lacks, f"{there}{rest}:")


def _reading_of(state: ViewState) -> LensReading | None:
    """Return what was read of the trace on screen: of a new one nothing yet, whoever hears of it first."""
    trace, reading = state.trace, state.lens.reading
    if trace is None or reading is None or reading.tokens != trace.tokens:
        return None
    return reading if reading.stages == lens_stages(trace.config) else None


def _share(value: float) -> str:
    """Write a probability for a narrow cell."""
    return f"{value * 100:.0f} %" if value >= 0.1 else percent(value)
