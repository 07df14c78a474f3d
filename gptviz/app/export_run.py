"""Exporting without a person: run a prompt, write one file, and say what is in it."""

from dataclasses import dataclass
from pathlib import Path

from gptviz.app.application import begin
from gptviz.app.dock import PaneDock
from gptviz.app.export_pane import write_drawing, write_picture, write_table
from gptviz.app.slide_printing import SlidePrinting
from gptviz.app.unattended import ShotError, front_dock, settle, unattended, wait_for_run, wait_until_idle
from gptviz.panes import LABS, PANES
from gptviz.session.requests import ModelRequest
from gptviz.session.session import Session


@dataclass(frozen=True)
class Export:
    """What is to be written where; ``kind`` is the suffix of ``path`` without the dot."""

    path: Path
    kind: str
    pane: str | None
    stage: str | None
    theme: str
    size: tuple[int, int]
    new_tokens: int


def export(wanted: Export, prompt: str, model: ModelRequest | Path) -> str:
    """Run ``prompt`` and generate, or open a recorded run, and write one file; return what is in it.

    Raises
    ------
    ShotError
        If there is no such pane or stage, the run fails, or the file can't be written.
    """
    size = None if wanted.pane is None else wanted.size
    with unattended(prompt, wanted.theme, size) as (session, appearance, window):
        dock = None if window is None or wanted.pane is None else front_dock(window, wanted.pane)
        begin(session, model)
        wait_for_run(session, wanted.stage)
        if wanted.new_tokens:
            session.loop.play(wanted.new_tokens)
            wait_until_idle(session)
            session.travel.show(0)  # the prompt's own pass
            wait_until_idle(session)
        settle()
        if window is None:
            SlidePrinting(session, lambda: appearance.theme, session)
        return _written(session, wanted, dock)


def _written(session: Session, wanted: Export, dock: PaneDock | None) -> str:
    path, stage = wanted.path, wanted.stage or ""
    if wanted.kind == "pdf":
        session.exporting.slides("Slides", path)
    elif wanted.kind == "npy":
        session.exporting.tensor(f"{stage} as .npy", path, stage)
    elif wanted.kind == "safetensors":
        session.exporting.tensors("Tensors", path, (stage,) if stage else None)
    elif dock is None or (wanted.kind == "csv" and stage and not dock.has_table):
        write_table(session, None, path)
    elif wanted.kind == "csv":
        if not dock.has_table:
            tables = ", ".join(entry.name for entry in (*PANES, *LABS) if entry.has_table)
            raise ShotError(
                f"the pane {wanted.pane} has no table: give --stage NAME for the numbers of a stage, or one of {tables}"
            )
        write_table(session, dock.pane, path)
    else:
        write = write_picture if wanted.kind == "png" else write_drawing
        write(session, dock.pane, path)
    state = wait_until_idle(session)
    if state.message is not None:
        raise ShotError(str(state.message))
    return state.notice
