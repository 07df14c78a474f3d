"""Sets up the window for each step of the tour, points at what it speaks of, and puts everything back at its end."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QRect, Qt, QTimer, Slot
from PySide6.QtWidgets import QWidget

from gptviz.app.settings import Settings
from gptviz.capture.stages import block_name, catalogue
from gptviz.session.state import Options, Selection, ViewState
from gptviz.widgets.theme import px

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow
    from gptviz.tour.steps import Step
    from gptviz.widgets.pointer import Pointer

REVEAL_KEY = "F4"
_RIGHT = ("next-token", "generation")
_BESIDE, _BELOW = 640, 600  # px that several panes need side by side, and one above the other with the header
_LAB_SHARE = 0.9  # of the tour's usual width, beside a lab
_WIDTH = (0.27, 320, 440)  # of the tour's dock: share of the window, smallest and largest px


class TourGuide(QObject):
    """Follows the state's tour. What the person had on screen is kept while it is on."""

    def __init__(self, window: "MainWindow", settings: Settings | None) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._pointer: Pointer | None = None
        self._before: tuple[QByteArray, str | None, Selection, Options] | None = None
        self._prepared: tuple[int, bool, bool] | None = None  # for which place the window was set up, and how far
        self._selecting = False  # the window waits for its panes, to select what the step speaks of
        session = window.session
        if settings is not None:
            session.set_option(predict_first=settings.predict_first)
            session.tour.restore(settings.tour_place)
        session.changed.connect(self._state_changed)
        window.docks["tour"].toggleViewAction().toggled.connect(self._dock_toggled)

    @property
    def is_on(self) -> bool:
        return self._before is not None

    @property
    def is_settled(self) -> bool:
        """Whether the window is as the present step wants it."""
        on = self._window.session.state.tour.on
        return on == self.is_on and not self._selecting and (not on or self._wanted() == self._prepared)

    def layout_to_save(self) -> QByteArray:
        """Return the person's own layout, also while the tour has another one."""
        return self._window.bench.layout_to_save() if self._before is None else self._before[0]

    def toggle(self) -> None:
        """Begin or go on with the tour, or leave it."""
        tour = self._window.session.tour
        if tour.state.on:
            tour.leave()
        else:
            tour.open()

    def set_predict_first(self, wanted: bool) -> None:
        """Let tour and labs ask before they show, or not."""
        self._window.session.set_option(predict_first=wanted)
        if self._settings is not None:
            self._settings.predict_first = wanted

    def reveal_answers(self) -> None:
        """Show the answers of all questions in sight, of the tour or of labs."""
        from gptviz.widgets.question_card import reveal_all

        reveal_all(self._window)

    def forget(self) -> None:
        """End the tour without bringing the layout back: another one takes its place."""
        if self._before is not None:
            self._put_back(layout=False)
            self._window.session.tour.leave()

    # --- inside ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.tour.on != self.is_on or (self.is_on and self._wanted() != self._prepared):
            QTimer.singleShot(0, self, self._catch_up)  # when everybody has seen this state
        if self._settings is not None and new.tour.place != old.tour.place:
            self._settings.tour_place = new.tour.place

    def _wanted(self) -> tuple[int, bool, bool]:
        state, tour = self._window.session.state, self._window.session.tour
        return state.tour.place, tour.asking, state.trace is not None

    @Slot()
    def _catch_up(self) -> None:
        on = self._window.session.state.tour.on
        if not on and self.is_on:
            self._put_back(layout=True)
        elif on:
            entering = not self.is_on
            if entering:
                self._keep()
            wanted = self._wanted()
            if wanted != self._prepared:
                self._prepared = wanted
                self._set_up(self._window.session.tour.step, asking=wanted[1])
            if entering:
                self._window.docks["tour"].pane.setFocus()

    def _keep(self) -> None:
        window = self._window
        lab = window.bench.last if window.bench.is_open else None
        window.bench.leave()
        state = window.session.state
        self._before = window.saveState(), lab, state.selection, state.options
        window.place_docks()

    def _put_back(self, layout: bool) -> None:
        assert self._before is not None
        (docks, lab, selection, options), self._before = self._before, None
        self._prepared = None
        if self._pointer is not None:
            self._pointer.point_at(None)
        session = self._window.session
        if layout:
            self._window.bench.leave()
            self._window.restoreState(docks)
            if lab is not None:
                self._window.bench.open(lab)
        predict = session.state.options.predict_first
        session.set_option(**{**asdict(options), "predict_first": predict})
        session.select(**asdict(selection))

    # --- a step ------------------------------------------------------------------------------------------

    def _set_up(self, step: "Step", asking: bool) -> None:
        bench = self._window.bench
        lab = None if asking or step.lab not in bench.names else step.lab
        if lab is None:
            bench.leave()
            self._show(("tour",) if asking else ("tour", *self._fitting(step)))
        else:
            if not bench.is_open:
                self._show(("tour",))
            bench.open(lab)
            columns = [self._window.docks["tour"], bench.docks[lab]]
            width = round(_LAB_SHARE * self._width())
            self._window.resizeDocks(columns, [width, self._window.width() - width], Qt.Orientation.Horizontal)
        self._pointing.point_at(None if asking else self._spot)
        if not asking:
            self._selecting = True
            QTimer.singleShot(0, self, self._select)  # when the panes have their places: they bring it into sight

    def _fitting(self, step: "Step") -> tuple[str, ...]:
        """Return the step's panes; where they would crowd each other, only the one that is spoken of."""
        window = self._window
        narrow, low = window.width() - self._width() < px(_BESIDE), window.height() < px(_BELOW)
        beside = {"shape-trace", *_RIGHT}.intersection(step.panes) and len(step.panes) > 1
        if not (narrow if beside else low):
            return step.panes
        spoken_of = (step.point or "").partition("/")[0]
        return (spoken_of if spoken_of in step.panes else step.panes[0],)

    def _show(self, panes: tuple[str, ...]) -> None:
        docks = self._window.docks
        for name, dock in docks.items():
            if name not in panes:
                dock.hide()
        for name in panes:
            docks[name].show()
        if len(panes) > 1:
            docks[panes[1]].raise_()
        self._share_out(panes)

    @property
    def _pointing(self) -> "Pointer":
        from gptviz.widgets.pointer import Pointer  # most starts are without a tour

        if self._pointer is None:
            self._pointer = Pointer(self._window)
        return self._pointer

    def _width(self) -> int:
        share, least, most = _WIDTH
        return round(min(max(share * self._window.width(), px(least)), px(most)))

    def _share_out(self, panes: tuple[str, ...]) -> None:
        """Give the tour a column for reading, and the panes beside it what they need."""
        window, docks = self._window, self._window.docks
        width = self._width()
        rest = window.width() - width
        middle = [name for name in docks if name in panes and name not in ("tour", "shape-trace", *_RIGHT)]
        right = [name for name in _RIGHT if name in panes]
        columns = {"tour": width}
        if "shape-trace" in panes:
            columns["shape-trace"] = min(round(0.5 * rest), px(500)) if middle or right else rest
        if right:
            columns[right[0]] = min(round(0.36 * rest), px(460)) if middle else rest
        if middle:
            columns[middle[0]] = window.width() - sum(columns.values())
        window.resizeDocks([docks[name] for name in columns], list(columns.values()), Qt.Orientation.Horizontal)
        for stack, shares in ((middle, [42, 58]), (right, [50, 50])):
            if len(stack) > 1:
                window.resizeDocks([docks[name] for name in stack], shares, Qt.Orientation.Vertical)

    @Slot()
    def _select(self) -> None:
        session = self._window.session
        trace, step = session.state.trace, session.tour.step
        self._selecting = False
        if trace is None or not self.is_on:
            return
        wanted = {"layer": step.layer, "head": step.head, "query": step.token}
        what = {key: value for key, value in wanted.items() if value is not None}
        if what.get("layer", 0) < 0:
            what["layer"] = trace.config.n_layers - 1
        if what:
            session.select(**what)
        if step.stage is not None:
            in_block = f"{block_name(session.state.selection.layer)}.{step.stage}"
            names = {stage.name for stage in catalogue(trace.config)}
            session.select_stage(in_block if in_block in names else step.stage)
        for name in self._fitting(step):
            self._window.docks[name].pane.reveal()

    def _spot(self) -> tuple[QWidget, QRect] | None:
        """Find what the step points at; None if it says nothing of that or its pane is behind another."""
        point = self._window.session.tour.step.point
        if point is None:
            return None
        place, _, part = point.partition("/")
        if place == "header":
            return self._window.header_spot(part)
        dock = self._window.docks.get(place) or self._window.bench.docks.get(place)
        return dock.pane.spot(part) if dock is not None and dock.is_in_sight else None

    @Slot()
    def _dock_toggled(self) -> None:
        QTimer.singleShot(0, self, self._follow_dock)  # it may only be on its way to another place

    @Slot()
    def _follow_dock(self) -> None:
        """Closing the tour's dock leaves the tour."""
        if self._window.docks["tour"].isHidden() == self._window.session.state.tour.on:
            self.toggle()
