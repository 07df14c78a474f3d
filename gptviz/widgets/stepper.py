"""A whole number that is typed, or changed by one with a button, the arrow keys or the wheel."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSpinBox, QToolButton, QWidget

from gptviz.widgets.icons import icon
from gptviz.widgets.theme import px, text_font


class Stepper(QWidget):
    """‹ Block 1 ›"""

    changed = Signal(int)

    def __init__(self, name: str, tip: str, prefix: str) -> None:
        super().__init__()
        self.spin = QSpinBox()
        self.spin.setObjectName("stepper")
        self.spin.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.spin.setPrefix(prefix)
        self.spin.setRange(1, 1)
        self.spin.setKeyboardTracking(False)
        self.spin.setAccessibleName(name)
        self.spin.setToolTip(tip)
        self.spin.valueChanged.connect(self._value_changed)
        self.less = self._button(f"{name}: one less", "first", self.spin.stepDown)
        self.more = self._button(f"{name}: one more", "last", self.spin.stepUp)
        self.setFocusProxy(self.spin)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.less, self.spin, self.more):
            layout.addWidget(widget)
        self.apply_theme()

    def set_value(self, value: int, highest: int, lowest: int = 1) -> None:
        """Show ``value`` of ``lowest`` … ``highest`` without reporting a change."""
        self.spin.blockSignals(True)
        self.spin.setRange(lowest, highest)
        self.spin.setValue(value)
        self.spin.blockSignals(False)
        self._fit()
        self._enable()

    @property
    def value(self) -> int:
        return self.spin.value()

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours."""
        self.less.setIcon(icon("previous"))
        self.more.setIcon(icon("next"))
        for button in (self.less, self.more):
            button.setIconSize(QSize(px(12), px(12)))

    def _button(self, tip: str, place: str, call: object) -> QToolButton:
        button = QToolButton()
        button.setObjectName("stepperButton")
        button.setProperty("place", place)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRepeat(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(call)
        return button

    def _fit(self) -> None:
        value, highest = self.spin.value(), self.spin.maximum()
        longest = f"{self.spin.prefix()}{highest if highest < 100 else max(value, 100)}"
        self.spin.setFixedWidth(QFontMetrics(text_font(12)).horizontalAdvance(longest) + px(12))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "more"):
            self.apply_theme()
            self._fit()

    def _enable(self) -> None:
        self.less.setEnabled(self.spin.value() > self.spin.minimum())
        self.more.setEnabled(self.spin.value() < self.spin.maximum())

    def _value_changed(self, value: int) -> None:
        self._fit()
        self._enable()
        self.changed.emit(value)
