"""Starting the application: with a window for a person, or for one picture."""

import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QEvent,
    QEventLoop,
    QMessageLogContext,
    QObject,
    QSize,
    QTimer,
    QtMsgType,
    Signal,
    Slot,
    qInstallMessageHandler,
)
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from gptviz import __version__
from gptviz.app.appearance import Appearance
from gptviz.app.dock import PaneDock
from gptviz.app.first_paint import AfterFirstPaint
from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.session.exporting_jobs import reason_of
from gptviz.session.requests import HeadsQuestion, ModelRequest
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.whole_file import whole_file
from gptviz.widgets.picture import png_bytes

_POLL_MS = 20


class ShotError(Exception):
    """The picture can't be made; the message says why."""


def make_application() -> QApplication:
    """Return the one QApplication, made if there is none."""
    app = QApplication.instance() or QApplication(["gptviz"])
    assert isinstance(app, QApplication)
    app.setApplicationName("gptviz")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gptviz")
    return app


def open_window(prompt: str, model: ModelRequest | Path) -> int:
    """Open the window on a model, or on a recorded run, and stay until it is closed; return the exit status."""
    app = make_application()
    settings = Settings()
    appearance = Appearance(app, settings.colour_scheme, settings.lecture_size)
    session = Session(prompt)
    reporter = ErrorReporter(session)
    window = MainWindow(session, appearance, settings)
    AfterFirstPaint(window, lambda: begin(session, model))
    window.show()
    try:
        return app.exec()
    finally:
        reporter.remove()
        session.close()
        destroy(window)


def begin(session: Session, model: ModelRequest | Path) -> None:
    """Run the prompt on a model, or open a recorded run."""
    if isinstance(model, Path):
        session.recording.open(model)
    else:
        session.start_with(model)


class ErrorReporter(QObject):
    """Shows exceptions that nobody caught in the window; Qt would only print them."""

    _raised = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._before = sys.excepthook, threading.excepthook
        self._raised.connect(self._show)
        sys.excepthook = self._main_hook
        threading.excepthook = self._thread_hook

    def remove(self) -> None:
        """Put the hooks back that were there before."""
        sys.excepthook, threading.excepthook = self._before

    def _main_hook(self, kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        traceback.print_exception(kind, error, tb)
        self._raised.emit(error)

    def _thread_hook(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            traceback.print_exception(args.exc_value)
            self._raised.emit(args.exc_value)

    @Slot(object)
    def _show(self, error: BaseException) -> None:
        self._session.show_error("Something unforeseen happened", error)


@dataclass(frozen=True)
class Shot:
    """What is to be on a picture: the whole window, or one pane; ``stage`` is the stage that is selected."""

    theme: str
    size: tuple[int, int]
    pane: str | None = None
    stage: str | None = None


def shoot(path: Path, prompt: str, model: ModelRequest | Path, shot: Shot) -> None:
    """Run ``prompt`` in a real window, or open a recorded run there, and save a picture as ``path``.

    Raises
    ------
    ShotError
        If there is no such pane or stage, the run fails, or the file can't be written.
    """
    qInstallMessageHandler(print_but_the_known)
    app = make_application()
    appearance = Appearance(app, shot.theme)
    session = Session(prompt)
    window = MainWindow(session, appearance)
    try:
        window.resize(QSize(*shot.size))
        window.show()
        target = _target(window, shot.pane)
        begin(session, model)
        wait_for_run(session, shot.stage)
        app.processEvents()
        _write(target.grab().toImage(), path)
    finally:
        window.close()
        destroy(window)


def _write(picture: QImage, path: Path) -> None:
    """Write a picture whole or not at all."""
    try:
        with whole_file(path) as file:
            file.write(png_bytes(picture))
    except OSError as error:
        why, remedy = reason_of(error, path)
        raise ShotError(f"{path} can't be written: {why}. {remedy}") from error


def wait_for_run(session: Session, stage: str | None) -> None:
    """Wait for the run that was asked for, and select ``stage``.

    Raises
    ------
    ShotError
        If the run failed, or has no such stage.
    """
    state = wait_until_idle(session)
    if isinstance(state.question, HeadsQuestion):
        raise ShotError(f"{state.question.name} can't tell its heads: add --heads {state.question.proposal}")
    if state.message is not None or state.trace is None:
        raise ShotError(str(state.message or "the run was cancelled"))
    if stage is not None:
        if stage not in state.trace:
            raise ShotError(f"there is no stage {stage!r}: {near(stage, state.trace.names)}'gptviz trace' lists them")
        session.select_stage(stage)
        wait_until_idle(session)


def near(name: str, names: Sequence[str]) -> str:
    """Ask whether one of ``names`` was meant; nothing if none is like ``name``."""
    alike = get_close_matches(name, names, 3)
    return f"did you mean {' or '.join(alike)}? " if alike else ""


def destroy(window: MainWindow) -> None:
    """Delete the window now: one that is left to the end of the interpreter can crash there."""
    QApplication.processEvents()
    window.deleteLater()
    QApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)


def print_but_the_known(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Qt's offscreen platform says for each window what it can't do, and nobody needs it."""
    if "propagateSizeHints" not in message:
        sys.stderr.write(f"{message}\n")


def _target(window: MainWindow, pane: str | None) -> QWidget:
    return window if pane is None else front_dock(window, pane).pane


def front_dock(window: MainWindow, pane: str) -> PaneDock:
    """Bring a pane or a lab to the front, and return its dock.

    Raises
    ------
    ShotError
        If there is none of that name.
    """
    if pane in window.bench.names:
        window.bench.open(pane)
        return window.bench.docks[pane]
    if pane not in window.docks:
        names = ", ".join((*window.docks, *window.bench.names))
        raise ShotError(f"there is no pane {pane!r}: choose one of {names}")
    dock = window.docks[pane]
    if pane == "tour":
        window.session.tour.open()
    dock.raise_()
    return dock


def wait_until_idle(session: Session) -> ViewState:
    """Wait until nothing is under way that somebody asked for or looks at, and return the state."""
    loop = QEventLoop()

    def check(*_: object) -> None:
        if not session.awaited:
            loop.quit()

    poll = QTimer()  # a lab that ends does not change the state
    poll.setInterval(_POLL_MS)
    poll.timeout.connect(check)
    poll.start()
    session.changed.connect(check)
    while session.awaited:
        loop.exec()
    session.changed.disconnect(check)
    poll.stop()
    return session.state
