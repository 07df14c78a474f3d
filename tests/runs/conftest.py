"""A small run, saved."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gptviz.session.session import Session


@pytest.fixture
def saved(ready: Session, tmp_path: Path, qtbot: QtBot) -> Path:
    """The file of a run of the default prompt on the small model."""
    path = tmp_path / "run.gptviz"
    ready.recording.save(path)
    qtbot.waitUntil(lambda: not ready.busy)
    assert ready.state.message is None
    return path
