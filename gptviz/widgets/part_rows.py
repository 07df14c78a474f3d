"""Rows of parts, each a placeholder or the real thing."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.theme import UNIT

DUMMY, REAL = "dummy", "real"


class PartRows(QWidget):
    """A switch for each part; ``changed`` is emitted with the keys of the real ones."""

    changed = Signal(object)  # frozenset[str]

    def __init__(self, parts: Sequence[tuple[str, str, str, str]]) -> None:
        """Make the rows; each part is its key, its name, and what its placeholder and the real part are called."""
        super().__init__()
        self._switches: dict[str, Segmented] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * UNIT)
        grid.setVerticalSpacing(UNIT)
        grid.setColumnStretch(0, 1)
        for place, (key, name, dummy, real) in enumerate(parts):
            label = plain_label("", name)
            switch = Segmented([(DUMMY, "Placeholder", dummy), (REAL, "Real", real)], name)
            switch.set_choice(DUMMY)
            switch.chosen.connect(self._chosen)
            self._switches[key] = switch
            grid.addWidget(label, place, 0)
            grid.addWidget(switch, place, 1)

    @property
    def real(self) -> frozenset[str]:
        """The keys of the parts that are real."""
        return frozenset(key for key, switch in self._switches.items() if switch.button(REAL).isChecked())

    def switch(self, key: str) -> Segmented:
        """Return the switch of the part ``key``."""
        return self._switches[key]

    def set_real(self, keys: frozenset[str]) -> None:
        """Make the parts ``keys`` real, and all others placeholders, without reporting a change."""
        for key, switch in self._switches.items():
            switch.set_choice(REAL if key in keys else DUMMY)

    def _chosen(self, choice: str) -> None:
        self.changed.emit(self.real)
