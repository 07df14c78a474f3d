"""A picture of the window, or of one pane, without a person."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtGui import QImage

from gptviz.app.application import begin
from gptviz.app.unattended import ShotError, front_dock, settle, unattended, wait_for_run
from gptviz.session.exporting_jobs import reason_of
from gptviz.session.requests import ModelRequest
from gptviz.whole_file import whole_file
from gptviz.widgets.picture import png_bytes


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
    with unattended(prompt, shot.theme, shot.size) as (session, _, window):
        assert window is not None
        target = window if shot.pane is None else front_dock(window, shot.pane).pane
        begin(session, model)
        wait_for_run(session, shot.stage)
        settle()
        _write(target.grab().toImage(), path)


def _write(picture: QImage, path: Path) -> None:
    """Write a picture whole or not at all."""
    try:
        with whole_file(path) as file:
            file.write(png_bytes(picture))
    except OSError as error:
        why, remedy = reason_of(error, path)
        raise ShotError(f"{path} can't be written: {why}. {remedy}") from error
