"""One answer of a question: a button, and below it the reason once it may be seen."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton

from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, current, px


class AnswerRow(QFrame):
    """``verdict`` is open, right, wrong (and chosen), or other; others make room once the answer is known."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self.setObjectName("answerRow")
        self.button = QPushButton()
        self.button.setObjectName("answer")
        self._letter = letter
        self.mark = QLabel()
        self.mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.reason = plain_label("answerReason", wrap=True)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(UNIT)
        layout.setVerticalSpacing(0)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self.button, 0, 0)
        layout.addWidget(self.mark, 0, 1)
        layout.addWidget(self.reason, 1, 0, 1, 2)
        self.set_open()

    def set_answer(self, text: str, reason: str) -> None:
        """Show ``text`` on the button; ``reason`` comes with the verdict."""
        self.button.setText(f"{self._letter}   {text}")
        self.button.setAccessibleName(f"Answer {self._letter}: {text}")
        self.button.setToolTip(f"Choose this answer ({self._letter})")
        self.reason.setText(reason)

    def set_open(self) -> None:
        """Wait for a choice."""
        self.setAccessibleName("")  # an earlier verdict
        self._set("open")

    def set_verdict(self, right: bool, chosen: bool) -> None:
        """Show whether the answer is right, and the reason if it is right or was chosen."""
        self._set("right" if right else "wrong" if chosen else "other")

    @property
    def verdict(self) -> str:
        return str(self.property("verdict"))

    def _set(self, verdict: str) -> None:
        self.setProperty("verdict", verdict)
        told = verdict in ("right", "wrong")
        self.reason.setVisible(told)
        self.mark.setVisible(told)
        if self.parent() is not None:  # else it would be a window of its own for a moment
            self.setVisible(verdict != "other")
        self.button.setEnabled(verdict == "open")
        self.button.setCursor(Qt.CursorShape.PointingHandCursor if verdict == "open" else Qt.CursorShape.ArrowCursor)
        if told:
            self.setAccessibleName(f"{self.button.text()}: {verdict}. {self.reason.text()}")
        self._draw()
        for widget in (self, self.button, self.reason):
            widget.style().unpolish(widget)
            widget.style().polish(widget)

    def _draw(self) -> None:
        theme = current()
        if self.verdict in ("right", "wrong"):
            name, tone = (
                ("check", theme.families["feed-forward"]) if self.verdict == "right" else ("close", theme.error)
            )
            self.mark.setPixmap(icon(name, tone).pixmap(QSize(px(16), px(16))))
        self.mark.setFixedWidth(px(28))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "reason"):
            self._draw()
