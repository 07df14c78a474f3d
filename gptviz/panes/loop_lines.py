"""The five lines of the loop, in the loop pane."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gptviz.panes.pane import differs
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.crop_bar import CropBar
from gptviz.widgets.loop_view import LoopRow, LoopView
from gptviz.widgets.note import Note
from gptviz.widgets.text import shape
from gptviz.widgets.theme import UNIT

_LINES = 5


class LinesView(QWidget):
    """Lights each line as it runs; or lets a person run them one by one."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.lines = LoopView()
        self.crop = CropBar()
        self.next = QPushButton("Run one line")
        self.next.setToolTip("Run one line of the loop, then wait in front of the next (Ctrl+Shift+N)")
        self.next.setAccessibleName("Run one line")
        self.next.clicked.connect(session.loop.line)
        self.finish = QPushButton("Finish the turn")
        self.finish.setToolTip("Run the lines that are left (Ctrl+G)")
        self.finish.setAccessibleName("Finish the turn")
        self.finish.clicked.connect(session.loop.step)
        self.note = Note()
        row = QHBoxLayout()
        row.setSpacing(2 * UNIT)
        row.addWidget(self.next)
        row.addWidget(self.finish)
        row.addWidget(self.note, 1, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.lines)
        layout.addWidget(self.crop)
        layout.addLayout(row)
        layout.addStretch()

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if not differs(old, new, "loop", "generation", "decoding", "model", "activity", "trace"):
            return
        held = new.loop.held
        self.next.setEnabled(held or (new.trace is not None and new.trace.complete and new.activity is None))
        self.finish.setVisible(held)
        self.lines.set_rows(rows_of(new), new.loop.lit, held)
        if new.model is None:
            return
        context = new.model.config.context_length
        text, computed = _sizes(new)
        self.crop.set_sizes(text, context, computed)
        self.note.setText(_note(new, text > context))


def rows_of(state: ViewState) -> list[LoopRow]:
    """Describe the lines of the turn that runs, or else of the step on screen."""
    length = 0 if state.model is None else state.model.config.context_length
    shapes, times = _turn(state)
    codes = (
        (f"context = ids[:, -{length}:]", "embedding"),
        ("logits = model(context)", "attention"),
        ("last = logits[:, -1, :]", "shortcut"),
        (_choice(state), "head"),
        ("ids = cat((ids, next), dim=1)", "feed-forward"),
    )
    shapes, times = ([*did, *[""] * (_LINES - len(did))] for did in (shapes, times))
    return [LoopRow(*code, shapes[line], times[line]) for line, code in enumerate(codes)]


def _choice(state: ViewState) -> str:
    """Write the fourth line as it runs, or as it ran for the step on screen."""
    decoding, shown = state.decoding, state.generation.shown
    if state.loop.lit is not None:
        decoding = state.loop_decoding
    elif shown is not None:
        step = state.generation.steps[shown]
        if step.picked:
            return f"next = [[{step.chosen.id}]]  # by hand"
        decoding = step.decoding
    return "next = argmax(last)" if decoding.greedy else f"next = draw(last / {decoding.temperature:g})"


def _turn(state: ViewState) -> tuple[list[str], list[str]]:
    """Return what the lines did: the shapes and the times, as far as they ran."""
    generation = state.generation
    shown = generation.shown
    if _is_on_screen(state):
        runs = state.loop.runs
        shapes = [f"{shape(run.before)} → {shape(run.after)}" for run in runs]
        return shapes, ["at hand" if run.ms is None else _ms(run.ms) for run in runs]
    if shown is None:
        return [], []
    assert state.model is not None
    step, vocabulary = generation.steps[shown], state.model.config.vocab_size
    before = len(generation.prompt) + shown
    seen, computed = step.context_tokens, step.computed
    sizes = (
        ((1, before), (1, seen)),
        ((1, computed), (1, computed, vocabulary)),
        ((1, computed, vocabulary), (1, vocabulary)),
        ((1, vocabulary), (1, 1)),
        ((1, before), (1, before + 1)),
    )
    shapes = [f"{shape(first)} → {shape(second)}" for first, second in sizes]
    if step.picked:
        shapes[3] = shape((1, 1))  # the logits did not decide
    return shapes, ["", _ms(step.ms)]


def _is_on_screen(state: ViewState) -> bool:
    """Tell whether the turn that ran last is the one to show: it runs, or was given up, or made the step on screen."""
    loop, generation = state.loop, state.generation
    if loop.lit is not None:
        return True
    if generation.shown is None:
        return len(loop.runs) < _LINES and loop.text_tokens == len(generation.ids)
    return generation.steps[generation.shown] is state.loop_step


def _sizes(state: ViewState) -> tuple[int, int]:
    """Return the tokens of the text before the crop, and the positions that were computed."""
    generation = state.generation
    if state.loop.lit is not None:
        return state.loop.text_tokens, state.loop.recomputed
    if generation.shown is None:
        return len(generation.ids), 0
    return len(generation.prompt) + generation.shown, generation.steps[generation.shown].computed


def _note(state: ViewState, cropped: bool) -> str:
    if state.loop.held:
        return f"Line {(state.loop.lit or 0) + 1} waits."
    if not state.generation.steps:
        return "Five lines make a token; then they run again on the longer text."
    if cropped:
        return "What fell out is gone for the model: it never sees it again."
    return ""


def _ms(ms: float) -> str:
    if ms < 0.01:
        return "< 0.01 ms"
    return f"{ms:.2g} ms" if ms < 1 else f"{ms:.3g} ms" if ms < 100 else f"{ms:,.0f} ms"
