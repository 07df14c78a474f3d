"""The way from number to number: forth to an operand, back, and again, like the pages of a browser."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gptviz.analysis.place import Place
from gptviz.session.numbers import selected_place
from gptviz.session.state import Trail, ViewState

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.session.session import Session

_LONGEST = 200  # numbers that are remembered


class Trailing(QObject):
    """Keeps the state's trail. A number that was chosen elsewhere begins a new one."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._goal: Trail | None = None  # the trail that belongs to the selection that is being made
        session.changed.connect(self._state_changed)

    def follow(self, place: Place) -> None:
        """Go to an operand of the selected number; parameters are ends of the way."""
        trail = self._session.state.trail
        if place.parameter or place == trail.here:
            return
        places = (*trail.places[: trail.at + 1], place)
        starts = tuple(start for start in trail.starts if start < len(places) - 1)
        self._go(_shortened(Trail(places, len(places) - 1, starts)))

    def back(self) -> None:
        self.go(self._session.state.trail.at - 1)

    def forward(self) -> None:
        self.go(self._session.state.trail.at + 1)

    def go(self, at: int) -> None:
        """Go to the number at place ``at`` of the trail, if there is one."""
        trail = self._session.state.trail
        if 0 <= at < len(trail.places):
            self._go(replace(trail, at=at))

    def _go(self, trail: Trail) -> None:
        assert trail.here is not None
        self._goal = trail
        try:
            self._session.go_to(trail.here)
            self._keep_up(self._session.state)
        finally:
            self._goal = None

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if old.selection is not new.selection or old.trace is not new.trace:
            self._keep_up(new, fits=new.trace is None or _has_all_of(new.trace, old.trace))

    def _keep_up(self, state: ViewState, fits: bool = True) -> None:
        trail, place = state.trail, selected_place(state.selection, state.trace)
        if place is None or not fits:
            trail = Trail() if place is None else Trail((place,), 0, (0,))
        elif self._goal is not None and place == self._goal.here:
            trail = self._goal
        elif place != trail.here:
            trail = _begun(trail, place)
        if trail != state.trail:
            self._session.change(trail=trail)


def _begun(trail: Trail, place: Place) -> Trail:
    """Begin anew at ``place``; a beginning that led nowhere is forgotten."""
    kept = trail.at if trail.at in trail.starts else trail.at + 1
    starts = tuple(start for start in trail.starts if start < kept)
    return _shortened(Trail((*trail.places[:kept], place), kept, (*starts, kept)))


def _shortened(trail: Trail) -> Trail:
    """Forget the oldest numbers of a trail that is too long."""
    excess = len(trail.places) - _LONGEST
    if excess <= 0:
        return trail
    starts = tuple(sorted({max(0, start - excess) for start in trail.starts}))
    return Trail(trail.places[excess:], trail.at - excess, starts)


def _has_all_of(trace: "Trace", before: "Trace | None") -> bool:
    """Tell whether every place in ``before`` is one of ``trace`` too."""
    if before is None:
        return False
    return trace.config == before.config and trace.batch >= before.batch and trace.tokens >= before.tokens
