"""What the worker runs to write files."""

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gptviz.checkpoints.errors import printable
from gptviz.session.handover import Handover
from gptviz.session.state import ViewState
from gptviz.session.worker import JobContext
from gptviz.whole_file import whole_file

if TYPE_CHECKING:
    from gptviz.analysis.table import Table
    from gptviz.capture.trace import Trace

_ROOM = 2**20  # bytes that stay free on the disk
_KINDS = {"ids": "int64", "next": "int64"}


class ExportError(Exception):
    """The file can't be written: why, and what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = printable(why), printable(remedy)
        super().__init__(f"{self.why}. {self.remedy}")


@dataclass(frozen=True)
class Written:
    """A file that was written: what is in it, such as "1184 × 846 px", and its bytes."""

    path: Path
    content: str
    nbytes: int

    def __str__(self) -> str:
        size = f"{self.nbytes / 1e3:.1f} kB" if self.nbytes >= 1e3 else f"{self.nbytes} bytes"
        size = f"{self.nbytes / 1e6:.1f} MB" if self.nbytes >= 1e6 else size
        return f"{self.content}, {size}, written to {printable(str(self.path))}"


@dataclass(frozen=True)
class SlidesRequest:
    """The run that is to be shown: its trace, the text of the sequence, and how its tokens are written."""

    trace: "Trace"
    state: ViewState
    text: str
    token_text: Callable[[int], str]


def write_file(path: Path, produce: Callable[[BinaryIO, JobContext], str], context: JobContext) -> Written:
    """Write what ``produce`` writes, whole or not at all.

    Raises
    ------
    ExportError
        If the file can't be written.
    """
    try:
        with whole_file(path) as file:
            content = produce(file, context)
            context.report(context.text or "", context.fraction)  # not a file that was cancelled at its end
            nbytes = file.tell()
    except OSError as error:
        raise ExportError(*reason_of(error, path)) from error
    return Written(path, content, nbytes)


def reason_of(error: OSError, path: Path) -> tuple[str, str]:
    """Say why the file at ``path`` can't be written, and what to do."""
    folder = Path(os.path.realpath(path)).parent  # of what a link stands for
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder", "Give the file a name of its own"
    if isinstance(error, PermissionError):
        what = path if os.path.exists(path) else folder  # noqa: PTH110 - Path.exists raises where it may not look
        return f"{what} may not be changed", "Choose another folder, or another name"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if folder.is_dir():
            return f"no file can be made in {folder}", "Choose another folder"
        return f"there is no folder {folder}", "Make it first, or choose another one"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {folder} is full", "Make room there, or choose another disk"
    if error.errno == errno.EROFS:
        return f"{folder} can only be read", "Choose another folder"
    if error.errno == errno.ENAMETOOLONG:
        return "the name is too long", "Choose a shorter one"
    return error.strerror or str(error) or type(error).__name__, "Choose another place, and try again"


def write_table(table: "Table", file: BinaryIO, context: JobContext) -> str:
    """Write ``table`` as CSV."""
    from gptviz.analysis.table import write_csv

    def on_rows(rows: int) -> None:
        context.report(context.text or "", rows / max(1, table.count))

    rows = write_csv(table, file, on_rows)
    return f"{_counted(rows, 'row')} of {_counted(len(table.header), 'column')}"


def write_stage(trace: "Trace", name: str, file: BinaryIO, context: JobContext) -> str:
    """Write the whole tensor of a stage as .npy; its block runs again if it is not at hand."""
    from gptviz.analysis.tensor_files import write_npy

    at_hand = _with_stage(trace, name, context)
    array = at_hand.array(name)
    _check_room(file, array.nbytes)
    write_npy(array, file, lambda done: context.report(f"Writing {name}", done / max(1, array.nbytes)))
    return f"{array.dtype} {_shape(array.shape)}"


