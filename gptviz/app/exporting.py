"""Exporting from the window: which pane is meant, which file, and what goes to the worker."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QTimer, Slot
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QTabBar, QWidget

from gptviz.app.asking import Asking, MakeAction
from gptviz.app.dock import PaneDock
from gptviz.session.state import Message, ViewState

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow
    from gptviz.session.handover import Handover

_ALL, _ONE = "All stages (*.safetensors)", "The selected stage alone (*.safetensors)"
_TURN_MS, _MOST_TURNS = 20, 500  # until a pane that comes to the front is looked at again, and how often
_LONGEST = 40  # characters of a prompt in a file's name
_KINDS = ("png", "svg", "csv", "npy", "safetensors", "pdf")
_FILTERS = {
    "png": ("PNG pictures (*.png)",),
    "svg": ("SVG drawings (*.svg)",),
    "csv": ("CSV tables (*.csv)",),
    "npy": ("NumPy arrays (*.npy)",),
    "safetensors": (_ALL, _ONE),
    "pdf": ("PDF documents (*.pdf)",),
}
_KEYS = {  # shortcut and what the action does
    "png": ("Ctrl+Shift+I", "Save a picture of the pane used last, with two pixels for each of the screen's"),
    "svg": ("Ctrl+Shift+V", "Save a drawing of the pane used last: texts and lines stay sharp, heatmaps are images"),
    "csv": ("Ctrl+Shift+T", "Save the numbers of the pane used last, or of the stage in it, at full precision"),
    "npy": ("Ctrl+Shift+Y", "Save the whole tensor of the selected stage for NumPy"),
    "safetensors": ("Ctrl+Shift+A", "Save the tensors of all stages, or of the selected one, as safetensors"),
    "pdf": ("Ctrl+Shift+D", "Save the whole run as slides, one stage a page, in the order of execution"),
}


class Exporting(Asking):
    """The menu Export. A pane is meant that has the focus, or was used last."""

    def __init__(self, window: "MainWindow", make: MakeAction) -> None:
        super().__init__(window)
        self._used: PaneDock | None = None
        self._folder = Path.home()
        self._printing: QObject | None = None
        self.actions = {kind: make("", *_KEYS[kind], partial(self.ask, kind)) for kind in _KINDS}
        self.menu = QMenu("Export", window)
        self.menu.setToolTipsVisible(True)
        self.menu.addActions([self.actions[kind] for kind in ("png", "svg", "csv")])
        self.menu.addSeparator()
        self.menu.addActions([self.actions[kind] for kind in ("npy", "safetensors", "pdf")])
        self.menu.aboutToShow.connect(self._name_actions)
        self._name_actions()
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]
        self._session.changed.connect(self._state_changed)
        self._session.exporting.page_wanted.connect(self._page_wanted)

    # --- which pane --------------------------------------------------------------------------------------

    @property
    def dock(self) -> PaneDock:
        """The dock of the pane that is meant."""
        window = self._window
        used = self._used
        if used is not None and not used.isHidden():
            return used if used.is_in_sight else self._in_front_of(used)
        return window.bench.docks[window.bench.last] if window.bench.is_open else window.docks["stage"]

    def _in_front_of(self, dock: PaneDock) -> PaneDock:
        """Return the dock whose tab covers ``dock``."""
        docks = (other for other in self._window.tabifiedDockWidgets(dock) if isinstance(other, PaneDock))
        return next((other for other in docks if other.is_in_sight), dock)

    def ask_for(self, dock: PaneDock, at: QPoint) -> None:
        """Offer what the pane of ``dock`` can be saved as, at a place of the screen."""
        self._used = dock
        dock.raise_()  # what is saved is what one sees
        menu = QMenu("Export", self._window)
        menu.setToolTipsVisible(True)
        self._name_actions()
        menu.addActions([self.actions[kind] for kind in ("png", "svg", "csv")])
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def dock_at(self, widget: QWidget | None, at: QPoint) -> PaneDock | None:
        """Return the dock whose title or tab is at a place of the screen."""
        if isinstance(widget, QTabBar):
            return self._dock_named(widget.tabText(widget.tabAt(widget.mapFromGlobal(at))))
        dock = _dock_of(widget)
        title: QWidget | None = None if dock is None else dock.titleBarWidget()
        in_title = title is not None and widget is not None and (widget is title or title.isAncestorOf(widget))
        return dock if in_title else None

    @Slot(QWidget, QWidget)
    def _focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        dock = _dock_of(now)
        if dock is not None and dock.window() in (self._window, dock):
            self._used = dock

    def watch(self, tabs: QTabBar) -> None:
        """Notice which tab a person clicks; panes are brought to the front without one, too."""
        if not tabs.property("watched"):
            tabs.setProperty("watched", True)
            tabs.tabBarClicked.connect(self._tab_clicked)

    @Slot(int)
    def _tab_clicked(self, index: int) -> None:
        tabs = self.sender()
        dock = self._dock_named(tabs.tabText(index)) if isinstance(tabs, QTabBar) else None
        self._used = dock or self._used

    def _dock_named(self, title: str) -> PaneDock | None:
        docks = [dock for dock in self._window.all_docks() if not dock.isHidden()]
        return next((dock for dock in docks if dock.windowTitle() == title), None)

    @Slot()
    def _name_actions(self) -> None:
        """Say in the menu what is meant."""
        title, stage = self.dock.windowTitle(), self._session.state.selection.stage
        table = f"{title} as CSV…"
        if not self.dock.has_table and self.dock.shown_stage is not None:
            table = f"{self.dock.shown_stage} as CSV…"
        texts = {
            "png": f"{title} as PNG…",
            "svg": f"{title} as SVG…",
            "csv": table,
            "npy": f"{stage} as .npy…" if stage is not None else "Tensor as .npy…",
            "safetensors": "Tensors as safetensors…",
            "pdf": "Slides as PDF…",
        }
        for kind, text in texts.items():
            self.actions[kind].setText(text)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.selection.stage != old.selection.stage:
            self._name_actions()

    # --- which file --------------------------------------------------------------------------------------

    def ask(self, kind: str) -> None:
        """Ask where a file of ``kind`` is to be, and write it."""
        problem = self._problem(kind)
        if problem is not None:
            self._session.change(message=problem)
            return
        dock, subject = self.dock, self._subject(kind)
        dialog = QFileDialog(self._window, f"Export {subject}", str(self._folder))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)  # which asks before a file is replaced
        dialog.setNameFilters(_FILTERS[kind])
        dialog.setDefaultSuffix(kind)
        dialog.selectFile(f"{self._proposal(subject)}.{kind}")
        stage = self._stage(kind)  # another one may be selected while the dialog is open

        def accepted() -> None:
            path = Path(dialog.selectedFiles()[0])
            self._folder = path.parent
            self.write(kind, path, dock, stage, dialog.selectedNameFilter() == _ONE)

        self.show(dialog, accepted)

    def _problem(self, kind: str) -> Message | None:
        """Return why there is nothing to be exported."""
        state = self._session.state
        needs_pane = kind in ("png", "svg") or (kind == "csv" and self.dock.has_table)
        if needs_pane and self.dock.name.startswith("lab-"):
            return None
        if state.trace is None:
            return Message("There is nothing to export yet", "no pass has run", "Press Run first")
        if not needs_pane and kind in ("csv", "npy") and not self._stage(kind):
            return Message("There is nothing to export yet", "no stage is selected", "Choose one in the shape trace")
        return None

    def _stage(self, kind: str) -> str:
        """Return the stage that is meant: of a table the one in the pane, else the selected one."""
        selected = self._session.state.selection.stage
        return (self.dock.shown_stage if kind == "csv" else selected) or ""

    def _subject(self, kind: str) -> str:
        if kind in ("safetensors", "pdf"):
            return {"safetensors": "tensors", "pdf": "slides"}[kind]
        if kind == "npy" or (kind == "csv" and not self.dock.has_table):
            return self._stage(kind)
        return self.dock.name

    def _proposal(self, subject: str) -> str:
        words = re.findall(r"[a-z0-9]+", self._session.state.prompt.lower())
        name = "-".join(words)[:_LONGEST].strip("-")
        return f"{subject}-{name}" if name and not subject.startswith("lab-") else subject

    # --- what is written ---------------------------------------------------------------------------------

    def write(self, kind: str, path: Path, dock: PaneDock, stage: str | None = None, stage_alone: bool = False) -> None:
        """Write a file of ``kind``: of the pane in ``dock``, of a stage, else of the selected one, or of the run."""
        from gptviz.app.export_pane import write_drawing, write_picture, write_table  # noqa: PLC0415 - when asked for

        exporting, stage = self._session.exporting, stage or self._session.state.selection.stage or ""
        if kind in ("png", "svg") or (kind == "csv" and dock.has_table):
            writes = {"png": write_picture, "svg": write_drawing, "csv": write_table}
            self._when_seen(dock, lambda: writes[kind](self._session, dock.pane, path))
        elif kind == "csv":
            write_table(self._session, None, path, stage)
        elif kind == "npy":
            exporting.tensor(f"{stage} as .npy", path, stage)
        elif kind == "safetensors":
            exporting.tensors("Tensors as safetensors", path, (stage,) if stage_alone and stage else None)
        else:
            exporting.slides("Slides as PDF", path)

    def _when_seen(self, dock: PaneDock, write: Callable[[], None]) -> None:
        """Write when the pane shows the present run; one that is covered or closed shows an older one, or nothing yet.

        Such a pane is brought to the front, and has a while to get its numbers.
        """
        session = self._session
        if dock.is_in_sight and (dock.pane.seen is session.state or not session.turns.pending):
            write()
            return
        self._window.show_pane(dock.name)
        self._wait(dock, write, _MOST_TURNS)

    def _wait(self, dock: PaneDock, write: Callable[[], None], turns: int) -> None:
        session = self._session
        reading = session.turns.pending or session.watched or session.measuring.unfinished or session.labs.pending
        seen = dock.is_in_sight and turns < _MOST_TURNS
        if seen and (not reading or (not turns and dock.pane.seen is session.state)):
            write()
        elif turns:
            QTimer.singleShot(_TURN_MS, self, partial(self._wait, dock, write, turns - 1))
        else:
            why = Message(
                f"{dock.windowTitle()} was not written", "its numbers are not there yet", dock.pane.how_to_fill
            )
            session.change(message=why)

    @Slot(object, object)
    def _page_wanted(self, slide: object, handover: "Handover") -> None:
        """Print slides in the colours of the window; what does that is imported when it is first asked for."""
        from gptviz.app.slide_printing import SlidePrinting  # noqa: PLC0415

        if self._printing is None:
            self._session.exporting.page_wanted.disconnect(self._page_wanted)
            printing = SlidePrinting(self._session, lambda: self._window.appearance.theme, self)
            self._printing = printing
            printing.page_wanted(slide, handover)


def _dock_of(widget: QWidget | None) -> PaneDock | None:
    while widget is not None and not isinstance(widget, PaneDock):
        widget = widget.parentWidget()
    return widget
