"""Writing a run file so that it is there whole or not at all."""

import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from torch import Tensor

from gptviz.checkpoints.errors import RUN_KEY
from gptviz.runs.errors import RunFileError, unwritten
from gptviz.runs.run_file import VERSION, sha256
from gptviz.runs.tensor_bytes import CHUNK, DTYPES, bytes_of
from gptviz.whole_file import whole_file

_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ENTRY_ROOM = 512  # bytes of the header for a tensor, at most
_ROUND = 4096


class RunWriter:
    """Writes tensors one after the other, and with ``finish`` the header; the file is there after the block's end.

    ``room`` is how many tensors and how many characters of header there will be at most. Whatever goes wrong, the
    file that was at ``path`` stays as it was, and nothing is left beside it.
    """

    def __init__(self, path: Path, room: tuple[int, int], on_part: Callable[[int], None] = lambda size: None) -> None:
        self._path = path
        self._on_part = on_part
        self._header = -(-(room[0] * _ENTRY_ROOM + 2 * room[1]) // _ROUND) * _ROUND + _ROUND
        self._entries: dict[str, Any] = {}
        self._described: dict[str, Any] = {}
        self._views: dict[str, Any] = {}
        self._size = 0
        self._whole = ExitStack()
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        check_target(self._path)
        try:
            self._file = self._whole.enter_context(whole_file(self._path))
            self._file.seek(8 + self._header)
        except OSError as error:
            raise unwritten(self._path.name, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            self._whole.__exit__(kind, error, tb)
        except OSError as problem:
            raise unwritten(self._path.name, problem) from problem
        if isinstance(error, OSError):
            raise unwritten(self._path.name, error) from error

    def add(self, tensors: Mapping[str, Tensor]) -> None:
        """Write ``tensors``; of those that share memory with a larger one of them, note how they look at it."""
        bases: dict[int, tuple[str, Tensor]] = {}
        for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].numel()):
            storage = tensor.untyped_storage().data_ptr()
            base = bases.get(storage)
            if base is not None and _lies_in(tensor, base[1]):
                offset = tensor.storage_offset() - base[1].storage_offset()
                self._views[name] = [base[0], list(tensor.shape), list(tensor.stride()), offset]
                continue
            self._write(name, tensor)
            if tensor.is_contiguous():
                bases[storage] = name, tensor

    def finish(self, header: Mapping[str, Any]) -> int:
        """Write the header, with which the file is complete; return its size in bytes."""
        assert self._file is not None
        inner = json.dumps({**header, "tensors": self._described, "views": self._views}, separators=(",", ":"))
        outer = {RUN_KEY: str(VERSION), "sha256": sha256(inner.encode()), "header": inner}
        text = json.dumps({"__metadata__": outer, **self._entries}, separators=(",", ":")).encode()
        assert len(text) <= self._header
        self._file.seek(0)
        self._file.write(struct.pack("<Q", self._header) + text.ljust(self._header))
        return 8 + self._header + self._size

    def _write(self, name: str, tensor: Tensor) -> None:
        assert self._file is not None
        flat = tensor.detach().contiguous().view(-1)
        data, digest = bytes_of(flat), hashlib.sha256()
        for start in range(0, len(data), CHUNK):
            self._on_part(self._size + start)
            part = data[start : start + CHUNK]
            digest.update(part)
            self._file.write(part)
        offsets = [self._size, self._size + len(data)]
        dtype, shape = _NAMES[tensor.dtype], list(tensor.shape)
        self._entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        self._described[name] = [dtype, shape, digest.hexdigest()]
        self._size = offsets[1]


def check_target(path: Path) -> None:
    """Look whether a file may be put at ``path``.

    Raises
    ------
    RunFileError
        If there is a folder, a device, or a file that is write-protected, or there can't be a file of that name.
    """
    try:
        there = path.exists()
    except OSError as error:
        raise unwritten(path.name, error) from error
    if path.is_dir():
        raise RunFileError(f"{path.name or path} is a folder", "Add a name for the file")
    if there and not path.is_file():
        raise RunFileError(f"{path.name} is a device and no file", "Choose another name")
    if there and not os.access(path, os.W_OK):
        raise RunFileError(f"{path.name} is there and write-protected", "Choose another name")
    folder = Path(os.path.realpath(path)).parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise RunFileError(f"the folder {folder} can't be written to", "Choose a folder that you may write to")


def is_run(path: Path) -> bool:
    """Tell by its beginning whether the file at ``path`` is a run that was written here."""
    with path.open("rb") as file:
        return f'{{"__metadata__":{{"{RUN_KEY}"'.encode() in file.read(64)


def _lies_in(tensor: Tensor, base: Tensor) -> bool:
    """Tell whether all of ``tensor`` is in the memory that ``base``, which is contiguous, takes up."""
    first = tensor.storage_offset() - base.storage_offset()
    last = first + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.dtype == base.dtype and tensor.numel() > 0 and first >= 0 and last < base.numel()
