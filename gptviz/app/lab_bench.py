"""The bench: the place that the labs share. While it is open, the model's panes make room."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, Qt, Signal

from gptviz.app.dock import PaneDock
from gptviz.panes import LABS

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow

_STAYS = ("tour",)  # panes that speak of labs and model alike


class LabBench(QObject):
    """Opens labs as tabs over the whole width, and brings the model's panes back as they were."""

    changed = Signal()

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._before: QByteArray | None = None  # the layout without labs
        self._last = LABS[0].name if LABS else ""
        self.names = tuple(lab.name for lab in LABS)
        self.docks: dict[str, PaneDock] = {}  # made when the bench is first opened: a start need not wait for them

    @property
    def is_open(self) -> bool:
        """Whether labs have the place of the model's panes."""
        return self._before is not None

    @property
    def last(self) -> str:
        """The lab that was in front last."""
        return self._last

    def layout_to_save(self) -> QByteArray:
        """Return the layout of the model's panes, also while labs are in their place."""
        return self._window.saveState() if self._before is None else self._before

    def toggle(self) -> None:
        """Open the bench with the lab that was last in front, or go back to the model."""
        if self.is_open:
            self.leave()
        elif self._last:
            self.open(self._last)

    def open(self, name: str) -> None:
        """Bring the lab ``name`` to the front."""
        self._make_docks()
        if self._before is None:
            self._before = self._window.saveState()
            self._make_room()
        self._last = name
        self.docks[name].show()
        self.docks[name].raise_()
        self.changed.emit()

    def leave(self) -> None:
        """Put the model's panes back; a lab that was detached stays."""
        if self._before is None:
            return
        before, self._before = self._before, None
        for dock in self.docks.values():
            if not dock.isFloating():
                if not dock.visibleRegion().isEmpty():
                    self._last = dock.name
                dock.hide()
        floating = [dock for dock in self.docks.values() if dock.isFloating() and not dock.isHidden()]
        _settle(self._window)
        self._window.restoreState(before)
        for dock in floating:
            dock.setFloating(True)
            dock.show()
        self.changed.emit()

    def _make_docks(self) -> None:
        window = self._window
        for lab in LABS:
            if lab.name not in self.docks:
                dock = self.docks[lab.name] = PaneDock(lab, window.session, window)
                dock.hide()
                window.adopt(dock)

    def _make_room(self) -> None:
        window = self._window
        for name, dock in window.docks.items():
            if name not in _STAYS and not dock.isFloating():
                dock.hide()
        docks = [dock for dock in self.docks.values() if not dock.isFloating()]
        for dock in docks[:1]:
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        for dock in docks[1:]:
            window.tabifyDockWidget(docks[0], dock)
        for dock in docks:
            dock.show()  # not before: one below the other they would make the window higher


def _settle(window: "MainWindow") -> None:
    """Let the layout see which docks are hidden: tabs that it still believes in stay on screen for good."""
    layout = window.layout()
    assert layout is not None
    layout.activate()
