"""Opening checkpoints from the menu, by drag and drop, and from the list of recent ones; and what is asked back."""

from dataclasses import replace
from functools import partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Slot
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMenu

from gptviz.app.asking import Asking, MakeAction, file_to_open, folder_to_open
from gptviz.checkpoints.errors import printable
from gptviz.checkpoints.files import expanded
from gptviz.runs import SUFFIX
from gptviz.session.requests import CheckpointRequest, HeadsQuestion, TableQuestion
from gptviz.session.state import ViewState

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow

HUB = "hf:"
_WEIGHTS = "Checkpoints (*.safetensors *.pth *.pt *.bin *.ckpt *.json);;All files (*)"
_TABLES = "Text files (*.txt *.tsv *.vocab);;All files (*)"
_LONGEST = 60  # characters of a path in the menu


class Opening(Asking):
    """The actions of the File menu; ``recent`` is the menu of recent checkpoints."""

    def __init__(self, window: "MainWindow", make: MakeAction) -> None:
        super().__init__(window)
        self.file = make("Open checkpoint…", "Ctrl+O", "Open a file of weights", self._ask_file)
        self.folder = make("Open checkpoint folder…", "Ctrl+Shift+O", "Open a folder of weights", self._ask_folder)
        self.hub = make("Open from Hugging Face…", "Ctrl+Shift+H", "Open a model of the Hub by name", self._ask_hub)
        self.table = make("Token table…", "Ctrl+Shift+K", "Choose the texts of the model's tokens", self._ask_table)
        self.about = make("About this model", "Ctrl+I", "Where it comes from, and its settings", self._show_model)
        self.table.setEnabled(False)
        self.about.setEnabled(False)
        self.recent = QMenu("Open recent", window)
        self.recent.aboutToShow.connect(self._fill_recent)
        self.recent.setToolTipsVisible(True)
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self._session.changed.connect(self._state_changed)

    def open(self, request: CheckpointRequest) -> None:
        """Open a checkpoint."""
        self._session.opening.open(request)

    # --- asking for a file -------------------------------------------------------------------------------

    def _ask_file(self) -> None:
        path = file_to_open(self._window, "Open checkpoint", self._last_folder(), _WEIGHTS)
        if path:
            self.open(CheckpointRequest(path))

    def _ask_folder(self) -> None:
        path = folder_to_open(self._window, "Open checkpoint folder", self._last_folder())
        if path:
            self.open(CheckpointRequest(path))

    def _ask_table(self) -> None:
        path = file_to_open(self._window, "Token table", self._last_folder(), _TABLES)
        if path:
            self._session.opening.use_table(path)

    def _ask_hub(self) -> None:
        from gptviz.app.hub_dialog import HubDialog  # noqa: PLC0415 - when it is first asked for

        dialog = HubDialog(find_spec("huggingface_hub") is not None, self._window)
        self.show(dialog, lambda: self.open(CheckpointRequest(HUB + dialog.name.text().strip())))

    def _last_folder(self) -> str:
        present = self._session.making.present
        path = present.path if isinstance(present, CheckpointRequest) else ""
        return str(expanded(Path(path)).parent) if path and not path.startswith(HUB) else ""

    # --- recent ones -------------------------------------------------------------------------------------

    def _fill_recent(self) -> None:
        self.recent.clear()
        requests = self._window.recent.requests
        for request in requests:
            path = printable(request.path)  # a tab would part off a shortcut
            shown = path if len(path) <= _LONGEST else f"…{path[1 - _LONGEST :]}"
            action = self.recent.addAction(shown.replace("&", "&&"))
            action.setToolTip(f"<p>{escape(path)}</p>")
            action.triggered.connect(partial(self._open_recent, request))
        if not requests:
            self.recent.addAction("nothing yet").setEnabled(False)
            return
        self.recent.addSeparator()
        self.recent.addAction("Forget these").triggered.connect(self._forget)

    def _open_recent(self, request: CheckpointRequest, *_: object) -> None:
        self._open_any(request)

    def _open_any(self, request: CheckpointRequest) -> None:
        """Open a checkpoint, or what has the name of a recorded run."""
        if request.path.lower().endswith(SUFFIX):
            self._window.actions_.runs.open(request.path)
        else:
            self.open(request)

    def _forget(self, *_: object) -> None:
        self._window.recent.forget()

    def _remember(self) -> None:
        request = self._session.making.present
        if isinstance(request, CheckpointRequest):
            self._window.recent.add(replace(request, path=_whole(request.path)))

    # --- what the session says ---------------------------------------------------------------------------

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.model is not old.model and new.model is not None:
            self.about.setEnabled(True)
            self.table.setEnabled(new.model.trained)
            if new.model.trained and new.recorded is None:
                self._remember()
        if new.question is not old.question:
            self._ask(new)

    def _ask(self, state: ViewState) -> None:
        from gptviz.app.heads_dialog import HeadsDialog  # noqa: PLC0415 - when it is first asked for
        from gptviz.app.table_dialog import TableDialog  # noqa: PLC0415

        opening = self._session.opening
        if isinstance(state.question, HeadsQuestion):
            heads = HeadsDialog(state.question, self._window)
            self.show(heads, lambda: opening.answer_heads(heads.heads), opening.dismiss)
        elif isinstance(state.question, TableQuestion):
            self.show(TableDialog(state.question, self._window), self._choose_table, opening.use_bare_ids)
        elif self.dialog is not None and state.question is None:
            self.dialog.close()

    def _choose_table(self) -> None:
        path = file_to_open(self._window, "Token table", self._last_folder(), _TABLES)
        if path:
            self._session.opening.use_table(path)
        else:
            self._session.opening.use_bare_ids()

    def _show_model(self) -> None:
        from gptviz.app.model_dialog import ModelDialog  # noqa: PLC0415 - when it is first asked for

        model = self._session.state.model
        if model is not None:
            self.show(ModelDialog(model, self._window), lambda: None)

    # --- drag and drop -----------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop):
            assert isinstance(event, QDropEvent)
            path = _dropped(event.mimeData())
            if path is not None:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                if event.type() == QEvent.Type.Drop:
                    self._drop(path)
                return True
        return False

    def _drop(self, path: str) -> None:
        """Open what was dropped; a text file is a table if the model on screen has a vocabulary of its own."""
        model = self._session.state.model
        if model is not None and model.needs_table and path.lower().endswith((".txt", ".vocab")):
            self._session.opening.use_table(path)
        else:
            self._open_any(CheckpointRequest(path))


def _dropped(mime: QMimeData) -> str | None:
    """Return the path of the one local file or folder that is dragged; None for anything else."""
    urls = mime.urls() if mime.hasUrls() else []
    return urls[0].toLocalFile() if len(urls) == 1 and urls[0].isLocalFile() else None


def _whole(path: str) -> str:
    return path if path.startswith(HUB) else str(expanded(Path(path)).absolute())
