"""The code of an operation, and above it the line that calls it."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.code_view import CodeView
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT


@dataclass(frozen=True)
class ShownCode:
    """Code with the name and the place that stand above it."""

    name: str
    place: str
    text: str
    first_line: int
    marked: range


class SourceView(QWidget):
    """Two pieces of code with their captions."""

    def __init__(self) -> None:
        super().__init__()
        self.code = CodeView(few_lines=2)
        self.code.setAccessibleName("Source code of the operation")
        self.caller = CodeView(few_lines=1, wrapped=True)
        self.caller.setAccessibleName("The line that calls the operation")
        self.caller.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._caller_line, self._code_line = _Caption(), _Caption()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(UNIT // 2)
        layout.addWidget(self._caller_line)
        layout.addWidget(self.caller)
        layout.addSpacing(UNIT)
        layout.addWidget(self._code_line)
        layout.addWidget(self.code, 1)
        layout.addStretch()

    def show_code(self, code: ShownCode | None, caller: ShownCode | None, family: str) -> None:
        """Show the operation and its caller; either may be missing."""
        for shown, view, caption in ((code, self.code, self._code_line), (caller, self.caller, self._caller_line)):
            view.setVisible(shown is not None)
            caption.setVisible(shown is not None or view is self.code)
            if shown is not None:
                caption.set_words(shown.name, shown.place)
                view.set_code(shown.text, shown.first_line, shown.marked, family)
        if code is None:
            self._code_line.set_words("Source code", "can't be read for these classes")
        self._limit()

    @property
    def captions(self) -> tuple[str, str]:
        """What stands above the code, and above its caller."""
        return self._code_line.text, self._caller_line.text

    def _limit(self) -> None:
        self.code.setMaximumHeight(self.code.full_height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_code_line"):
            self._limit()


class _Caption(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._name, self._place = plain_label("rowTitle"), plain_label("muted")
        self._place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self._name)
        layout.addWidget(self._place, 1)

    @property
    def text(self) -> str:
        return f"{self._name.text()} {self._place.text()}"

    def set_words(self, name: str, place: str) -> None:
        self._name.setText(name)
        self._place.setText(place)
        self._place.setToolTip(place)
