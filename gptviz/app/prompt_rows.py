"""The input lines: one for a single prompt, more for a batch."""

from functools import partial

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.theme import UNIT, px, text_font

_MOST_LINES = 4
MOST_CHARACTERS = 150_000  # a context of 1,024 tokens holds at most 131,072 bytes


class PromptEdit(QPlainTextEdit):
    """One line that grows; Enter runs, Shift+Enter makes a new line."""

    submitted = Signal()
    refused = Signal(int)  # characters of a text that no model here takes

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

    def text(self) -> str:
        """Return the text as it was written; toPlainText makes spaces of no-break spaces."""
        return self.document().toRawText().replace("\u2029", "\n")

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return not source.hasUrls() and super().canInsertFromMimeData(source)  # the window opens files

    def insertFromMimeData(self, source: QMimeData) -> None:
        length = len(source.text())
        if length > MOST_CHARACTERS:
            self.refused.emit(length)
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")  # Qt would insert a line separator, which does not count as a line
        elif enter:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)


class PromptRows(QWidget):
    """The second and later rows of a batch; ``add`` is the button that makes one more."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.edits: list[PromptEdit] = []
        self.removes: list[QToolButton] = []
        self._rows: list[QWidget] = []
        self.add = QToolButton()
        self.add.setObjectName("flat")
        self.add.setToolTip("Add a row: several prompts of equal token count make one batch (Ctrl+B)")
        self.add.setAccessibleName("Add a row to the batch")
        self.add.clicked.connect(self._add_clicked)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(UNIT)
        self.hide()
        session.changed.connect(self._state_changed)
        self._follow(session.state)

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours, and take over its sizes."""
        for button, name in ((self.add, "add"), *((button, "close") for button in self.removes)):
            button.setIcon(icon(name))
            button.setMinimumHeight(px(22))
        for edit in self.edits:
            edit.fit()

    def _add_clicked(self) -> None:
        self._session.add_prompt()

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.prompts is not old.prompts:
            self._follow(new)

    def _follow(self, state: ViewState) -> None:
        while len(self.edits) < len(state.prompts) - 1:
            self._make_row()
        while len(self.edits) > len(state.prompts) - 1:
            self.removes.pop()
            self.edits.pop()
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        for edit, text in zip(self.edits, state.prompts[1:], strict=True):
            if edit.text() != text:
                edit.setPlainText(text)
        self.setVisible(bool(self.edits))

    def _make_row(self) -> None:
        number = len(self.edits) + 1
        edit, remove = PromptEdit(), QToolButton()
        edit.setAccessibleName(f"Prompt, row {number + 1}")
        edit.textChanged.connect(partial(self._text_changed, edit))
        edit.submitted.connect(self._session.run)
        edit.refused.connect(self._session.refuse_paste)
        remove.setObjectName("flat")
        remove.setToolTip("Remove this row from the batch")
        remove.setAccessibleName(f"Remove row {number + 1}")
        remove.clicked.connect(partial(self._remove_clicked, remove))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(edit, 1)
        layout.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
        self._layout.addWidget(row)
        self._rows.append(row)
        self.edits.append(edit)
        self.removes.append(remove)
        self.apply_theme()

    def _text_changed(self, edit: PromptEdit) -> None:
        row = self.edits.index(edit) + 1
        if row < len(self._session.state.prompts):
            self._session.set_prompt(edit.text(), row)

    def _remove_clicked(self, button: QToolButton) -> None:
        self._session.remove_prompt(self.removes.index(button) + 1)
