"""Tokens side by side: what all their widgets have in common."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy


class TokenLine(QAbstractScrollArea):
    """Scrolls sideways; ``chosen`` tells the place of the token that a click or a key chose, from 0.

    ``name`` is what a screen reader calls it.
    """

    keeps_arrows = True

    chosen = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setFrameShape(self.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(name)

    def here_and_last(self) -> tuple[int, int]:
        """Return the place from which the arrow keys go, and the last one; -1 if there is none."""
        raise NotImplementedError

    def keyPressEvent(self, event: QKeyEvent) -> None:
        here, last = self.here_and_last()
        places = {
            Qt.Key.Key_Left: here - 1,
            Qt.Key.Key_Right: here + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        place = places.get(Qt.Key(event.key()))
        if place is None or last < 0:
            super().keyPressEvent(event)
        else:
            self.chosen.emit(min(max(place, 0), last))

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta, bar = event.angleDelta(), self.horizontalScrollBar()
        bar.setValue(bar.value() - (delta.y() or delta.x()))
