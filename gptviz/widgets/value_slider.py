"""A slider with its name and its value above it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QVBoxLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number
from gptviz.widgets.theme import UNIT


class ValueSlider(QWidget):
    """Any multiple of ``step`` within ``span``: by mouse, wheel, arrow keys, Page Up and Down, Home and End."""

    changed = Signal(float)

    def __init__(
        self, name: str, span: tuple[float, float], value: float, *, step: float = 0.05, tip: str = ""
    ) -> None:
        super().__init__()
        self._step = step
        self.caption = plain_label("caption", name)
        self.readout = plain_label("readout", "")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(round(span[0] / step), round(span[1] / step))
        self.slider.setPageStep(round(1 / step))
        self.slider.setAccessibleName(name)
        self.slider.setToolTip(f"{tip or name} (← →, Page Up and Page Down by 1)")
        self.slider.valueChanged.connect(self._moved)
        self.setFocusProxy(self.slider)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        line = QHBoxLayout()
        line.addWidget(self.caption, 1)
        line.addWidget(self.readout)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addLayout(line)
        column.addWidget(self.slider)
        self.set_value(value)

    @property
    def value(self) -> float:
        return round(self.slider.value() * self._step, 9)

    def set_value(self, value: float) -> None:
        """Show ``value`` without reporting a change."""
        self.slider.blockSignals(True)
        self.slider.setValue(round(value / self._step))
        self.slider.blockSignals(False)
        self._show()

    def _moved(self, _: int) -> None:
        self._show()
        self.changed.emit(self.value)

    def _show(self) -> None:
        self.readout.setText(f"{self.value:.2f}".replace("-", "−"))
        self.slider.setAccessibleDescription(number(self.value, 3))
