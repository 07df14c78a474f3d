"""How far something quiet has come, with a way to stop it or to go on; or a few words in its place."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.progress_bar import ProgressBar
from gptviz.widgets.text import as_tip
from gptviz.widgets.theme import UNIT, px

_WIDTH = 96  # px


class ProgressLine(QWidget):
    """A bar, words, and one button."""

    stopped = Signal()
    resumed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.bar = ProgressBar(name)
        self.words = plain_label("muted")
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton("Stop")
        self.button.setObjectName("reset")
        self.button.clicked.connect(self._clicked)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.bar)
        layout.addWidget(self.words, 1)
        layout.addWidget(self.button)
        self._fit()
        self.show_words("")

    def show_words(self, text: str, broken: bool = False) -> None:
        """Show words alone; ``broken`` ones are a problem."""
        self.bar.hide()
        self.button.hide()
        self._write(text, broken)

    def show_progress(self, done: int, total: int, text: str, stopped: bool) -> None:
        """Show how much of the whole is done."""
        self.bar.set_share(done / max(1, total))
        self.bar.show()
        self.button.setText("Go on" if stopped else "Stop")
        self.button.setToolTip("Do the rest too" if stopped else "Keep what is there, and do no more")
        self.button.show()
        self._write(text, False)

    def _write(self, text: str, broken: bool) -> None:
        name = "problem" if broken else "muted"
        if self.words.objectName() != name:
            self.words.setObjectName(name)
            self.words.style().polish(self.words)
        self.words.setText(text)
        self.words.setToolTip(as_tip(text))

    def _clicked(self) -> None:
        (self.resumed if self.button.text() == "Go on" else self.stopped).emit()

    def _fit(self) -> None:
        self.bar.setFixedWidth(px(_WIDTH))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "button"):
            self._fit()
