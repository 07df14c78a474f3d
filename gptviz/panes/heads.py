"""Heads: what each of them does, as one number, over the prompt or over a built-in probe."""

import math
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from gptviz.analysis.attention import head_map, weights_at_hand, without_future
from gptviz.analysis.heads import SCORE_NAMES, SCORES
from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs
from gptviz.session.explain import LOAD_THE_MODEL
from gptviz.session.measuring import HEADS, PROBE
from gptviz.session.missing import why_missing
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import heads_table
from gptviz.widgets.formula import Formula
from gptviz.widgets.head_ranking import HeadRanking, RankedHead
from gptviz.widgets.heatmap import Heatmap, HeatmapData
from gptviz.widgets.legend import Legend
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.score_map import ScoreMap
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import number, visible
from gptviz.widgets.theme import UNIT, px

Array = np.ndarray[Any, np.dtype[Any]]

_MAP_FROM = 720  # px of width from which the head's own map has room
_ORDERS = ("highest", "lowest", "place")


class HeadsPane(Pane):
    """A layer × head map of one score, the same heads in a ranking, and the chosen head's attention."""

    name = "heads"
    title = "Heads"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._score = SCORES[SCORE_NAMES.index("induction")]
        self.scores = Segmented([(score.name, score.title, score.words) for score in SCORES], "Score")
        self.scores.set_choice(self._score.name)
        self.scores.chosen.connect(self._score_chosen)
        self.source = Segmented(
            [
                (
                    PROBE,
                    "Probe",
                    "Measure on 32 random tokens, said twice: nothing but the repetition can help there",
                ),
                (HEADS, "Prompt", "Measure on the prompt"),
            ],
            "Measured on",
        )
        self._source = PROBE
        self.source.set_choice(PROBE)
        self.source.chosen.connect(self._source_chosen)
        self.order = Segmented(
            [
                ("highest", "↓", "Highest first"),
                ("lowest", "↑", "Lowest first"),
                ("place", "1 2 3", "Block by block"),
            ],
            "Order",
        )
        self._order = "highest"
        self.order.set_choice(self._order)
        self.order.chosen.connect(self._order_chosen)
        self.map = ScoreMap()
        self.ranking = HeadRanking()
        for widget in (self.map, self.ranking):
            widget.setToolTip("Click chooses the head everywhere; a double click or Enter shows it in Attention")
            widget.chosen.connect(self._head_chosen)
            widget.opened.connect(self._show_attention)
        self.attention = Heatmap()
        self.attention.setAccessibleName("Attention of the chosen head")
        self.attention.hide()  # until there is room
        self.legend = Legend()
        self.note, self.words = (plain_label("muted", wrap=True) for _ in range(2))
        self.formula = Formula()
        self._lay_out()
        self._show_definition()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.scores)
        top.addStretch()
        second = QHBoxLayout()
        second.setSpacing(3 * UNIT)
        second.addWidget(self.source)
        second.addWidget(self.order)
        second.addWidget(self.legend, 1)
        body = QHBoxLayout()
        body.setSpacing(4 * UNIT)
        body.addWidget(self.map, 1)
        body.addWidget(self.ranking, 1)
        body.addWidget(self.attention, 1, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.setSpacing(4 * UNIT)
        foot.addWidget(self.words, 3)
        foot.addWidget(self.formula, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 2 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(top)
        layout.addLayout(second)
        layout.addWidget(self.note)
        layout.addLayout(body, 1)
        layout.addLayout(foot)

    @Slot(bool)
    def set_in_sight(self, in_sight: bool) -> None:
        super().set_in_sight(in_sight)
        self._watch()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch()

    def _watch(self) -> None:
        """Have the scores measured while they are looked at."""
        self.session.measuring.watch(*([self._source] if self._in_sight and self.isVisible() else []))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = event.size().width() >= px(_MAP_FROM)
        if room == self.attention.isHidden():
            self.attention.setVisible(room)
            self._show_attention_of(self.session.state)

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        selection = new.selection
        if differs(old, new, "measured", "trace") or old is None or old.selection.row != selection.row:
            self._show_scores(new)
        if differs(old, new, "measured", "trace", "selection"):
            self.map.set_selected(selection.layer, selection.head)
            self.ranking.set_selected(selection.layer, selection.head)
            self._show_attention_of(new)

    def _scores_of(self, state: ViewState) -> tuple[Array, Array, int] | None:
        """Return the scores (L, H, S), NaN where they are not known yet, those of uniform attention, and T."""
        measured = state.measured
        if state.trace is None:
            return None
        if self._source == PROBE:
            probe = measured.probe
            return None if probe is None else (probe.scores, probe.uniform, len(probe.ids))
        if not measured.heads:
            return None
        config, row = state.trace.config, state.selection.row
        known = np.full((config.n_layers, config.n_heads, len(SCORES)), np.nan)
        known[: len(measured.heads)] = [scores[row] for scores in measured.heads]
        return known, measured.uniform[row], state.trace.tokens

    def as_table(self) -> Table | None:
        """All scores of all heads, on what is chosen."""
        found = self._scores_of(self.session.state)
        return None if found is None else heads_table(found[0], SCORE_NAMES, [score.unit for score in SCORES])

    def _show_scores(self, state: ViewState) -> None:
        found = self._scores_of(state)
        self.ranking.setVisible(found is not None or not state.is_recorded)
        self.note.setText(state.measured.note or self._missing(state))
        self.note.setVisible(bool(self.note.text()))
        if found is None:
            self.map.set_values(np.zeros((0, 0)), 0, 1)
            self.ranking.set_rows((), None)
            return
        scores, uniform, tokens = found
        which = SCORE_NAMES.index(self._score.name)
        values, reference = scores[:, :, which], float(uniform[which])
        high = {"bits": math.log2(max(2, tokens)), "tokens": max(1, tokens / 2)}.get(self._score.unit, 1.0)
        self.map.set_values(values, 0.0, high, self._score.unit)
        self.legend.set_range(0.0, high, False, "no score" if np.isnan(values).any() else "")
        rows = [
            RankedHead(layer, head, float(values[layer, head]) / high, number(float(values[layer, head]), 3))
            for layer, head in self._ordered(values)
        ]
        line = None if math.isnan(reference) else (reference / high, f"uniform: {number(reference, 3)}")
        self.ranking.set_rows(rows, line)

    def _ordered(self, values: Array) -> list[tuple[int, int]]:
        places = [(layer, head) for layer, head in np.ndindex(*values.shape) if not np.isnan(values[layer, head])]
        if self._order == "place":
            return places
        return sorted(places, key=lambda place: values[place], reverse=self._order == "highest")

    def _missing(self, state: ViewState) -> str:
        """Say what is not there yet, or why it can't be."""
        measured, trace = state.measured, state.trace
        if trace is None:
            return "Nothing has run yet."
        if self._source == PROBE:
            if measured.probe is None and state.is_recorded:
                return (
                    f"The probe takes a pass, and the model is not loaded. Choose Prompt. {LOAD_THE_MODEL} to see it."
                )
            return "The probe is being run…" if measured.probe is None else ""
        if len(measured.heads) < trace.config.n_layers:
            return f"{len(measured.heads)} of {trace.config.n_layers} blocks are measured…"
        lacking = next((at for at, scores in enumerate(measured.heads) if np.isnan(scores).all()), None)
        if lacking is not None and state.is_recorded and weights_at_hand(trace, lacking) is None:
            return why_missing(trace, f"trf_blocks.{lacking}.att.weights")
        if trace.tokens < 2:
            return "One token has nothing to choose from: write more, or choose Probe."
        which = SCORE_NAMES.index(self._score.name)
        if np.isnan(measured.uniform[state.selection.row][which]):
            return "No token occurs twice in this prompt: repeat something, or choose Probe."
        return ""

    def _show_attention_of(self, state: ViewState) -> None:
        if self.attention.isHidden():
            return
        probe, trace, selection = state.measured.probe, state.trace, state.selection
        values: Array | None = None
        if self._source == PROBE and probe is not None and selection.layer < len(probe.maps):
            values = probe.maps[selection.layer, selection.head]
            labels = [visible(self.session.token_text(token)) for token in probe.ids]
        elif self._source == HEADS and trace is not None:
            values = head_map(trace, selection.layer, selection.head, "weights", selection.row)
            labels = [visible(piece.text) for piece in state.trace_pieces]
        shown = None if values is None else HeatmapData(without_future(values), 0.0, 1.0, False, labels, labels)
        self.attention.set_data(shown)

    def _show_definition(self) -> None:
        self.words.setText(self._score.words)
        self.formula.set_markup(self._score.formula)

    # --- intents -----------------------------------------------------------------------------------------

    def _score_chosen(self, name: str) -> None:
        self._score = SCORES[SCORE_NAMES.index(name)]
        self._show_definition()
        self._show_scores(self.session.state)

    def _source_chosen(self, source: str) -> None:
        self._source = source
        self._watch()
        self._show_scores(self.session.state)
        self._show_attention_of(self.session.state)

    def _order_chosen(self, order: str) -> None:
        self._order = order
        self._show_scores(self.session.state)

    def _head_chosen(self, layer: int, head: int) -> None:
        self.session.select(layer=layer, head=head)

    def _show_attention(self) -> None:
        self.pane_wanted.emit("attention")
