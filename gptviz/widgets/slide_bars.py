"""A slide of rankings: one list of bars, or two side by side, with a note below."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gptviz.widgets.bar_list import BarList, BarRow
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT


class SlideBars(QWidget):
    """Rows go down the first list, then down the second one if there are more than ``rows_a_list``."""

    def __init__(self, value_title: str, second_title: str, rows_a_list: int) -> None:
        super().__init__()
        self._most = rows_a_list
        self.sentence = plain_label("sentence", wrap=True)
        self.lists = (BarList(value_title, second_title), BarList(value_title, second_title))
        self.note = plain_label("muted", wrap=True)
        lists = QHBoxLayout()
        lists.setSpacing(12 * UNIT)
        for one in self.lists:
            one.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            lists.addWidget(one, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * UNIT)
        column.addWidget(self.sentence)
        column.addLayout(lists, 1)
        column.addWidget(self.note)

    def show_rows(self, sentence: str, rows: Sequence[BarRow], note: str) -> None:
        """Show ``rows`` under a sentence."""
        self.sentence.setText(sentence)
        self.note.setText(note)
        for place, one in enumerate(self.lists):
            part = rows[place * self._most : (place + 1) * self._most]
            one.setVisible(bool(part))
            one.set_rows(len(part), part.__getitem__)
