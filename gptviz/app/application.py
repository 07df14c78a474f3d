"""Starting the application, with a window for a person."""

import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtWidgets import QApplication

from gptviz import __version__
from gptviz.app.appearance import Appearance
from gptviz.app.first_paint import AfterFirstPaint
from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.session.requests import ModelRequest
from gptviz.session.session import Session


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


def destroy(window: MainWindow) -> None:
    """Delete the window now: one that is left to the end of the interpreter can crash there."""
    QApplication.processEvents()
    window.deleteLater()
    QApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)
