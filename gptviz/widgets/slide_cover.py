"""The first slide: the prompt, its tokens, the model, and the promise that nothing is invented."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gptviz.widgets.chip_lines import ChipLines
from gptviz.widgets.figures import Figures
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import visible
from gptviz.widgets.theme import UNIT

_SHORT = 80  # characters that can be large
_LONGEST = 260  # characters of a prompt that have room


class SlideCover(QWidget):
    """``show_run`` fills it."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = plain_label("slidePrompt", wrap=True)
        self.prompt.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.caption = plain_label("muted")
        self.chips = ChipLines()
        self.promise = plain_label("sentence", wrap=True)
        self.facts = Figures(aligned=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4 * UNIT, 0, 2 * UNIT)
        column.setSpacing(3 * UNIT)
        column.addWidget(self.prompt)
        column.addSpacing(3 * UNIT)
        column.addWidget(self.caption)
        column.addWidget(self.chips, 1)
        column.addWidget(self.facts)
        column.addSpacing(2 * UNIT)
        column.addWidget(self.promise)

    def show_run(
        self, prompt: str, chips: Sequence[tuple[str, int]], caption: str, facts: Sequence[tuple[str, str]], words: str
    ) -> None:
        """Show a prompt, its tokens under ``caption``, facts of the model, and a closing sentence."""
        text = "".join(letter if letter == " " else visible(letter) for letter in prompt[: _LONGEST + 1])
        self.prompt.setText(f"“{text[:_LONGEST]}…”" if len(prompt) > _LONGEST else f"“{text}”")
        self.prompt.setProperty("long", "true" if len(text) > _SHORT else "false")
        self.prompt.style().polish(self.prompt)
        self.chips.set_chips(chips)
        self.caption.setText(caption)
        self.facts.set_groups([(fact,) for fact in facts])
        self.promise.setText(words)
