"""The prompt, its tokens, and Run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.theme import UNIT, current, px, text_font
from gptviz.widgets.token_strip import Chip, TokenStrip

_MOST_LINES = 4


class PromptEdit(QPlainTextEdit):
    """One line that grows; Enter runs, Shift+Enter makes a new line."""

    submitted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("prompt")
        self.setAccessibleName("Prompt")
        self.setPlaceholderText("Type a prompt")
        self.setToolTip("Enter runs the model, Shift+Enter makes a new line")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.blockCountChanged.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        """Be as high as the lines, up to a few."""
        lines = min(self.blockCount(), _MOST_LINES)
        margin = px(7)
        self.document().setDocumentMargin(margin)
        self.setFixedHeight(QFontMetrics(text_font(14)).lineSpacing() * lines + 2 * margin + 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)


class PromptBar(QWidget):
    """Sends the prompt to the session; shows its tokens and how much of the context they fill."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.edit = PromptEdit()
        self.edit.setPlainText(session.state.prompt)
        self.edit.textChanged.connect(self._text_changed)
        self.edit.submitted.connect(session.run)
        self.run = QPushButton("Run")
        self.run.setObjectName("primary")
        self.run.setToolTip("Run the model on the prompt (Ctrl+Return)")
        self.run.setAccessibleName("Run")
        self.run.clicked.connect(session.run)
        self.strip = TokenStrip()
        self.strip.chosen.connect(self._chip_chosen)
        self.count = QLabel()
        self.count.setObjectName("count")
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.notice = QLabel()
        self.notice.setObjectName("notice")
        self.first_row = QHBoxLayout()
        self.first_row.setSpacing(2 * UNIT)
        self.first_row.addWidget(self.edit, 1)
        self.first_row.addWidget(self.run, 0, Qt.AlignmentFlag.AlignTop)
        second_row = QHBoxLayout()
        second_row.setSpacing(3 * UNIT)
        second_row.addWidget(self.strip, 1)
        second_row.addWidget(self.notice)
        second_row.addWidget(self.count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 2 * UNIT, 3 * UNIT, UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(self.first_row)
        layout.addLayout(second_row)
        session.changed.connect(self._state_changed)
        self.apply_theme()

    def apply_theme(self) -> None:
        """Draw the icon in the theme's colour, and take over its sizes."""
        self.run.setIcon(icon("run", current().on_accent))
        self.run.setMinimumHeight(px(32))
        self.edit.fit()

    def _text_changed(self) -> None:
        self._session.set_prompt(self.edit.toPlainText())

    def _chip_chosen(self, position: int) -> None:
        self._session.select(query=position)
        if self._session.state.trace is None:
            self.strip.set_selected(position)

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.prompt != self.edit.toPlainText():
            self.edit.setPlainText(new.prompt)
        if new.prompt_tokens is not old.prompt_tokens:
            self.strip.set_chips([Chip(p.text, p.id, p.bytes, p.group) for p in new.prompt_tokens.pieces])
        self.strip.set_selected(new.query)
        self._show_count(new)
        untrained = new.model is not None and not new.model.trained
        self.notice.setText("random weights: the text is noise" if untrained else "")

    def _show_count(self, state: ViewState) -> None:
        tokens = len(state.prompt_tokens.ids)
        if state.model is None:
            self.count.setText(f"{tokens:,} tokens")
            return
        context = state.model.config.context_length
        self.count.setText(f"{tokens:,} / {context:,}")
        self.count.setToolTip(f"{tokens:,} tokens in the prompt; the model sees at most {context:,}")
        over = "true" if tokens > context else "false"
        if self.count.property("over") != over:
            self.count.setProperty("over", over)
            self.count.style().polish(self.count)
