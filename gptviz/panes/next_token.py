"""Next token: the largest logits of the last position, with their probabilities."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from gptviz.analysis.candidates import Ranking, ranking
from gptviz.analysis.place import Place
from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs, other_pass
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import ranking_table
from gptviz.widgets.bar_list import BarList, BarRow
from gptviz.widgets.elided_label import ElidedLabel
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.text import number, percent, visible
from gptviz.widgets.theme import UNIT


class NextTokenPane(Pane):
    """A bar is as long as the token's probability, relative to the likeliest one."""

    name = "next-token"
    title = "Next token"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.choice = ElidedLabel()
        self.choice.setObjectName("choice")
        tip = "How many tokens are shown, at most the whole vocabulary"
        self.count = Stepper("Number of tokens shown", tip, "top ")
        self.count.changed.connect(self._count_changed)
        self.bars = BarList("probability", "logit")
        self.bars.setAccessibleName("Likeliest next tokens")
        self.bars.setToolTip("Click a token to see how its logit was made")
        self.bars.chosen.connect(self._bar_chosen)
        self.note = plain_label("muted", wrap=True)
        self._ranking: Ranking | None = None
        top = QHBoxLayout()
        top.addWidget(self.choice, 1)
        top.addWidget(self.count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 3 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(top)
        layout.addWidget(self.bars, 1)
        layout.addWidget(self.note)

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if new.trace is None or not new.trace.has("last"):
            self.choice.setText("…")
            self.bars.set_rows(0, self._bar)
            self.note.setText("" if new.trace is None else "The pass has not come to its last stage yet.")
            return
        row_changed = old is None or old.selection.row != new.selection.row
        if not (row_changed or other_pass(old, new) or differs(old, new, "options", "model", "decoding")):
            return
        logits = new.trace.array("last")[new.selection.row]
        self.count.set_value(min(new.options.top_k, logits.size), logits.size)
        self._ranking = ranked = ranking(logits, new.options.top_k)
        best = ranked[0]
        self.choice.setText(visible(self.session.token_text(best.id)))
        self.choice.setAccessibleName(f"Greedy choice {self.session.token_text(best.id)}")
        self.bars.set_rows(len(ranked), self._bar)
        untrained = new.model is not None and not new.model.trained
        uniform = percent(1 / logits.size)
        note = (
            f"Random weights: the text is noise. Without any preference each token would have {uniform}."
            if untrained
            else f"{_whose(new)}Probabilities are the softmax over all {logits.size:,} tokens."
        )
        if not new.decoding.greedy:
            note += f" This is before decoding ({new.decoding.brief}); the pane Loop shows what that makes of it."
        self.note.setText(note)

    def as_table(self) -> Table | None:
        """All rows, also those that have to be scrolled to."""
        return None if self._ranking is None else ranking_table(self._ranking, self.session.token_text)

    def _bar(self, place: int) -> BarRow:
        assert self._ranking is not None
        candidate = self._ranking[place]
        share = candidate.probability / float(self._ranking.probabilities[0])
        text = visible(self.session.token_text(candidate.id))
        return BarRow(text, str(candidate.id), share, percent(candidate.probability), number(candidate.logit))

    def _bar_chosen(self, place: int) -> None:
        assert self._ranking is not None
        row = self.session.state.selection.row
        self.session.go_to(Place("last", (row, self._ranking[place].id)))
        self.explain_selected()

    def _count_changed(self, count: int) -> None:
        self.session.set_option(top_k=count)


def _whose(state: ViewState) -> str:
    return "" if state.model is None else f"By {state.model.title}, {state.model.format}. "
