"""The two ends of the pane Where from: what is asked, and what came out."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gptviz.analysis.attribution_question import Question
from gptviz.analysis.candidates import Array, top_candidates
from gptviz.analysis.operands import stream_stages
from gptviz.session.state import ViewState
from gptviz.widgets.figures import Figures
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.progress_bar import ProgressBar
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.text import number, visible
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.token_choice import TokenChoice, TokenOption

_MOST_LISTED = 20


class Ask(QWidget):
    """One line that names the number: stage and feature of the stream, or one or two tokens."""

    stage_chosen = Signal(str)
    feature_chosen = Signal(int)
    token_picked = Signal(str, object)  # "token" or "minus", and the ID; None for the likeliest
    token_typed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.stages = QComboBox()
        self.stages.setAccessibleName("Place in the residual stream")
        self.stages.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.stages.setToolTip("Where the stream is read: after the embeddings, an attention or a feed-forward")
        self.stages.textActivated.connect(self.stage_chosen)
        self.feature = Stepper(
            "Feature of the stream",
            "Which of the stream's features; a click on a cell of the pane Stage chooses one too",
            "feature ",
        )
        self.feature.changed.connect(self.feature_chosen)
        self.token = TokenChoice("Token", "The token whose logit is taken apart: its text or ID, then Enter")
        self.minus = TokenChoice(
            "Token to compare with", "The token that it is compared with: its text or ID, then Enter"
        )
        for place, choice in (("token", self.token), ("minus", self.minus)):
            choice.picked.connect(partial(self._picked, place))
            choice.typed.connect(partial(self._typed, place))
            choice.textEdited.connect(self._edited)
        self.sign = plain_label("readout", "−")
        self.place = plain_label("muted")
        self.place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.problem = plain_label("problem", wrap=True)
        self.problem.hide()
        line = QHBoxLayout()
        line.setSpacing(2 * UNIT)
        for widget in (self.stages, self.feature, self.token, self.sign, self.minus):
            line.addWidget(widget)
        line.addWidget(self.place, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(UNIT)
        layout.addLayout(line)
        layout.addWidget(self.problem)
        self._show_kind("stream")

    def show_question(self, state: ViewState, question: Question, text_of: Callable[[int], str]) -> None:
        """Show what is asked of the trace of ``state``, with every choice made."""
        trace, parts = state.trace, state.where_from.parts
        assert trace is not None
        assert parts is not None
        self._show_kind(question.kind)
        piece = state.trace_pieces[parts.position]
        sequence = f"sequence {parts.row + 1}, " if trace.batch > 1 else ""
        after = "" if question.kind == "stream" else "after "
        self.place.setText(f"{sequence}{after}token {parts.position} {visible(piece.text)}")
        self.place.setToolTip(self.place.text())
        if question.kind == "stream":
            self._show_stream(stream_stages(trace.config), question, trace.config.emb_dim)
            return
        logits = trace.array("out_head")[parts.row, parts.position]
        listed = min(_MOST_LISTED, max(2, state.options.top_k))
        for choice, token, first in (
            (self.token, question.token, "the likeliest"),
            (self.minus, question.minus, "the likeliest of the others"),
        ):
            choice.set_options(partial(_likely, logits, listed, first, text_of))
            if token is not None:
                choice.set_shown(_written(token, text_of))

    def show_nothing(self) -> None:
        """There is no trace to ask about."""
        self.place.setText("")
        for widget in (self.stages, self.feature, self.token, self.minus):
            widget.setEnabled(False)

    def show_problem(self, text: str) -> None:
        """Say what is wrong with what was typed; nothing if ``text`` is empty."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def accept_typed(self) -> None:
        """What was typed is in use now."""
        for choice in (self.token, self.minus):
            choice.reset()

    # --- inside ------------------------------------------------------------------------------------------

    def _show_kind(self, kind: str) -> None:
        for widget, kinds in (
            (self.stages, ("stream",)),
            (self.feature, ("stream",)),
            (self.token, ("logit", "lead")),
            (self.sign, ("lead",)),
            (self.minus, ("lead",)),
        ):
            widget.setVisible(kind in kinds)
            widget.setEnabled(True)

    def _show_stream(self, stages: Sequence[str], question: Question, features: int) -> None:
        if [self.stages.itemText(place) for place in range(self.stages.count())] != list(stages):
            self.stages.clear()
            self.stages.addItems(list(stages))
        self.stages.setCurrentText(question.stage or "")
        self.feature.set_value(question.feature or 0, features - 1, 0)

    def _edited(self) -> None:
        self.show_problem("")

    def _picked(self, place: str, token: int | None) -> None:
        self.token_picked.emit(place, token)

    def _typed(self, place: str, text: str) -> None:
        self.token_typed.emit(place, text)


