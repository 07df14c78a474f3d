"""Surprisal under the prompt's tokens: the switch, the notes, and the mean."""

import math
from itertools import takewhile

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLabel, QPushButton

from gptviz.analysis.perplexity import mean_surprisal, perplexity
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.text import number, percent
from gptviz.widgets.token_strip import Note, TokenStrip


class SurprisalRow(QObject):
    """Notes for a token strip; for tokens that were typed since the last run there are none."""

    def __init__(self, session: Session, strip: TokenStrip) -> None:
        super().__init__(strip)
        self._session = session
        self._strip = strip
        self.switch = QPushButton("Surprisal")
        self.switch.setObjectName("toggle")
        self.switch.setCheckable(True)
        self.switch.setToolTip(
            "Show under each token how much it surprised the model, given those before it: −log₂ p in bits (Ctrl+U)"
        )
        self.switch.setAccessibleName("Surprisal under the tokens")
        self.switch.toggled.connect(self._toggled)
        self.summary = QLabel()
        self.summary.setObjectName("count")
        session.changed.connect(self._state_changed)

    def _toggled(self, checked: bool) -> None:
        self._session.set_option(surprisal=checked)

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        self.switch.setChecked(new.options.surprisal)
        if not new.options.surprisal:
            self._strip.set_notes(None)
            self.summary.hide()
            return
        row, measured = new.selection.row, new.measured.surprisal
        bits = _of_the_prompt(new, row)
        largest = math.log2(new.model.config.vocab_size) if new.model is not None else 1.0
        self._strip.set_notes(tuple(_note(value, largest) for value in bits) if bits is not None else ())
        mean = None if bits is None else mean_surprisal(bits)
        if mean is not None:
            self.summary.setText(f"mean {number(mean, 3)} bits · perplexity {number(perplexity(mean), 3)}")
        else:
            waiting = "not in the recording" if _lacks_logits(new) else "…"
            self.summary.setText(new.measured.note or ("one token: no surprisal" if measured is not None else waiting))
        self.summary.setToolTip(
            f"Mean over all tokens but the first; perplexity is 2 to the mean. A guess among "
            f"all tokens alike would have {number(largest, 3)} bits."
        )
        self.summary.show()


def _of_the_prompt(state: ViewState, row: int) -> tuple[float, ...] | None:
    """Return the bits of the prompt's tokens as far as they are those of the trace; None if none are known."""
    if state.measured.surprisal is None or row >= len(state.tokens) or row >= len(state.trace_rows):
        return None
    ran = [piece.id for piece in state.trace_rows[row]]
    pairs = zip(state.tokens[row].ids, ran, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return state.measured.surprisal[row][:same] if same else None


def _lacks_logits(state: ViewState) -> bool:
    return state.trace is not None and state.is_recorded and not state.trace.has("out_head")


def _note(bits: float, largest: float) -> Note:
    if math.isnan(bits):
        return Note("–", 0.0, "no surprisal: nothing stands before the first token")
    tip = f"surprisal {number(bits, 4)} bits: the model gave this token {percent(2.0**-bits)}"
    return Note(number(bits, 3), bits / largest, tip)
