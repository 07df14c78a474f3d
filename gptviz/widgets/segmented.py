"""A switch between a few choices that are all in sight."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget


class Segmented(QWidget):
    """Buttons in a row, one of them pressed."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str, str]], name: str) -> None:
        """Make the switch; each choice is its key, its text and its tooltip."""
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for index, (key, text, tip) in enumerate(choices):
            button = QPushButton(text)
            button.setCheckable(True)
            button.setObjectName("segment")
            button.setProperty("place", "first" if index == 0 else "last" if index == len(choices) - 1 else "middle")
            button.setToolTip(tip)
            button.setAccessibleName(f"{name}: {text}")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(self._clicked)
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self._group.addButton(button)
            self._buttons[key] = button
            layout.addWidget(button)

    def set_choice(self, key: str) -> None:
        """Press the button of ``key``."""
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def button(self, key: str) -> QPushButton:
        """Return the button of ``key``."""
        return self._buttons[key]

    def _clicked(self) -> None:
        for key, button in self._buttons.items():
            if button.isChecked():
                self.chosen.emit(key)
