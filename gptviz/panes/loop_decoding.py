"""How the next token is chosen, in the loop pane: the settings, and the distribution before and after."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from gptviz.analysis.candidates import Ranking, ranking
from gptviz.analysis.decoding import Decoded, decode
from gptviz.analysis.decoding_settings import DEFAULT_SAMPLE_SEED, LARGEST_SEED
from gptviz.panes.pane import differs
from gptviz.session.session import Session
from gptviz.session.state import ModelInfo, ViewState
from gptviz.widgets.buttons import text_button
from gptviz.widgets.decoding_bars import DecodedRow, DecodingBars
from gptviz.widgets.inline_number_field import InlineNumberField
from gptviz.widgets.note import Note
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import number, percent, visible
from gptviz.widgets.theme import UNIT
from gptviz.widgets.two_columns import TwoColumns

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_WAYS = [
    ("greedy", "Greedy", "Deterministic: always the likeliest token, which is what temperature 0 means"),
    ("sample", "Sample", "Draw a token by its probability; the seed decides, so the same seed gives the same text"),
]
_MOST_TOKENS = 10_000
_TEMPERATURE = NumberRule(
    lowest=0, highest=1e6, lowest_reason="0 is greedy", highest_reason="all tokens are alike by then"
)
_TOP_P = NumberRule(lowest=1e-6, highest=1, lowest_reason="a token has to stay", highest_reason="1 keeps all")
_SEED = NumberRule(whole=True, lowest=0, highest=LARGEST_SEED)
_COUNT = NumberRule(whole=True, lowest=1, highest=_MOST_TOKENS, lowest_reason="fewer would be none")

_LEAST = 400  # px that both columns need side by side


@dataclass(frozen=True)
class _Shown:
    """What the bars show: a pass of a model, the step that it is of, and what decoding makes of its logits."""

    trace: "Trace"
    model: ModelInfo | None
    step: int
    decoded: Decoded


class DecodingView(TwoColumns):
    """A setting counts for the steps to come; the bars show at once what it makes of the pass on screen."""

    def __init__(self, session: Session) -> None:
        super().__init__(_LEAST)
        self._session = session
        self._warm = 1.0  # the temperature that Sample comes back to
        self._ranked: tuple[Trace, Ranking] | None = None
        self._shown: _Shown | None = None
        self.way = Segmented(_WAYS, "Decoding")
        self.way.chosen.connect(self._way_chosen)
        self.temperature = InlineNumberField("Temperature", 0.0, _TEMPERATURE, tip="Logits are divided by it", step=0.1)
        self.top_k = InlineNumberField("Top-k", 1, _top_k_rule(1), tip="How many of the likeliest tokens stay")
        self.top_p = InlineNumberField(
            "Top-p", 1.0, _TOP_P, tip="The likeliest tokens that have this probability together stay", step=0.05
        )
        self.seed = InlineNumberField(
            "Seed", DEFAULT_SAMPLE_SEED, _SEED, tip="The draw follows from it and the position"
        )
        self.count = InlineNumberField("New tokens", 20, _COUNT, tip="How many tokens Generate appends")
        self.temperature.changed.connect(lambda value: session.loop.set_decoding(temperature=float(value)))
        self.top_k.changed.connect(self._top_k_changed)
        self.top_p.changed.connect(lambda value: session.loop.set_decoding(top_p=float(value)))
        self.seed.changed.connect(lambda value: session.loop.set_decoding(seed=int(value)))
        self.generate = text_button("Generate", "Append that many tokens; Esc stops")
        self.generate.clicked.connect(self._generate)
        self.bars = DecodingBars()
        self.bars.picked.connect(self._pick)
        self.bars.marked.connect(self._name_pick)
        self.pick = text_button("Pick", "Choose the marked token at this step, and go on from it on a branch (Enter)")
        self.pick.clicked.connect(lambda: self._pick(self.bars.mark))
        self.again = text_button("Choose again", "Choose this step's token once more with these settings, on a branch")
        self.again.clicked.connect(session.travel.redraw)
        self.note = Note()
        self._lay_out()

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(UNIT)
        left.addWidget(self.way)
        left.addSpacing(UNIT)
        for field in self._fields:
            left.addWidget(field)
        self.count.put_before(self.generate)
        left.addStretch()
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * UNIT)
        buttons.addWidget(self.pick)
        buttons.addWidget(self.again)
        buttons.addStretch()
        right = QVBoxLayout()
        right.setSpacing(UNIT)
        right.addWidget(self.bars, 1)
        right.addWidget(self.note)
        right.addLayout(buttons)
        self.columns.addLayout(left)
        self.columns.addLayout(right, 1)

    @property
    def _fields(self) -> tuple[InlineNumberField, ...]:
        return self.temperature, self.top_k, self.top_p, self.seed, self.count

    # --- state -------------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if differs(old, new, "decoding", "model"):
            self._show_settings(new)
        idle = new.trace is not None and new.activity is None
        steps, here = new.generation.steps, self._session.travel.here
        self.generate.setEnabled(idle and not new.generation.playing)
        self.again.setEnabled(idle and here is not None and here < len(steps))
        if differs(old, new, "decoding", "trace", "generation", "model"):
            self._show_bars(new, here)
        self.pick.setEnabled(self._shown is not None and here is not None)

    def _show_settings(self, state: ViewState) -> None:
        decoding = state.decoding
        size = 50257 if state.model is None else state.model.config.vocab_size
        self.way.set_choice("greedy" if decoding.greedy else "sample")
        if not decoding.greedy:
            self._warm = decoding.temperature
        self.top_k.rule = _top_k_rule(size)
        self.temperature.set_value(decoding.temperature)
        self.top_k.set_value(size if decoding.top_k is None else decoding.top_k)
        self.top_p.set_value(decoding.top_p)
        self.seed.set_value(decoding.seed)
        for field in (self.top_k, self.top_p, self.seed):
            field.setEnabled(not decoding.greedy)

    def _show_bars(self, state: ViewState, here: int | None) -> None:
        if here is None and self._shown is not None and state.generation.shown is not None:
            return  # the pass of the step is under way, and the bars of the one before stay
        if state.trace is None or not state.trace.has("last") or here is None:
            self._shown = None
            self.bars.set_rows(0, self._row, 1.0, 1.0)
            batch = state.trace is not None and state.trace.batch > 1
            self.note.setText("A batch is on screen; the loop continues one text." if batch else "")
            return
        if self._ranked is None or self._ranked[0].kept is not state.trace.kept:
            logits = state.trace.array("last")[0]
            self._ranked = state.trace, ranking(logits, logits.size)
        position = len(state.generation.prompt) + here
        decoded = decode(self._ranked[1], state.decoding, position)
        self._shown = _Shown(state.trace, state.model, here, decoded)
        self.bars.set_rows(
            len(decoded.ranking), self._row, float(decoded.ranking.probabilities[0]), float(decoded.after[0])
        )
        self._name_pick(self.bars.mark)
        self.note.setText(self._explain(decoded))

    def _row(self, place: int) -> DecodedRow:
        assert self._shown is not None
        decoded = self._shown.decoded
        candidate = decoded.ranking[place]
        cut = ""
        if decoded.draw is not None and place >= decoded.kept:
            cut = "top-k" if place >= decoded.kept_by_k else "top-p"
        return DecodedRow(
            self._text(candidate.id),
            candidate.probability,
            float(decoded.after[place]),
            cut,
            decoded.drawable and place == decoded.place,
        )

    def _explain(self, decoded: Decoded) -> str:
        token = self._text(decoded.chosen.id)
        if not decoded.drawable:
            return "The logits are not all finite, so there are no probabilities to draw from."
        if math.isnan(decoded.chosen.probability):
            return f"The logits are not all finite, so there are no probabilities. argmax takes {token}."
        if decoded.draw is None:
            return f"Greedy is deterministic: {token} is the likeliest, so it has all."
        size = len(decoded.ranking)
        stays = "stays" if decoded.kept == 1 else "stay"
        stay = "All tokens stay" if decoded.kept == size else f"{decoded.kept:,} of {size:,} tokens {stays}"
        if decoded.kept < size:
            stay += f" with {percent(decoded.mass_kept)} of the probability, times {number(1 / decoded.mass_kept, 3)}"
        return f"{stay}. The draw {decoded.draw:.4f} falls on {token}."

    def _text(self, token: int) -> str:
        return visible(self._session.token_text(token))

    # --- intents -----------------------------------------------------------------------------------------

    def _way_chosen(self, way: str) -> None:
        self._session.loop.set_decoding(temperature=0.0 if way == "greedy" else self._warm)

    def _generate(self) -> None:
        """Append tokens as the fields say, or go to a field that is refused: nobody asked for its last value."""
        refused = next((field for field in self._fields if field.isEnabled() and field.message), None)
        if refused is not None:
            refused.edit.setFocus()
            return
        self._session.loop.play(int(self.count.value))

    def _top_k_changed(self, value: object) -> None:
        k, size = int(self.top_k.value), self.top_k.rule.highest
        self._session.loop.set_decoding(top_k=None if k == size else k)

    def _name_pick(self, place: int) -> None:
        if self._shown is not None:
            token = self._text(self._shown.decoded.ranking[place].id)
            self.pick.setText(f"Pick {token if len(token) < 14 else token[:13] + '…'}")

    def _pick(self, place: int) -> None:
        """Pick a token at the step that the bars are of: what plays may be further on than what is drawn."""
        shown = self._shown
        if shown is not None and shown.model is self._session.state.model:
            self._session.travel.pick(shown.decoded.ranking[place], shown.step, shown.trace)


def _top_k_rule(size: int) -> NumberRule:
    return NumberRule(
        whole=True,
        lowest=1,
        highest=size,
        lowest_reason="a token has to stay",
        highest_reason="the vocabulary has no more",
    )
