"""Saving the run on screen, opening one, and loading the model of a recorded one: the actions and their dialogs."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog

from gptviz.app.asking import Asking, MakeAction, file_to_open
from gptviz.runs import SUFFIX
from gptviz.session.requests import CheckpointRequest
from gptviz.session.state import ViewState

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow

_RUNS = f"Recorded runs (*{SUFFIX});;All files (*)"


class RunFiles(Asking):
    """The actions for runs in the File menu."""

    def __init__(self, window: "MainWindow", make: MakeAction) -> None:
        super().__init__(window)
        self._path = ""  # of the run that was saved or opened last
        self._budget: int | None = None
        self.save = make("Save run…", "Ctrl+S", "Save what is on screen as one file", self._ask_save)
        self.open_ = make("Open run…", "Ctrl+Alt+O", "Open a run that was saved", self._ask_open)
        self.load = make(
            "Load the model", "Ctrl+Alt+L", "Load the model of the recorded run", self._session.recording.load_model
        )
        self.load.setEnabled(False)
        self._session.changed.connect(self._state_changed)

    def open(self, path: str) -> None:
        """Open a run."""
        self._path = path
        self._session.recording.open(path)

    # --- inside ------------------------------------------------------------------------------------------

    def _ask_save(self) -> None:
        from gptviz.app.save_dialog import SaveDialog  # noqa: PLC0415 - when it is first asked for

        problem = self._session.recording.problem
        if problem is not None:
            self._session.change(message=problem)
            return
        dialog = SaveDialog(self._session.recording, self._budget, self._window)
        self.show(dialog, lambda: self._ask_path(dialog.budget))

    def _ask_path(self, budget: int) -> None:
        self._budget = budget
        dialog = QFileDialog(self._window, "Save run", self._path or f"run{SUFFIX}", _RUNS)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)  # which asks before a file is replaced
        dialog.setDefaultSuffix(SUFFIX)
        dialog.selectFile(Path(self._path or f"run{SUFFIX}").name)

        def accepted() -> None:
            self._path = dialog.selectedFiles()[0]
            self._session.recording.save(self._path, budget)

        self.show(dialog, accepted)

    def _ask_open(self) -> None:
        path = file_to_open(self._window, "Open run", self._path, _RUNS)
        if path:
            self.open(path)

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.recorded is not old.recorded:
            self.load.setEnabled(new.recorded is not None)
        if new.recorded is not None and new.recorded is not old.recorded:
            self._path = new.recorded.path
            self._window.recent.add(CheckpointRequest(new.recorded.path))