class Outcome(QStackedWidget):
    """The sum beside the captured value, or how far the reading of the parts has come."""

    stopped = Signal()
    resumed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.figures = Figures()
        self.figures.setAccessibleName("Sum of the parts and captured value")
        self.note = plain_label("muted", wrap=True)
        self.problem = plain_label("problem", wrap=True)
        self.progress = ProgressBar("Blocks read")
        self.progress.setFixedWidth(px(120))
        self.words = plain_label("muted", wrap=True)
        self.button = QPushButton("Stop")
        self.button.clicked.connect(self._clicked)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._sum = QWidget()
        column = QVBoxLayout(self._sum)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        for widget in (self.figures, self.problem, self.note):
            column.addWidget(widget)
        self._wait = QWidget()
        line = QHBoxLayout(self._wait)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(2 * UNIT)
        line.addWidget(self.progress)
        line.addWidget(self.words, 1)
        line.addWidget(self.button)
        self.addWidget(self._sum)
        self.addWidget(self._wait)
        self.show_words("")

    @property
    def shows_progress(self) -> bool:
        """Whether the progress of reading is on screen."""
        return self.currentWidget() is self._wait and not self.progress.isHidden()

    def show_sum(self, figures: Sequence[tuple[str, str]], note: str, problem: str) -> None:
        """Show how the sum stands; a ``problem`` is what can't be explained by rounding."""
        self.figures.set_groups([figures])
        self.note.setText(note)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.setCurrentWidget(self._sum)

    def show_words(self, text: str, broken: bool = False) -> None:
        """Say why there is nothing to show."""
        self.progress.hide()
        self.button.hide()
        self._write(text, broken)

    def show_progress(self, done: int, blocks: int, stopped: bool) -> None:
        """Show how many of the blocks were read, with a way to stop or to go on."""
        self.progress.show()
        self.button.show()
        self.progress.set_share(done / max(1, blocks))
        self.button.setText("Go on" if stopped else "Stop")
        self.button.setToolTip("Read the other blocks" if stopped else "Read no more blocks")
        self._write(
            f"stopped after block {done} of {blocks}" if stopped else f"reading block {done + 1} of {blocks}…", False
        )

    def _write(self, text: str, broken: bool) -> None:
        name = "problem" if broken else "muted"
        if self.words.objectName() != name:
            self.words.setObjectName(name)
            self.words.style().polish(self.words)
        self.words.setText(text)
        self.setCurrentWidget(self._wait)

    def _clicked(self) -> None:
        (self.resumed if self.button.text() == "Go on" else self.stopped).emit()


def _likely(logits: Array, count: int, first: str, text_of: Callable[[int], str]) -> tuple[TokenOption, ...]:
    found = top_candidates(logits, count)
    listed = (TokenOption(one.id, f"{_written(one.id, text_of)}   {number(one.logit)}") for one in found)
    return TokenOption(None, first), *listed


def _written(token: int, text_of: Callable[[int], str]) -> str:
    return f"{visible(text_of(token))} {token}"
