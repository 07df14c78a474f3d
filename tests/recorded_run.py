"""A run that was saved and opened again: the session shows it without its model."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from gptviz.capture.memory import block_bytes
from gptviz.runs.plan import outside_bytes
from gptviz.session.session import Session


def record_and_open(session: Session, path: Path, qtbot: QtBot, blocks: int | None = None) -> None:
    """Save what ``session`` shows, with the insides of all ``blocks`` or of so many, and open the file."""
    trace = session.state.trace
    assert trace is not None
    blocks = trace.config.n_layers if blocks is None else blocks
    size = trace.config, trace.batch, trace.tokens
    session.recording.save(path, outside_bytes(*size) + blocks * block_bytes(*size))
    qtbot.waitUntil(lambda: not session.busy)
    session.recording.open(path)
    qtbot.waitUntil(lambda: session.state.recorded is not None and not session.busy)
    assert session.state.message is None
    assert not session.has_model
