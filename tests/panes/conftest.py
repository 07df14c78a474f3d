"""A lab in the window, without a model."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.panes import PANES
from gptviz.panes.pane import Pane
from gptviz.session.session import Session

OpenLab = Callable[[str], Pane]


@pytest.fixture
def lab_window(open_window: Callable[..., MainWindow]) -> MainWindow:
    """A window with nothing in it, as labs need no model."""
    return open_window(closed=[pane.name for pane in PANES])


@pytest.fixture
def lab_user(lab_window: MainWindow, qtbot: QtBot) -> User:
    """A person at that window."""
    return User(lab_window, qtbot)


@pytest.fixture
def answered(session: Session, qtbot: QtBot) -> Callable[[], None]:
    """A function that waits until no lab computes."""
    return lambda: qtbot.waitUntil(lambda: not session.labs.pending)


@pytest.fixture
def open_lab(lab_window: MainWindow, answered: Callable[[], None], qtbot: QtBot) -> OpenLab:
    """A function that opens a lab and waits for its first answer."""

    def open_lab(name: str) -> Pane:
        lab_window.bench.open(name)
        pane = lab_window.bench.docks[name].pane
        qtbot.waitUntil(pane.isVisible)
        answered()
        return pane

    return open_lab
