"""The window: prompt bar above, panes as docks, status below."""

from html import escape

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QContextMenuEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QTabBar, QTabWidget, QToolBar, QToolButton, QVBoxLayout, QWidget

from gptviz.app.actions import Actions
from gptviz.app.appearance import Appearance
from gptviz.app.banner import Banner
from gptviz.app.dock import PaneDock
from gptviz.app.lab_bench import LabBench
from gptviz.app.prompt_bar import PromptBar
from gptviz.app.recent import Recent
from gptviz.app.settings import Settings
from gptviz.app.status import StatusBar
from gptviz.app.tour_guide import TourGuide
from gptviz.app.tour_offer import TourOffer
from gptviz.app.transport import Transport
from gptviz.app.walk_keys import WalkKeys
from gptviz.panes import PANES
from gptviz.session.session import Session
from gptviz.session.state import ModelInfo, ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.theme import px

_CENTRE = (
    "flow",
    "stage",
    "attention",
    "heads",
    "layer-norm",
    "arithmetic",
    "where-from",
    "lens",
    "compare",
    "loop",
)  # the first above, the others as tabs below it
_LEFT, _RIGHT = (0.365, 464, 590), (0.22, 280, 420)  # share of the width, smallest and largest px


_LONGEST = 54  # characters of a model's description


