"""Named settings of several kinds: numbers in fields, True and False as switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.theme import UNIT, px

_SWITCH = (("False", False), ("True", True))
Value = bool | int | float


@dataclass(frozen=True)
class Setting:
    """One setting; its first ``value`` tells its kind. ``letter`` is what formulas call it."""

    name: str
    value: Value
    tip: str
    letter: str = ""
    step: float = 1


class SettingsForm(QWidget):
    """``changed`` is emitted with all values when one of them is another good one.

    ``attended`` is emitted with the name of the setting that has the keyboard's focus, or "" when none has.
    """

    changed = Signal(object)  # dict[str, Value]
    attended = Signal(str)

    def __init__(self, settings: Sequence[Setting], columns: int) -> None:
        super().__init__()
        self.fields: dict[str, NumberField] = {}
        self.switches: dict[str, Segmented] = {}
        self._switched: dict[str, bool] = {}
        self._warnings: dict[str, QLabel] = {}
        self._watched: dict[QObject, str] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4 * UNIT)
        grid.setVerticalSpacing(UNIT)
        for place, setting in enumerate(settings):
            widget = self._switch(setting) if isinstance(setting.value, bool) else self._field(setting)
            grid.addWidget(widget, place // columns, place % columns, Qt.AlignmentFlag.AlignTop)
        for column in range(columns):
            grid.setColumnStretch(column, 1)

    @property
    def values(self) -> dict[str, Value]:
        """All settings, each with its last good value."""
        return {**{name: field.value for name, field in self.fields.items()}, **self._switched}

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Show ``values`` without reporting a change."""
        for name, field in self.fields.items():
            field.set_value(values[name])
        for name, switch in self.switches.items():
            self._switched[name] = bool(values[name])
            switch.set_choice(str(self._switched[name]))
        self.accept()

    def refuse(self, name: str, reason: str) -> None:
        """Say at the setting ``name`` why its value can't be used."""
        self.accept()
        if name in self.fields:
            self.fields[name].refuse(reason)
        elif name in self._warnings:
            self._warnings[name].setText(reason)

    def accept(self) -> None:
        """Take back what ``refuse`` said."""
        for field in self.fields.values():
            field.accept()
        for warning in self._warnings.values():
            warning.setText("")

    @property
    def message(self) -> str:
        """The first reason why something is refused; empty if nothing is."""
        told = [field.message for field in self.fields.values()] + [label.text() for label in self._warnings.values()]
        return next((text for text in told if text), "")

    def _field(self, setting: Setting) -> NumberField:
        rule = NumberRule(whole=isinstance(setting.value, int))
        field = NumberField(setting.name, setting.value, rule, tip=setting.tip, hint=setting.letter, step=setting.step)
        field.changed.connect(self._changed)
        self._watch(field.edit, setting.name)
        self.fields[setting.name] = field
        return field

    def _switch(self, setting: Setting) -> QWidget:
        switch = Segmented([(text, text, setting.tip) for text, _ in _SWITCH], setting.name)
        switch.set_choice(str(setting.value))
        switch.chosen.connect(self._switch_chosen)
        for text, _ in _SWITCH:
            self._watch(switch.button(text), setting.name)
        self.switches[setting.name] = switch
        self._switched[setting.name] = bool(setting.value)
        caption, self._warnings[setting.name] = QLabel(setting.name), QLabel()
        caption.setObjectName("caption")
        self._warnings[setting.name].setObjectName("fieldMessage")
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        for widget in (caption, switch, self._warnings[setting.name]):
            column.addWidget(widget)
        self._warnings[setting.name].setMinimumHeight(px(16))
        return box

    def _switch_chosen(self, text: str) -> None:
        for name, switch in self.switches.items():
            self._switched[name] = switch.button("True").isChecked()
        self.changed.emit(self.values)

    def _changed(self, value: object) -> None:
        self.changed.emit(self.values)

    def _watch(self, widget: QWidget, name: str) -> None:
        self._watched[widget] = name
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self.attended.emit(self._watched.get(watched, ""))
        elif event.type() == QEvent.Type.FocusOut:
            self.attended.emit("")
        return super().eventFilter(watched, event)
