"""A number that is typed: its name above, and below it the reason where what was typed is refused."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.number_rule import NumberRule, RefusedError, write
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, px

_WIDTH = 104  # px of the line edit
_KEYS = "↑ ↓ change it · Esc brings the last good number back"


class NumberField(QWidget):
    """Keeps the last good number as ``value`` while something else stands in it.

    ``changed`` is emitted with each new good number that a person enters, as they type. The owner may refuse a number
    for a reason that the rule does not know, such as the machine's memory: ``refuse(reason)`` until ``accept()``.
    """

    changed = Signal(object)  # int or float

    def __init__(
        self, name: str, value: float, rule: NumberRule, *, tip: str = "", hint: str = "", step: float = 1
    ) -> None:
        """Make the field; ``hint`` stands beside it, and the arrow keys change the number by ``step``."""
        super().__init__()
        self.rule = rule
        self._value = value
        self._step = step
        self._own, self._told = "", ""  # why it is refused: by the rule, by the owner
        self.caption = plain_label("caption", name)
        self.edit = _Edit(self)
        self.edit.setObjectName("number")
        self.edit.setAccessibleName(name)
        self.edit.setToolTip(f"{tip or name} ({_KEYS})")
        self.edit.textEdited.connect(self._edited)
        self.edit.editingFinished.connect(self._finished)
        self.hint = plain_label("muted", hint)
        self.warning = plain_label("fieldMessage", wrap=True)
        self.warning.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setFocusProxy(self.edit)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._line = line = QHBoxLayout()
        line.setSpacing(2 * UNIT)
        line.addWidget(self.edit)
        line.addWidget(self.hint, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addWidget(self.caption)
        column.addLayout(line)
        column.addWidget(self.warning)
        self.set_value(value)
        self._fit()

    @property
    def value(self) -> float:
        """The last good number: an int where the rule wants a whole one."""
        return self._value

    @property
    def message(self) -> str:
        """Why what stands in the field is refused; empty if it is not."""
        return self._own or self._told

    def set_value(self, value: float) -> None:
        """Show ``value`` without reporting a change, and forget what was wrong."""
        if value == self._value and not self.message and self._reads_as(value):
            return  # somebody may be typing it
        self._value = value
        self._own = self._told = ""
        self.edit.setText(_written(value))
        self.edit.setCursorPosition(0)
        self._show_message()

    def put_beside(self, widget: QWidget) -> None:
        """Put ``widget`` beside the line edit, in place of the hint."""
        self._line.replaceWidget(self.hint, widget)
        self.hint.hide()
        self._line.addStretch(1)

    def refuse(self, reason: str) -> None:
        """Say why the present number, which the rule takes, can't be used."""
        self._told = reason
        self._show_message()

    def accept(self) -> None:
        """Take back what ``refuse`` said."""
        self._told = ""
        self._show_message()

    def _reads_as(self, value: float) -> bool:
        try:
            return self.rule.read(self.edit.text()) == value
        except RefusedError:
            return False

    # --- inside ------------------------------------------------------------------------------------------

    def _edited(self, text: str) -> None:
        if self.rule.is_begun(text):
            return  # nobody is told off for a minus sign before they typed the digits
        self._read(text)

    def _finished(self) -> None:
        self._read(self.edit.text())

    def _read(self, text: str) -> None:
        if text == _written(self._value):  # what is written may be rounded
            self._own = ""
            self._show_message()
            return
        try:
            value = self.rule.read(text)
        except RefusedError as error:
            self._own = str(error)
            self._show_message()
            return
        self._own = ""
        if value != self._value:
            self._value, self._told = value, ""
            self._show_message()
            self.changed.emit(value)
        else:
            self._show_message()

    def step_by(self, steps: int) -> None:
        """Change the number by some steps, within the rule."""
        value = self._value + steps * self._step
        value = int(value) if self.rule.whole else round(value, 9)
        if self.rule.lowest is not None:
            value = max(value, self.rule.lowest)
        if self.rule.highest is not None:
            value = min(value, self.rule.highest)
        self.edit.setText(_written(value))
        self._read(self.edit.text())

    def bring_back(self) -> bool:
        """Show the last good number again; tell whether something else stood there."""
        if not self._own and self.edit.text() == _written(self._value):
            return False
        self._own = ""
        self.edit.setText(_written(self._value))
        self._show_message()
        return True

    def _show_message(self) -> None:
        message = self.message
        self.warning.setText(message)
        self.edit.setAccessibleDescription(message)
        if self.edit.property("refused") != bool(message):
            self.edit.setProperty("refused", bool(message))
            self.edit.style().polish(self.edit)

    def _fit(self) -> None:
        self.edit.setFixedWidth(px(_WIDTH))
        self.warning.setMinimumHeight(px(16))  # a line of its own, so that nothing moves when it is needed

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "warning"):
            self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(px(_WIDTH), super().minimumSizeHint().height())


class _Edit(QLineEdit):
    def __init__(self, field: NumberField) -> None:
        super().__init__()
        self._field = field

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            refused = self._field.message or self.text() != _written(self._field.value)
            if event.key() == Qt.Key.Key_Escape and refused:
                event.accept()  # else Esc stops what the model is doing
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._field.step_by(1 if event.key() == Qt.Key.Key_Up else -1)
        elif event.key() != Qt.Key.Key_Escape or not self._field.bring_back():
            super().keyPressEvent(event)


def _written(value: float) -> str:
    return str(value) if isinstance(value, int) else write(value)
