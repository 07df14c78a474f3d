"""What the tests of generation and of recorded runs share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from generated import chosen
from holding import Wait
from pytestqt.qtbot import QtBot
from recording import Save

from gptviz.session.session import Session


@pytest.fixture
def generate(ready: Session, wait: Wait) -> Callable[[int], list[int]]:
    """A function that appends tokens, step by step, and returns all tokens of the branch."""

    def generate(count: int) -> list[int]:
        for _ in range(count):
            ready.loop.step()
            wait()
        return chosen(ready.state)

    return generate


@pytest.fixture
def save(session: Session, tmp_path: Path, qtbot: QtBot) -> Save:
    """A function that saves the run on screen and returns the file."""

    def save(budget: int = 512 * 2**20, name: str = "run.gptviz") -> Path:
        session.recording.save(tmp_path / name, budget)
        qtbot.waitUntil(lambda: not session.busy)
        return tmp_path / name

    return save


@pytest.fixture
def other(qtbot: QtBot) -> Iterator[Session]:
    """Another session, as on another machine."""
    other = Session()
    yield other
    other.close()
