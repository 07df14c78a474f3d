"""The rows of numbers that a sum is made of, as strips of colour and as bars."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gptviz.analysis.arithmetic import Explanation, Place, Terms, Vector
from gptviz.analysis.arithmetic.words import Words
from gptviz.analysis.stage_text import input_title
from gptviz.capture.stages import Stage
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.signed_bars import Factor, SignedBars, TermRow
from gptviz.widgets.text import number
from gptviz.widgets.theme import UNIT
from gptviz.widgets.vector_strips import StripRow, VectorStrips

_POINT = "Point at a column to read it, click to go to its number"
_LARGEST = 8  # terms that are shown at first
_ONE = {"att.queries": "query", "att.keys": "key", "att.values": "values"}
StageOf = Callable[[Place], Stage | None]


class Charts(QWidget):
    """Strips of the rows that take part, and the largest terms, or all, as bars."""

    chosen = Signal(object)  # the place of a number
    row_reached = Signal(int, int)  # top and bottom of a bar, in px of this widget

    def __init__(self) -> None:
        super().__init__()
        self._found: Explanation | None = None
        self._words = Words((), str, 1)
        self._all = False
        self._limit = 1.0  # of the bars
        self.strips, self.behind = _Strips(), _Strips()
        for strips in (self.strips, self.behind):
            strips.chosen.connect(self.chosen)
        self.terms_title = _label("rowTitle")
        self.bars = SignedBars()
        self.bars.chosen.connect(self._term_chosen)
        self.bars.row_reached.connect(self._row_reached)
        self.more = QPushButton()
        self.more.setObjectName("toggle")
        self.more.setToolTip("Show all terms, or the largest")
        self.more.clicked.connect(self._toggle)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT + UNIT // 2)
        column.addWidget(self.strips)
        column.addWidget(self.terms_title)
        column.addWidget(self.bars)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.behind)
        column.addStretch()

    def show_explanation(self, found: Explanation | None, words: Words, stage_of: StageOf) -> None:
        """Show the rows and terms of ``found``, or nothing."""
        if found is None or self._found is None or found.place != self._found.place:
            self._all = False
        self._found, self._words = found, words
        self.setVisible(found is not None and bool(found.vectors or found.terms or found.behind))
        if found is not None:
            self._show_strips(found, stage_of)
            self._show_terms(found.terms)

    def _show_strips(self, found: Explanation, stage_of: StageOf) -> None:
        terms = (
            found.terms if found.vectors and found.terms and len(found.terms) == len(found.vectors[0].values) else None
        )
        vectors = found.vectors if found.own_row is None else (*found.vectors, found.own_row)
        self.strips.show_rows(*self._rows(vectors, terms, stage_of))
        behind = found.behind
        vectors = () if behind is None or behind.right is None else (behind.left, behind.right)
        self.behind.show_rows(*self._rows(vectors, behind, stage_of))
        if behind is not None:
            self.behind.title.setText(f"Behind it: query · key = {number(behind.total)}")

    def _rows(
        self, vectors: tuple[Vector, ...], terms: Terms | None, stage_of: StageOf
    ) -> tuple[tuple[Vector, ...], list[StripRow], Words]:
        rows = [
            StripRow(self._strip_label(vector, stage_of), vector.values, not vector.parameter, vector.mark)
            for vector in vectors
        ]
        if terms is not None:
            rows.append(StripRow("product" if terms.right else "e^(s − m)", terms.values, False))
        return vectors, rows, self._words

    def _strip_label(self, vector: Vector, stage_of: StageOf) -> str:
        stage = None if vector.parameter else stage_of(vector.place(0))
        if stage is None:
            return "weights"
        if stage.local_name in _ONE and vector.axis == "feature":
            return f"{_ONE[stage.local_name]} {self._words.token(vector.index[2] or 0)}"
        return input_title(stage)

    # --- terms -------------------------------------------------------------------------------------------

    def _show_terms(self, terms: Terms | None) -> None:
        for part in (self.terms_title, self.bars):
            part.setVisible(terms is not None)
        self.more.setVisible(terms is not None and len(terms) > _LARGEST)
        if terms is None:
            return
        shown = self._shown(terms)
        rest = shown < len(terms) and not terms.compared
        total = "" if terms.compared else number(terms.total, 5)
        sizes = [abs(float(terms.values[terms.largest(1)[0]])), abs(terms.rest(shown)) if rest else 0.0]
        self._limit = max(*sizes, 0.0 if terms.extra is None else abs(terms.extra.value)) or 1.0
        self.bars.set_rows(
            shown + rest + (terms.extra is not None), self._row, total, signed=bool((terms.values < 0).any())
        )
        first = "" if len(terms) <= _LARGEST else ", the largest first"
        self.terms_title.setText(f"{terms.title}{first}")
        self.more.setText(f"The {_LARGEST} largest" if self._all else f"All {len(terms):,}")

    def _shown(self, terms: Terms) -> int:
        return len(terms) if self._all else min(_LARGEST, len(terms))

    def _row(self, row: int) -> TermRow:
        terms = self._terms
        shown, limit = self._shown(terms), self._limit
        if row < shown:
            term = terms.term(int(terms.largest(shown)[row]))
            factors = tuple(
                Factor(number(operand.value), not operand.place.parameter)
                for operand in (term.left, term.right)
                if operand is not None
            )
            label = self._words.at(terms.left.axis, term.i)
            return TermRow(label, factors, term.value / limit, "" if terms.compared else number(term.value))
        if row == shown and shown < len(terms) and not terms.compared:
            rest = terms.rest(shown)
            return TermRow(f"the other {len(terms) - shown:,}", (), rest / limit, number(rest), quiet=True)
        assert terms.extra is not None
        return TermRow("bias", (), terms.extra.value / limit, number(terms.extra.value), quiet=True)

    @property
    def _terms(self) -> Terms:
        assert self._found is not None
        assert self._found.terms is not None
        return self._found.terms

    # --- intents -----------------------------------------------------------------------------------------

    def _toggle(self) -> None:
        self._all = not self._all
        self._show_terms(self._terms)

    def _term_chosen(self, row: int, factor: int) -> None:
        terms = self._terms
        term = terms.term(int(terms.largest(self._shown(terms))[row]))
        operand = term.left if factor == 0 else term.right
        assert operand is not None
        self.chosen.emit(operand.place)

    def _row_reached(self, top: int, bottom: int) -> None:
        self.row_reached.emit(self.bars.y() + top, self.bars.y() + bottom)


class _Strips(QWidget):
    """Strips with a title above them, and below them what the pointer is at."""

    chosen = Signal(object)  # the place of a number

    def __init__(self) -> None:
        super().__init__()
        self._vectors: tuple[Vector, ...] = ()
        self._words = Words((), str, 1)
        self.title, self.readout = _label("rowTitle"), _label("muted", _POINT)
        self.strips = VectorStrips()
        self.strips.pointed.connect(self._pointed)
        self.strips.chosen.connect(self._strip_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * UNIT)
        column.setSpacing(UNIT + UNIT // 2)
        for part in (self.title, self.strips, self.readout):
            column.addWidget(part)

    def show_rows(self, vectors: tuple[Vector, ...], rows: list[StripRow], words: Words) -> None:
        """Show ``rows``, the first of which are ``vectors``; nothing if there are none."""
        self._vectors, self._words = vectors, words
        self.setVisible(bool(vectors))
        if vectors:
            self.strips.set_rows(rows)
            self.readout.setText(_POINT)
            self.title.setText(f"{len(vectors[0].values):,} {vectors[0].axis}s")

    def _strip_chosen(self, row: int, at: int) -> None:
        self.chosen.emit(self._vectors[row].place(at))

    def _pointed(self, at: object) -> None:
        if not isinstance(at, int) or not self._vectors:
            self.readout.setText(_POINT)
            return
        axis = self._vectors[0].axis
        values = [f"{row.label} {number(float(row.values[at]))}" for row in self.strips.rows]
        self.readout.setText(f"{axis} {self._words.at(axis, at)}   {'   '.join(values)}")


def _label(name: str, text: str = "") -> QLabel:
    label = plain_label(name, text)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label
