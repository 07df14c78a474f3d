"""A run file up to its numbers: which kind of file it is, its header, and whether the two fit. Without torch."""

import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gptviz.checkpoints.errors import RUN_KEY
from gptviz.runs import SUFFIX
from gptviz.runs.errors import RunFileError, damaged
from gptviz.runs.run_file import ITEM_BYTES, VERSION, sha256

_LARGEST_HEADER = 100_000_000  # bytes; the limit of safetensors
_Tensor = tuple[str, list[int], str]


@dataclass(frozen=True)
class Opened:
    """A run file whose header was found to be as it was written; its numbers begin at byte ``start``.

    ``tensors`` are the dtype, shape and SHA-256 of those in it, as they come one after the other; ``views`` says how
    others look at these: ``[name, shape, strides, offset]``, not yet compared with them.
    """

    file: BinaryIO
    name: str
    size: int
    start: int
    header: dict[str, Any]
    tensors: dict[str, _Tensor]
    views: dict[str, Any]


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Open the run file at ``path`` and check all but its numbers.

    Raises
    ------
    RunFileError
        If it is no run file, written by a newer gptviz, damaged, or can't be read, then or within the block.
    """
    try:
        if path.is_dir():
            raise RunFileError(f"{path.name or path} is a folder", "Choose the file of a run")
        if not path.exists():
            raise RunFileError(f"there is no file {path}", "Look for typing errors, or choose another file")
        if not path.is_file():
            raise RunFileError(f"{path.name} is a device and no file", "Choose the file of a run")
        with path.open("rb") as file:
            yield _opened(file, path.name)
    except OSError as error:
        raise RunFileError(f"{path.name} can't be read: {error.strerror or error}", "Check the file") from error
    except MemoryError as error:
        raise RunFileError(f"{path.name} needs more memory than there is", "Record it with a smaller budget") from error


def is_shape(value: Any) -> bool:
    """Tell whether what a file gave is a list of sizes."""
    return isinstance(value, list) and len(value) < 9 and all(type(n) is int and 0 <= n < 2**48 for n in value)


def _opened(file: BinaryIO, name: str) -> Opened:
    size = os.fstat(file.fileno()).st_size
    outer, start = _outer(file, name, size)
    metadata = outer.pop("__metadata__")
    inner = metadata.get("header")
    if not isinstance(inner, str) or metadata.get("sha256") != sha256(inner.encode("utf-8", "surrogatepass")):
        raise damaged(name, "its header is not as it was written")
    header = _parsed(inner)
    described, views = (header.pop(part, None) for part in ("tensors", "views"))
    if not isinstance(described, dict) or not isinstance(views, dict):
        raise damaged(name, "its header has no list of tensors")
    tensors, end = {}, start
    for key, tensor, ends in _in_order(name, outer, described):
        tensors[key], end = tensor, start + ends
    if end != size:
        what = "it is not complete" if end > size else "it is longer than it was written"
        raise damaged(name, f"{what}: {end:,} bytes were written, and it has {size:,}")
    return Opened(file, name, size, start, header, tensors, views)


def _outer(file: BinaryIO, name: str, size: int) -> tuple[dict[str, Any], int]:
    """Return what safetensors itself has as its header, of a run in this version, and where the numbers begin."""
    begin = file.read(9)
    if not begin:
        raise RunFileError(f"{name} is empty", "Copy it again from where it was saved")
    (length,) = struct.unpack("<Q", begin[:8].ljust(8, b"\0"))
    if begin[8:] != b"{" or not 2 <= length <= _LARGEST_HEADER:  # first, as a length may look like PyTorch's beginning
        if begin.startswith((b"PK\x03\x04", b"\x80")):
            raise _checkpoint(name, "a PyTorch file")
        raise _no_run(name)
    if length > size - 8:
        raise damaged(name, "it is not complete")
    outer = _parsed(begin[8:] + file.read(length - 1))
    metadata = outer.get("__metadata__")
    if not isinstance(metadata, dict) or not isinstance(metadata.get(RUN_KEY), str):
        if outer and all(isinstance(entry, dict) for entry in outer.values()):
            raise _checkpoint(name, "a safetensors file")
        raise _no_run(name)
    version = metadata[RUN_KEY]
    if version != str(VERSION):
        if version.isascii() and version.isdecimal() and len(version) < 10 and int(version) > VERSION:
            raise RunFileError(
                f"{name} was written by a newer gptviz: format {version}, this one reads {VERSION}",
                "Install the newest gptviz and open it there",
            )
        raise damaged(name, "it does not say its format")
    return outer, 8 + length


def _in_order(file: str, outer: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[tuple[str, _Tensor, int]]:
    """Yield each tensor as it comes in the file, and where its numbers end, after they were compared with its size.

    The order may be another one than it was: whatever rewrites a file of safetensors puts them in one of its own.
    """
    if set(outer) != set(described):
        raise damaged(file, "its tensors are not those that were written")
    end = 0
    for name in sorted(outer, key=lambda name: _offsets(outer[name])):
        part = described[name]
        dtype, shape, digest = part if isinstance(part, list) and len(part) == 3 else ("", [-1], "")
        if dtype not in ITEM_BYTES or not is_shape(shape) or not isinstance(digest, str):
            raise damaged(file, f"what it says of {name[:80]} makes no sense")
        size = ITEM_BYTES[dtype]
        for length in shape:
            size = min(size * length, 2**62)
        expected = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        if outer[name] != expected:
            raise damaged(file, f"what it says of {name[:80]} makes no sense")
        end += size
        yield name, (dtype, shape, digest), end


def _offsets(entry: Any) -> tuple[int, int]:
    """Return where an entry of safetensors' header says that its numbers are; out of the way if it says nothing."""
    match entry:
        case {"data_offsets": [int(start), int(end)]}:
            return start, end
    return -1, -1


def _parsed(text: str | bytes) -> dict[str, Any]:
    """Return the object that JSON ``text`` is; an empty one if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _no_run(name: str) -> RunFileError:
    return RunFileError(
        f"{name} is no recorded run, or its beginning is damaged", f"Choose a {SUFFIX} file that gptviz saved"
    )


def _checkpoint(name: str, kind: str) -> RunFileError:
    return RunFileError(f"{name} is {kind} of weights and no recorded run", "Open it with File → Open checkpoint")
