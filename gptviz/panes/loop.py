"""Loop: generation as an instrument. The text as a strip in time; the lines, the decoding, the branches, the cost."""

from functools import cache, partial

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QToolButton, QVBoxLayout

from gptviz.analysis.table import Table
from gptviz.panes.loop_branches import BranchesView
from gptviz.panes.loop_cost import CostView
from gptviz.panes.loop_decoding import DecodingView
from gptviz.panes.loop_lines import LinesView
from gptviz.panes.pane import Pane, differs
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import costs_table
from gptviz.widgets.icons import icon
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.text import percent, visible
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.time_strip import TimeChip, TimeStrip

_VIEWS = [
    ("lines", "Lines", "The five lines of the loop, with their shapes"),
    ("decoding", "Decoding", "How the token is chosen: temperature, top-k, top-p, seed"),
    ("branches", "Branches", "All ways that were taken, each with its name"),
    ("cost", "Cost", "What each step costs, and the key/value cache"),
]


@cache
def _chip(text: str, picked: bool) -> TimeChip:
    return TimeChip(text, picked)


class LoopPane(Pane):
    """Of the four views the one in sight is drawn; the strip above belongs to all."""

    name = "loop"
    title = "Loop"
    how_to_fill = "Generate a token first (Ctrl+G)"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        travel = session.travel
        self.strip = TimeStrip()
        self.strip.setToolTip("Click a token to see how it was chosen (← →, Home, End)")
        self.strip.chosen.connect(travel.show)
        self.switch = Segmented(_VIEWS, "View of the loop")
        self.switch.set_choice("lines")
        self.switch.chosen.connect(self.show_view)
        self._icons: dict[QToolButton, str] = {}
        self.back = self._button("back", "One step back (Ctrl+PgUp)", travel.back)
        self.forward = self._button("forward", "One step on (Ctrl+PgDown)", travel.forward)
        self.undo = self._button("undo", "Undo (Ctrl+Z)", travel.undo)
        self.redo = self._button("redo", "Redo (Ctrl+Shift+Z)", travel.redo)
        self.views: dict[str, LinesView | DecodingView | BranchesView | CostView] = {
            "lines": LinesView(session),
            "decoding": DecodingView(session),
            "branches": BranchesView(session),
            "cost": CostView(session),
        }
        self.stack = QStackedWidget()
        for view in self.views.values():
            self.stack.addWidget(view)
        row = QHBoxLayout()
        row.setSpacing(UNIT)
        row.addWidget(self.switch)
        row.addStretch()
        for button in self._icons:
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 2 * UNIT, 3 * UNIT, 2 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.strip)
        layout.addLayout(row)
        layout.addWidget(self.stack, 1)
        self._apply_theme()
        self.show_view("lines")

    def show_view(self, key: str) -> None:
        """Bring one of the views to the front: lines, decoding, branches or cost."""
        self.switch.set_choice(key)
        view = self.views[key]
        view.render_state(None, self.session.state)
        self.stack.setCurrentWidget(view)
        for other in self.views.values():  # the one in sight decides on the height alone
            tall = QSizePolicy.Policy.Preferred if other is view else QSizePolicy.Policy.Ignored
            other.setSizePolicy(QSizePolicy.Policy.Preferred, tall)

    def heightForWidth(self, width: int) -> int:
        """Return the height that the view in sight needs: not that of the tallest, and not what it would like."""
        layout, view = self.layout(), self.stack.currentWidget()
        inside = None if view is None else view.layout()
        if layout is None or inside is None:
            return super().heightForWidth(width)
        margins = layout.contentsMargins()
        row = self.switch.sizeHint().height()
        above = margins.top() + self.strip.height() + row + 2 * layout.spacing() + margins.bottom()
        return above + inside.minimumHeightForWidth(width - margins.left() - margins.right())

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if differs(old, new, "generation", "trace", "model"):
            self._show_text(new)
        if differs(old, new, "generation", "history", "activity"):
            steps, shown = len(new.generation.steps), new.generation.shown
            self.back.setEnabled(steps > 0 and shown != 0)
            self.forward.setEnabled(steps > 0 and shown is not None and shown < steps - 1)
            for button, changes, word in (
                (self.undo, new.history.past, "Undo"),
                (self.redo, new.history.future, "Redo"),
            ):
                button.setEnabled(bool(changes))
                what = f": {changes[-1].what}" if changes else ""
                button.setToolTip(f"{word}{what} ({'Ctrl+Z' if word == 'Undo' else 'Ctrl+Shift+Z'})")
        for view in self.views.values():
            if view is self.stack.currentWidget():
                view.render_state(old, new)

    def as_table(self) -> Table | None:
        """What each step cost."""
        steps = self.session.state.generation.steps
        return costs_table(steps, self.session.state.costs.rows) if steps else None

    def _show_text(self, state: ViewState) -> None:
        generation = state.generation
        text = self.session.token_text
        chips = [_chip(text(token), False) for token in generation.prompt]
        chips += [_chip(text(step.chosen.id), step.picked) for step in generation.steps]
        context = state.model.config.context_length if state.model is not None else len(chips)
        self.strip.set_text(chips, len(generation.prompt), context, partial(self._tip, state))
        self.strip.set_shown(generation.shown)

    def _tip(self, state: ViewState, place: int) -> str:
        step = state.generation.steps[place]
        token = visible(self.session.token_text(step.chosen.id))
        how = f"drawn with {percent(step.chance)}" if step.chance is not None else "picked by hand"
        how = how if step.picked or not step.decoding.greedy else "greedy"
        lines = [f"step {place + 1}: {token} · ID {step.chosen.id} · {how}"]
        lines.append(f"{step.context_tokens} tokens in · probability {percent(step.chosen.probability)}")
        return "\n".join(lines)

    # --- look --------------------------------------------------------------------------------------------

    def _button(self, name: str, tip: str, call: object) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAutoRepeat(name in ("back", "forward"))
        button.clicked.connect(call)
        self._icons[button] = name
        return button

    def _apply_theme(self) -> None:
        for button, name in self._icons.items():
            button.setIcon(icon(name))
            button.setIconSize(QSize(px(16), px(16)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "stack"):
            self._apply_theme()
