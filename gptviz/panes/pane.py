"""What all panes have in common."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QRect, Signal, Slot
from PySide6.QtGui import QKeySequence, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from gptviz.session.session import Session
from gptviz.session.state import ViewState

if TYPE_CHECKING:
    from gptviz.analysis.table import Table


class Pane(QWidget):
    """A part of the trace on screen. Renders from the state, sends intents to the session.

    A subclass makes its widgets in ``__init__`` and shows the state in ``render``. ``render`` gets the state
    that it saw last, or None when everything has to be shown; a pane out of sight renders once it is seen.
    """

    name: ClassVar[str]  # stable: command line, saved layouts
    title: ClassVar[str]
    shows_selected_stage: ClassVar[bool] = False
    how_to_fill: ClassVar[str] = "Wait until its numbers are there, then export again"  # while there is no table

    pane_wanted = Signal(str)  # the name of another pane, that the person wants to see

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._seen: ViewState | None = None
        self._in_sight = True
        self._keys: dict[QAbstractButton, QKeySequence] = {}  # taken from buttons while the pane is out of sight
        self.setAccessibleName(self.title)
        session.changed.connect(self._state_changed)

    @property
    def seen(self) -> ViewState | None:
        """The state that is on screen; None before there was any."""
        return self._seen

    @Slot()
    def explain_selected(self) -> None:
        """Show how the selected number was made."""
        self.pane_wanted.emit("arithmetic")

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        """Show ``new``; only what differs from ``old`` has to be touched."""
        raise NotImplementedError

    def as_table(self) -> "Table | None":
        """Return what the pane shows as a table, with numbers at full precision; None while there is nothing.

        Panes that have one are told by ``has_table`` of their entry in ``PANES``.
        """
        return None

    @property
    def shown_stage(self) -> str | None:
        """The stage whose numbers the pane shows: the selected one, unless it has one of its own."""
        return self.session.state.selection.stage

    def spot(self, part: str) -> tuple[QWidget, QRect] | None:
        """Return where a part of the pane is, named like its attribute, for whoever points at it; None if nowhere."""
        widget: object = self
        for name in part.split("."):
            widget = widget.get(name) if isinstance(widget, dict) else getattr(widget, name, None)
        return (widget, widget.rect()) if isinstance(widget, QWidget) else None

    def reveal(self) -> None:
        """Bring into sight what is selected, after the pane got another place."""

    @Slot(bool)
    def set_in_sight(self, in_sight: bool) -> None:
        """Tell whether another tab covers the pane: Qt counts a covered pane as visible."""
        self._in_sight = in_sight
        self._let_keys_work(in_sight)
        if in_sight and self.isVisible():
            self._catch_up()

    def _let_keys_work(self, in_sight: bool) -> None:
        """Keep the keys of buttons behind another tab from acting, and from competing with those in front."""
        for button in self.findChildren(QAbstractButton):
            if in_sight and button in self._keys:
                button.setShortcut(self._keys.pop(button))
            elif not in_sight and not button.shortcut().isEmpty():
                self._keys[button] = button.shortcut()
                button.setShortcut(QKeySequence())

    @Slot(object, object)
    def _state_changed(self, old: object, new: object) -> None:
        if not (self.isVisible() and self._in_sight):
            self._let_go()
            return
        if self.session.state.trace is not None and other_pass(self._seen, self.session.state):
            self.session.turns.add(self, self._catch_up)
        else:
            self._catch_up()

    def _let_go(self) -> None:
        """Hold no trace that was replaced while nobody looked: it can be hundreds of megabytes."""
        if self._seen is not None and self._seen.trace is not None and other_pass(self._seen, self.session.state):
            self._seen = replace(self._seen, trace=None)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._in_sight:
            self._catch_up()

    @Slot()
    def _catch_up(self) -> None:
        new = self.session.state
        if self.shows_selected_stage and new.awaits_stage and self._seen is not None:
            return  # what is on screen stays until the stage is there: drawing an empty place first takes time too
        if new is not self._seen:
            old, self._seen = self._seen, new
            self.render_state(old, new)


def differs(old: ViewState | None, new: ViewState, *fields: str) -> bool:
    """Tell whether any of the state's ``fields`` is another object than before."""
    return old is None or any(getattr(old, name) is not getattr(new, name) for name in fields)


def other_pass(old: ViewState | None, new: ViewState) -> bool:
    """Tell whether the trace is of another pass than before, not the same one with another block at hand."""
    before = None if old is None else old.trace
    if before is None or new.trace is None:
        return before is not new.trace or old is None
    return before.kept is not new.trace.kept
