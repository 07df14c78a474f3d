"""A pane, or the selected stage, as a file: what is painted here, and packed and written in the worker."""

from functools import partial
from pathlib import Path
from typing import BinaryIO

from PySide6.QtGui import QImage

from gptviz.analysis.stage_tensor import part_shown, stage_matrix
from gptviz.analysis.table import Table, matrix_table, table_of
from gptviz.panes.pane import Pane
from gptviz.session.numbers import stage_named
from gptviz.session.session import Session
from gptviz.session.state import Message, ViewState
from gptviz.session.worker import JobContext
from gptviz.widgets.picture import Drawing, drawing_of, png_bytes, png_image, svg_text


def write_picture(session: Session, pane: Pane, path: Path) -> None:
    """Write ``pane`` as PNG."""
    image = png_image(pane)
    session.exporting.write(f"{pane.title} as PNG", path, partial(_write_png, image))


def write_drawing(session: Session, pane: Pane, path: Path) -> None:
    """Write ``pane`` as SVG."""
    drawing = drawing_of(pane)
    session.exporting.write(f"{pane.title} as SVG", path, partial(_write_svg, drawing, pane.title))


def write_table(session: Session, pane: Pane | None, path: Path, stage: str | None = None) -> None:
    """Write the table of ``pane`` as CSV, or the matrix of ``stage``, else of the selected one, if there is no pane."""
    state = session.state
    stage = stage or state.selection.stage
    name = (stage or "The stage") if pane is None else pane.title
    table = stage_table(state, stage) if pane is None else pane.as_table()
    if table is not None:
        part = f", {table.part}" if table.part else ""
        session.exporting.table(f"{name}{part} as CSV", path, table)
        return
    why = "its tensor is not at hand" if pane is None else "there is nothing in it yet"
    remedy = "Wait until its numbers are there, then export again" if pane is None else pane.how_to_fill
    session.change(message=Message(f"{name} was not written", why, remedy))


def stage_table(state: ViewState, name: str | None) -> Table | None:
    """Return a stage's matrix of the selected sequence and head; None if it is not at hand."""
    trace = state.trace
    stage = None if trace is None else stage_named(trace.config, name)
    if trace is None or stage is None or not trace.has(stage.name) or state.query is None:
        return None
    row, head = state.selection.row, state.selection.head
    texts, ids = [piece.text for piece in state.trace_pieces], trace.ids[row].tolist()
    part = f"sequence {row + 1}" if trace.batch > 1 else ""
    if stage.name == "ids":
        header = ("position", f"{part} token ID".lstrip(), "token")
        return table_of("ids", header, zip(range(len(ids)), ids, texts, strict=True), part)
    if stage.name == "next":
        return table_of("next", (f"{part} token ID".lstrip(),), [(int(trace.array("next")[row, 0]),)], part)
    matrix = stage_matrix(trace, stage, row, head, state.query, whole=True)
    if matrix is None:
        return None
    return matrix_table(matrix, texts, ids, part_shown(matrix, trace.batch, row, head).replace(",", ""))


def _write_png(image: QImage, file: BinaryIO, context: JobContext) -> str:
    file.write(png_bytes(image))
    return f"{image.width():,} × {image.height():,} px"


def _write_svg(drawing: Drawing, title: str, file: BinaryIO, context: JobContext) -> str:
    file.write(svg_text(drawing, title).encode())
    return f"{drawing.size[0]:,} × {drawing.size[1]:,} px, heatmaps as images in it"
