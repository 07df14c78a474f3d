"""Buttons for settings to try, in as many lines as they need; the one that is set is pressed."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from gptviz.widgets.theme import UNIT
from gptviz.widgets.wrapping_row import WrappingBox


class Presets(WrappingBox):
    """``chosen`` is emitted with the key of a button that was clicked, also when it was pressed already."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str, str]], name: str) -> None:
        """Make the buttons; each choice is its key, its text and its tooltip."""
        super().__init__(spacing=UNIT)
        self.setAccessibleName(name)
        self._buttons: dict[str, QPushButton] = {}
        for key, text, tip in choices:
            button = QPushButton(text)
            button.setObjectName("toggle")
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setAccessibleName(f"{name}: {text}")
            button.setAccessibleDescription(tip)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(self._clicked)
            self._buttons[key] = button
            self.row.addWidget(button)

    def set_choice(self, key: str | None) -> None:
        """Press the button of ``key`` alone; none for None."""
        for own, button in self._buttons.items():
            button.setChecked(own == key)

    def button(self, key: str) -> QPushButton:
        """Return the button of ``key``."""
        return self._buttons[key]

    def _clicked(self) -> None:
        clicked = self.sender()
        for key, button in self._buttons.items():
            if button is clicked:
                self.set_choice(key)
                self.chosen.emit(key)
