"""The prompt, its tokens, and Run."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from gptviz import resources
from gptviz.app.prompt_rows import PromptEdit, PromptRows
from gptviz.app.surprisal_row import SurprisalRow
from gptviz.session.requests import CheckpointRequest
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.theme import UNIT, current, px
from gptviz.widgets.token_strip import Chip, TokenStrip


class PromptBar(QWidget):
    """Sends the prompts to the session; shows their tokens and how much of the context they fill."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.edit = PromptEdit()
        self.edit.setPlainText(session.state.prompt)
        self.edit.textChanged.connect(self._text_changed)
        self.edit.submitted.connect(self._submitted)
        self.edit.refused.connect(session.refuse_paste)
        self.run = QPushButton("Run")
        self.run.setObjectName("primary")
        self.run.setToolTip("Run the model on the prompt (Ctrl+Return)")
        self.run.setAccessibleName("Run")
        self.run.clicked.connect(self._run_clicked)
        self.strip = TokenStrip()
        self.strip.chosen.connect(self._chip_chosen)
        self.count = QLabel()
        self.count.setObjectName("count")
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._make_notice()
        self.rows = PromptRows(session)
        self.surprisal = SurprisalRow(session, self.strip)
        self.row = Stepper("Row", "Which row of the batch is shown", "Row ")
        self.row.changed.connect(lambda row: session.select(row=row - 1))
        self.row.hide()
        self.first_row = QHBoxLayout()
        self.first_row.setSpacing(2 * UNIT)
        self.first_row.addWidget(self.edit, 1)
        self.first_row.addWidget(self.rows.add, 0, Qt.AlignmentFlag.AlignTop)
        self.first_row.addWidget(self.run, 0, Qt.AlignmentFlag.AlignTop)
        second_row = QHBoxLayout()
        second_row.setSpacing(3 * UNIT)
        second_row.addWidget(self.row)
        second_row.addWidget(self.strip, 1)
        second_row.addWidget(self.surprisal.summary)
        second_row.addWidget(self.surprisal.switch)
        second_row.addWidget(self.notice)
        second_row.addWidget(self.see_trained)
        second_row.addWidget(self.load)
        second_row.addWidget(self.count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 2 * UNIT, 3 * UNIT, UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(self.first_row)
        layout.addWidget(self.rows)
        layout.addLayout(second_row)
        session.changed.connect(self._state_changed)
        self.apply_theme()

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours, and take over its sizes."""
        self.run.setIcon(icon("run", current().on_accent))
        self.run.setMinimumHeight(px(32))
        self.edit.fit()
        self.rows.apply_theme()

    def _make_notice(self) -> None:
        """Say beside the tokens what is to be known of the model, with a way to another one."""
        self.notice = plain_label("notice")
        bundled = ", ".join(resources.MODELS.values())
        tip = f"Open {bundled}, which comes with gptviz (Ctrl+6)"
        self.see_trained = self._make_link("see a trained one", "See a trained model", tip)
        self.see_trained.clicked.connect(self._see_trained)
        tip = "Load the model of the recorded run, which stays on screen (Ctrl+Alt+L)"
        self.load = self._make_link("load the model", "Load the model", tip)
        self.load.clicked.connect(self._session.recording.load_model)

    def _make_link(self, text: str, name: str, tip: str) -> QToolButton:
        link = QToolButton()
        link.setObjectName("link")
        link.setText(text)
        link.setAccessibleName(name)
        link.setToolTip(tip)
        return link

    def _run_clicked(self) -> None:
        self._session.run()

    def _see_trained(self) -> None:
        self._session.opening.open(CheckpointRequest(next(iter(resources.MODELS))))

    def _submitted(self) -> None:
        self._session.run()
        self.window().setFocus()  # so that the arrow keys walk through the pass

    def _text_changed(self) -> None:
        self._session.set_prompt(self.edit.text())

    def _chip_chosen(self, position: int) -> None:
        self._session.select(query=position)
        if self._session.state.trace is None:
            self.strip.set_selected(position)

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.prompt != self.edit.text():
            self.edit.setPlainText(new.prompt)
        row = min(new.selection.row, len(new.tokens) - 1)
        if new.tokens is not old.tokens or new.selection.row != old.selection.row:
            self.strip.set_chips([Chip(p.text, p.id, p.bytes, p.group) for p in new.tokens[row].pieces])
        self.strip.set_selected(new.query)
        self._show_count(new)
        batch = 1 if new.trace is None else new.trace.batch
        self.row.setVisible(batch > 1)
        self.row.set_value(new.selection.row + 1, batch)
        untrained = new.model is not None and not new.model.trained
        problem = new.tokens[row].problem.partition(":")[0]
        recorded = "" if new.recorded is None else f"recorded {new.recorded.when}: the model is not loaded"
        self.notice.setText(recorded or problem or ("random weights: the text is noise" if untrained else ""))
        self.see_trained.setVisible(untrained and not recorded and bool(resources.MODELS))
        self.load.setVisible(bool(recorded))

    def _show_count(self, state: ViewState) -> None:
        counts = [len(row.ids) for row in state.tokens]
        written = " and ".join(f"{count:,}" for count in counts)
        if state.model is None:
            self.count.setText(f"{written} tokens")
            return
        context = state.model.config.context_length
        self.count.setText(f"{written} / {context:,}")
        self.count.setToolTip(f"{written} tokens in the prompt; the model sees at most {context:,}")
        over = "true" if max(counts) > context or len(set(counts)) > 1 else "false"
        if self.count.property("over") != over:
            self.count.setProperty("over", over)
            self.count.style().polish(self.count)
