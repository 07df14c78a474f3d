"""The application without a person: it runs a prompt or opens a run, is read off, and ends."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from PySide6.QtCore import QEventLoop, QMessageLogContext, QSize, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from gptviz.app.appearance import Appearance
from gptviz.app.application import destroy, make_application
from gptviz.app.dock import PaneDock
from gptviz.app.main_window import MainWindow
from gptviz.session.requests import HeadsQuestion
from gptviz.session.session import Session
from gptviz.session.state import ViewState

_POLL_MS = 20
_ROUNDS = 4


class ShotError(Exception):
    """What is to be written can't be had; the message says why."""


@contextmanager
def unattended(
    prompt: str, theme: str, size: tuple[int, int] | None
) -> Iterator[tuple[Session, Appearance, MainWindow | None]]:
    """Start the application inside the ``with``, and end it; ``size`` is the window's in px, None for no window."""
    qInstallMessageHandler(_print_but_the_known)
    appearance = Appearance(make_application(), theme)
    session = Session(prompt)
    window = None if size is None else MainWindow(session, appearance)
    try:
        if window is not None and size is not None:
            window.resize(QSize(*size))
            window.show()
        yield session, appearance, window
    finally:
        if window is None:
            session.close()
            QApplication.processEvents()
        else:
            window.close()
            destroy(window)


def _print_but_the_known(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Qt's offscreen platform says for each window what it can't do, and nobody needs it."""
    if "propagateSizeHints" not in message:
        sys.stderr.write(f"{message}\n")


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


def settle() -> None:
    """Let the window lay itself out, which takes some rounds: scroll bars that appear ask for another layout."""
    for _ in range(_ROUNDS):
        QApplication.processEvents()


def near(name: str, names: Sequence[str]) -> str:
    """Ask whether one of ``names`` was meant; nothing if none is like ``name``."""
    alike = get_close_matches(name, names, 3)
    return f"did you mean {' or '.join(alike)}? " if alike else ""


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