class MainWindow(QMainWindow):
    """Owns the docks; remembers their places if it is given settings."""

    def __init__(self, session: Session, appearance: Appearance, settings: Settings | None = None) -> None:
        super().__init__()
        self.session = session
        self.appearance = appearance
        self._settings = settings
        self._naming = False  # the docks are to be named soon
        self.recent = Recent(settings)
        self.setWindowTitle("gptviz")
        self.setDockNestingEnabled(True)
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.docks = {pane.name: PaneDock(pane, session, self) for pane in PANES}
        self.bench = LabBench(self)
        self.tour = TourGuide(self, settings)
        self.prompt_bar = PromptBar(session)
        self.transport = Transport(session)
        self.banner = Banner(session)
        self.offer = TourOffer(session, settings)
        self._walk_keys = WalkKeys(self, session.walk)
        self.status = StatusBar(session)
        self.actions_ = Actions(self)
        self.model_button = self._make_model_button()
        self._theme_button = self._flat_button("Change between light and dark (Ctrl+T)", "Light or dark")
        self._theme_button.clicked.connect(self.actions_.toggle_theme.trigger)
        self._size_button = self._flat_button("Draw everything 1.5 times as large (Ctrl+Shift+L)", "Lecture size")
        self._size_button.clicked.connect(self.actions_.larger.trigger)
        for button in (self.model_button, self._size_button, self._theme_button):
            self.prompt_bar.first_row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._make_header()
        self.setStatusBar(self.status)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.resize(1280, 800)
        self.restore_default_layout()
        self._placed = self._restore_layout()
        for dock in self.docks.values():
            self.adopt(dock)
        self._docks_changed()
        self.status.checks.clicked.connect(self._show_checks)
        session.changed.connect(self._state_changed)
        appearance.changed.connect(self._appearance_changed)
        self._appearance_changed()

    # --- parts -------------------------------------------------------------------------------------------

    def _make_header(self) -> None:
        header = QWidget()
        header.setObjectName("header")
        layout = QVBoxLayout(header)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.prompt_bar)
        layout.addWidget(self.transport)
        layout.addWidget(self.banner)
        layout.addWidget(self.offer)
        bar = QToolBar("Prompt")
        bar.setObjectName("prompt-bar")
        bar.setMovable(False)
        bar.toggleViewAction().setVisible(False)
        bar.addWidget(header)
        self.addToolBar(bar)

    def _make_model_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("No model yet")
        button.setToolTip("The model on screen; choose another one")
        button.setAccessibleName("Model")
        button.setMenu(self.actions_.model_menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _flat_button(self, tip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tip)
        button.setAccessibleName(name)
        return button

    def adopt(self, dock: PaneDock) -> None:
        """Listen to a dock, and give it the look in use."""
        dock.apply_theme()
        dock.pane_wanted.connect(self.show_pane)
        dock.visibilityChanged.connect(self._docks_changed)
        dock.dockLocationChanged.connect(self._docks_changed)
        dock.topLevelChanged.connect(self._docks_changed)

    # --- layout ------------------------------------------------------------------------------------------

    def restore_default_layout(self) -> None:
        """Put all panes back to where a first start has them."""
        self.tour.forget()
        self.bench.leave()
        self.place_docks()
        for pane in PANES:
            self.docks[pane.name].setVisible(pane.at_first)
        for name in ("shape-trace", _CENTRE[1]):
            self.docks[name].raise_()
        self._share_out()

    def place_docks(self) -> None:
        """Put every dock where a first start has it; the tour's is the leftmost, and hidden at first."""
        for dock in self.docks.values():
            dock.setFloating(False)
            self.removeDockWidget(dock)
        docks = self.docks
        top, *below = (docks[name] for name in _CENTRE)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, docks["tour"])
        self.splitDockWidget(docks["tour"], docks["shape-trace"], Qt.Orientation.Horizontal)
        self.splitDockWidget(docks["shape-trace"], top, Qt.Orientation.Horizontal)
        self.splitDockWidget(top, docks["next-token"], Qt.Orientation.Horizontal)
        self.splitDockWidget(docks["next-token"], docks["generation"], Qt.Orientation.Vertical)
        self.splitDockWidget(top, below[0], Qt.Orientation.Vertical)
        for dock in below[1:]:
            self.tabifyDockWidget(below[0], dock)
        self.tabifyDockWidget(docks["shape-trace"], docks["checks"])

    def _share_out(self) -> None:
        """Give the sides what they need and the middle the rest."""
        docks = self.docks
        left, right = (
            round(min(max(share * self.width(), px(least)), px(most))) for share, least, most in (_LEFT, _RIGHT)
        )
        middle = max(px(300), self.width() - left - right)
        top, *below = (docks[name] for name in _CENTRE)
        columns = [docks["shape-trace"], top, docks["next-token"]]
        self.resizeDocks(columns, [left, middle, right], Qt.Orientation.Horizontal)
        self.resizeDocks([docks["next-token"], docks["generation"]], [55, 45], Qt.Orientation.Vertical)
        self.resizeDocks([top, below[0]], [45, 55], Qt.Orientation.Vertical)

    def _restore_layout(self) -> bool:
        layout = self._settings.layout() if self._settings is not None else None
        return layout is not None and self.restoreGeometry(layout[0]) and self.restoreState(layout[1])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._placed:
            self._placed = True
            self._share_out()
        self.setFocus()  # so that → walks; Ctrl+L goes to the prompt

    def all_docks(self) -> list[PaneDock]:
        """Return the docks of all panes, and of the labs once they are made."""
        return [*self.docks.values(), *self.bench.docks.values()]

    @Slot()
    def _docks_changed(self, *_: object) -> None:
        if not self._naming:  # docks tell of changes by the dozen
            self._naming = True
            QTimer.singleShot(0, self, self._name_docks)

    @Slot()
    def _name_docks(self) -> None:
        """Show a title bar only where no tab names the pane."""
        self._naming = False
        for dock in self.all_docks():
            shares = any(not other.isHidden() and not other.isFloating() for other in self.tabifiedDockWidgets(dock))
            dock.show_title(dock.isFloating() or not shares)
        for tabs in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            tabs.setElideMode(Qt.TextElideMode.ElideNone)  # where names have no room, the tabs scroll
            tabs.setUsesScrollButtons(True)
            self.actions_.exporting.watch(tabs)
            if tabs.count() > 1:
                tabs.show()  # Qt forgets to, for docks that were hidden when they were put together

    # --- state and look ----------------------------------------------------------------------------------

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        another = new.model is not old.model or new.recorded is not old.recorded
        if another and new.model is not None:
            self._show_model(new.model, recorded=new.recorded is not None)
            self.actions_.tick_choices()
        if new.activity is not old.activity or new.trace is not old.trace:
            self.actions_.cancel.setEnabled(new.activity is not None)
            self.actions_.step.setEnabled(new.trace is not None and new.activity is None)
            self.actions_.play.setEnabled(new.trace is not None)
        if new.generation is not old.generation or new.history is not old.history:
            self.actions_.enable_travel(new)

    def _show_model(self, model: ModelInfo, recorded: bool) -> None:
        mark = " · recorded" if recorded else ""
        self.model_button.setText(f"{_elided(model.description + mark)}  ▾".replace("&", "&&"))
        rows = "".join(f"<tr><td>{escape(name)}&nbsp;</td><td>{escape(value)}</td></tr>" for name, value in model.facts)
        self.model_button.setToolTip(f"<table>{rows}</table>" if rows else "The model on screen; choose another one")
        title = f"{model.title} – gptviz" if model.trained else "gptviz"
        self.setWindowTitle(f"{title} – recorded run" if recorded else title)

    @Slot(str)
    def show_pane(self, name: str) -> None:
        """Bring a pane or a lab to the front, also if it was closed."""
        if name in self.bench.names:
            self.bench.open(name)
            return
        self.bench.leave()
        self.docks[name].show()
        self.docks[name].raise_()

    def header_spot(self, name: str) -> tuple[QWidget, QRect]:
        """Return where a part of the header is, for whoever points at it: model, prompt, tokens or slider."""
        bar = self.prompt_bar
        if name == "tokens":
            return bar.strip.viewport(), bar.strip.chips_box()
        widget = {"model": self.model_button, "prompt": bar.edit, "slider": self.transport.slider}[name]
        return widget, widget.rect()

    @Slot()
    def _show_checks(self) -> None:
        self.show_pane("checks")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take a mouse's back and forward buttons, wherever the pane under it has no use for them."""
        trail = self.session.trail
        calls = {Qt.MouseButton.BackButton: trail.back, Qt.MouseButton.ForwardButton: trail.forward}
        if event.button() in calls:
            calls[event.button()]()
        else:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer on a pane's title or tab what it can be saved as."""
        at = event.globalPos()
        dock = self.actions_.exporting.dock_at(self.childAt(event.pos()), at)
        if dock is None:
            super().contextMenuEvent(event)
        else:
            self.actions_.exporting.ask_for(dock, at)

    def edit_prompt(self) -> None:
        """Put the cursor into the prompt."""
        self.prompt_bar.edit.setFocus()
        self.prompt_bar.edit.selectAll()

    def set_scheme(self, scheme: str) -> None:
        """Choose the colours: system, light or dark."""
        self.appearance.set_scheme(scheme)
        if self._settings is not None:
            self._settings.colour_scheme = scheme

    def set_lecture(self, lecture: bool) -> None:
        """Choose normal or lecture size."""
        self.appearance.set_lecture(lecture)
        if self._settings is not None:
            self._settings.lecture_size = lecture

    @Slot()
    def _appearance_changed(self) -> None:
        dark = self.appearance.theme.name == "dark"
        self._theme_button.setIcon(icon("light" if dark else "dark"))
        self._size_button.setIcon(icon("larger"))
        self.actions_.tick_choices()
        for button in (self.model_button, self._theme_button, self._size_button):
            button.setIconSize(QSize(px(16), px(16)))
            button.setMinimumHeight(px(22))
        self.prompt_bar.apply_theme()
        self.transport.apply_theme()
        self.banner.apply_theme()
        self.offer.apply_theme()
        for dock in self.all_docks():
            dock.apply_theme()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._settings is not None:
            self._settings.save_layout(self.saveGeometry(), self.tour.layout_to_save())
        self.hide()
        self.session.close()
        super().closeEvent(event)


def _elided(text: str) -> str:
    """Leave out the middle of a long name: the window must not grow with it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 3]}…{text[-2 * _LONGEST // 3 :]}"
