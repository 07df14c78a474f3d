"""Reading a run file with distrust: nothing in it is believed before it was compared with the file itself."""

import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from gptviz.checkpoints.safetensors_file import RUN_KEY
from gptviz.runs import SUFFIX
from gptviz.runs.errors import RunFileError, damaged
from gptviz.runs.run_file import CHUNK, DTYPES, VERSION, bytes_of, sha256


def read(
    path: Path, keep: bool = True, on_part: Callable[[float], None] = lambda share: None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the header and the tensors of the run file at ``path``; ``keep`` is False to check them alone.

    Raises
    ------
    RunFileError
        If it is no run file, written by a newer gptviz, damaged, or can't be read.
    """
    try:
        if path.is_dir():
            raise RunFileError(f"{path.name or path} is a folder", "Choose the file of a run")
        if not path.exists():
            raise RunFileError(f"there is no file {path}", "Look for typing errors, or choose another file")
        if not path.is_file():
            raise RunFileError(f"{path.name} is a device and no file", "Choose the file of a run")
        with path.open("rb") as file:
            return _Reader(file, path.name, on_part).read(keep)
    except OSError as error:
        raise RunFileError(f"{path.name} can't be read: {error.strerror or error}", "Check the file") from error
    except MemoryError as error:
        raise RunFileError(f"{path.name} needs more memory than there is", "Record it with a smaller budget") from error


class _Reader:
    def __init__(self, file: BinaryIO, name: str, on_part: Callable[[float], None]) -> None:
        self._file = file
        self._name = name
        self._size = os.fstat(file.fileno()).st_size
        self._on_part = on_part

    def read(self, keep: bool) -> tuple[dict[str, Any], dict[str, Tensor]]:
        outer, start = self._outer()
        metadata = outer.pop("__metadata__")
        inner = metadata.get("header")
        if not isinstance(inner, str) or metadata.get("sha256") != sha256(inner.encode("utf-8", "surrogatepass")):
            raise damaged(self._name, "its header is not as it was written")
        header = _parsed(inner)
        described, views = (header.pop(name, None) for name in ("tensors", "views"))
        if not isinstance(described, dict) or not isinstance(views, dict):
            raise damaged(self._name, "its header has no list of tensors")
        self._check_places(outer, described, start)
        tensors = self._tensors(described, start, keep)
        if keep:
            tensors |= {name: self._view(name, view, tensors) for name, view in views.items() if name not in tensors}
        return header, tensors

    def _outer(self) -> tuple[dict[str, Any], int]:
        """Return what safetensors itself has as its header, of a run in this version, and where the numbers begin."""
        begin = self._file.read(8)
        if not begin:
            raise RunFileError(f"{self._name} is empty", "Copy it again from where it was saved")
        if begin.startswith((b"PK\x03\x04", b"\x80")):
            raise _checkpoint(self._name, "a PyTorch file")
        (length,) = struct.unpack("<Q", begin.ljust(8, b"\0"))
        if len(begin) < 8 or not 2 <= length <= self._size - 8:
            known = self._file.read(1) == b"{"
            if known:
                raise damaged(self._name, "it is not complete")
            raise RunFileError(f"{self._name} is no recorded run", f"Choose a {SUFFIX} file that gptviz saved")
        outer = _parsed(self._file.read(length))
        metadata = outer.get("__metadata__")
        if not isinstance(metadata, dict) or not isinstance(metadata.get(RUN_KEY), str):
            if outer and all(isinstance(entry, dict) for entry in outer.values()):
                raise _checkpoint(self._name, "a safetensors file")
            raise RunFileError(
                f"{self._name} is no recorded run, or its beginning is damaged",
                f"Choose a {SUFFIX} file that gptviz saved",
            )
        version = metadata[RUN_KEY]
        if version != str(VERSION):
            if version.isascii() and version.isdecimal() and len(version) < 10 and int(version) > VERSION:
                raise RunFileError(
                    f"{self._name} was written by a newer gptviz: format {version}, this one reads {VERSION}",
                    "Install the newest gptviz and open it there",
                )
            raise damaged(self._name, "it does not say its format")
        return outer, 8 + length

    def _check_places(self, outer: Mapping[str, Any], described: Mapping[str, Any], start: int) -> None:
        """Look whether the numbers are where safetensors has them, one tensor after the other up to the end."""
        if list(outer) != list(described):
            raise damaged(self._name, "its tensors are not those that were written")
        end = 0
        for name, part in described.items():
            dtype, shape, digest = part if isinstance(part, list) and len(part) == 3 else ("", [-1], "")
            if dtype not in DTYPES or not _is_shape(shape) or not isinstance(digest, str):
                raise damaged(self._name, f"what it says of {name[:80]} makes no sense")
            size = DTYPES[dtype].itemsize
            for length in shape:
                size = min(size * length, 2**62)
            expected = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
            if outer[name] != expected:
                raise damaged(self._name, f"what it says of {name[:80]} makes no sense")
            end += size
        if start + end != self._size:
            what = "it is not complete" if start + end > self._size else "it is longer than it was written"
            raise damaged(self._name, f"{what}: {start + end:,} bytes were written, and it has {self._size:,}")

    def _tensors(self, described: Mapping[str, Any], start: int, keep: bool) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        spare = torch.empty(0 if keep else CHUNK, dtype=torch.uint8)
        for name, (dtype, shape, digest) in described.items():
            size = DTYPES[dtype].itemsize
            for length in shape:
                size *= length
            tensor = torch.empty(shape if keep else 0, dtype=DTYPES[dtype])
            target = tensor.view(-1).view(torch.uint8) if keep and size else spare
            hashed = hashlib.sha256()
            for at in range(0, size, CHUNK):
                self._on_part((self._file.tell() - start) / max(1, self._size - start))
                length = min(CHUNK, size - at)
                part = bytes_of(target[at : at + length] if keep else target[:length])
                if self._file.readinto(part) != length:  # type: ignore[attr-defined]
                    raise damaged(self._name, "it was cut short while it was read")
                hashed.update(part)
            if hashed.hexdigest() != digest:
                raise damaged(self._name, f"the numbers of {name[:80]} are not those that were written")
            if keep:
                found[name] = tensor
        return found

    def _view(self, name: str, view: Any, tensors: Mapping[str, Tensor]) -> Tensor:
        if isinstance(view, list) and len(view) == 4 and isinstance(view[0], str) and view[0] in tensors:
            base, (shape, strides, offset) = tensors[view[0]], view[1:]
            fits = _is_shape(shape) and _is_shape(strides) and _is_shape([offset])
            if fits and len(shape) == len(strides) and all(shape):
                last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
                if last < base.numel():
                    return base.as_strided(shape, strides, offset)
        raise damaged(self._name, f"what it says of {name[:80]} makes no sense")


def _parsed(text: str | bytes) -> dict[str, Any]:
    """Return the object that JSON ``text`` is; an empty one if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _checkpoint(name: str, kind: str) -> RunFileError:
    return RunFileError(f"{name} is {kind} of weights and no recorded run", "Open it with File → Open checkpoint")


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and len(value) < 9 and all(type(n) is int and 0 <= n < 2**48 for n in value)
