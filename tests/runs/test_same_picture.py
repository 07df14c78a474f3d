"""A run that was saved and opened again looks the same: pixel for pixel, times included."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gptviz.app.appearance import Appearance
from gptviz.app.main_window import MainWindow
from gptviz.session.session import Session

pytestmark = pytest.mark.without_pauses

PANES = ("shape-trace", "flow", "stage", "attention", "layer-norm", "next-token", "generation", "heads", "lens")


def settle(session: Session, qtbot: QtBot) -> None:
    def settled() -> bool:
        reads = session.watched or session.measuring.unfinished
        return not (session.busy or reads or session.state.generation.playing)

    qtbot.waitUntil(settled)


def picture(window: MainWindow, pane: str, qtbot: QtBot) -> QImage:
    dock = window.docks[pane]
    dock.raise_()
    qtbot.waitUntil(dock.pane.isVisible)
    settle(window.session, qtbot)
    last = QImage()

    def stands_still() -> bool:  # a pane that has much to draw does it in turn
        nonlocal last
        before, last = last, dock.pane.grab().toImage()
        return before == last

    qtbot.waitUntil(stands_still)
    return last


def pictures(window: MainWindow, qtbot: QtBot) -> dict[str, QImage]:
    """Come from the first stage, as where a view is scrolled to depends on the way there."""
    stage = window.session.state.selection.stage
    assert stage is not None
    window.session.walk.first()
    settle(window.session, qtbot)
    window.session.select_stage(stage)
    return {pane: picture(window, pane, qtbot) for pane in PANES}


def test_every_pane_is_the_same_pixel_for_pixel(
    session: Session,
    open_window: Callable[..., MainWindow],
    appearance: Appearance,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    appearance.set_scheme("dark")
    window = open_window()
    session.start("tiny", 123)
    settle(session, qtbot)
    session.loop.play(3)
    settle(session, qtbot)
    session.select_stage("trf_blocks.1.att.weights", head=1, query=3)
    session.travel.rename(0, "as it comes")
    settle(session, qtbot)
    live = pictures(window, qtbot)
    session.recording.save(tmp_path / "a.gptviz")
    settle(session, qtbot)
    assert session.state.message is None

    session.recording.open(tmp_path / "a.gptviz")
    settle(session, qtbot)

    assert session.state.message is None
    assert session.state.recorded is not None
    assert not session.has_model
    opened = pictures(window, qtbot)
    different = [pane for pane in PANES if opened[pane] != live[pane]]
    assert different == []
