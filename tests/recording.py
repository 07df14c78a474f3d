"""Saving runs and opening them again."""

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from gptviz.session.session import Session
from gptviz.session.state import ViewState

Save = Callable[..., Path]


def opened(other: Session, path: Path, qtbot: QtBot) -> ViewState:
    other.recording.open(path)
    waits(other, qtbot)
    return other.state


def waits(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not (session.busy or session.state.generation.playing))