def write_stages(
    trace: "Trace", names: Sequence[str], metadata: Mapping[str, str], file: BinaryIO, context: JobContext
) -> str:
    """Write tensors as safetensors. Blocks run again one at a time, so that one alone is in memory."""
    from gptviz.analysis.tensor_files import SafetensorsWriter, tensor_bytes

    there = [name for name in names if trace.has(name) or (trace.can_replay and trace.complete)]
    if not there:
        raise ExportError("none of these tensors is at hand, and the model is not loaded", "Choose another stage")
    shapes = {name: (trace.record(name).output_shape, _KINDS.get(name, "float32")) for name in there}
    _check_room(file, tensor_bytes(shapes.values()))
    writer = SafetensorsWriter(file, shapes, {**metadata, "missing": json.dumps(sorted({*names} - {*there}))})
    done, again, present = 0, set[int](), trace
    for name in there:
        layer = trace.record(name).stage.layer
        if not present.has(name):
            present = _with_stage(trace, name, context)
            again.add(-1 if layer is None else layer)
        array = present.array(name)
        writer.write(name, array, lambda part: context.report(context.text or "", (done + part) / writer.total))  # noqa: B023
        done += array.nbytes
        context.report(f"Writing {name}", done / max(1, writer.total))
    parts = [_counted(len(there), "tensor")]
    if len(there) < len(names):
        parts.append(f"{len(names) - len(there)} others are not at hand and the model is not loaded")
    if again:
        parts.append(f"{_counted(len(again), 'block')} run again, one at a time")
    return ", ".join(parts)


def write_slides(request: SlidesRequest, handover: Handover, file: BinaryIO, context: JobContext) -> str:
    """Have the slides painted one after the other, and write their pages as they come."""
    from gptviz.session.slides import count_slides, slides_of

    count = count_slides(request)
    pages = 0
    for slide in slides_of(request, count, lambda layer: _block(request.trace, layer, context)):
        pages += 1
        context.report(f"Page {pages} of {count}", pages / count)
        file.write(handover.take(slide, context))
    file.write(handover.take(None, context))
    return _counted(pages, "page")


def metadata_of(state: ViewState, texts: Sequence[str]) -> dict[str, str]:
    """Return what a file of tensors says of the run that they are of; ``texts`` are those of the batch's rows."""
    trace, model = state.trace, state.model
    assert trace is not None
    told = {
        "format": "gptviz stages",
        "version": "1",
        "ids": json.dumps(trace.ids.tolist()),
        "prompt": texts[0],
        "prompts": json.dumps(texts),
        "config": json.dumps(asdict(trace.config)),
    }
    if model is not None:
        told |= {"model": model.title, "seed": "" if model.seed is None else str(model.seed), "weights": model.source}
    return told


def _block(trace: "Trace", layer: int, context: JobContext) -> "Trace":
    """Return the trace with the inside of a block at hand, if that can be had."""
    if trace.has_block(layer) or not (trace.can_replay and trace.complete):
        return trace
    context.report(context.text or f"Running block {layer + 1} again", context.fraction)
    return trace.with_block(layer)


def _with_stage(trace: "Trace", name: str, context: JobContext) -> "Trace":
    layer = trace.record(name).stage.layer
    there = trace if layer is None or trace.has(name) else _block(trace, layer, context)
    if not there.has(name):
        raise ExportError(
            f"{name} is not at hand, and the model that computed it is not loaded",
            "Choose another stage, or run the prompt on the model",
        )
    return there


def _check_room(file: BinaryIO, needed: int) -> None:
    import shutil

    folder = Path(str(file.name)).parent
    free = shutil.disk_usage(folder).free
    if needed + _ROOM > free:
        raise ExportError(
            f"it needs {(needed + _ROOM) / 1e6:,.1f} MB and the disk of {folder} has {free / 1e6:,.1f} MB left",
            "Make room there, or choose another disk",
        )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _shape(sizes: Sequence[int]) -> str:
    return f"({', '.join(map(str, sizes))})"
