"""safetensors: a header in JSON, then the numbers. The library checks that the header fits the file."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from gptviz.checkpoints.errors import RUN_KEY, CheckpointError, RunGiven
from gptviz.checkpoints.steady import check_size, copied
from gptviz.checkpoints.tensor_file import Entry

_AGAIN = "Download or save it again"
_LARGEST_HEADER = 100_000_000  # bytes; the format's own limit
_DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}


class SafetensorsFile:
    """One file; see ``TensorFile``."""

    rest: Mapping[str, object] = MappingProxyType({})

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size
        self._check_size()
        self._file: Any = self._open()
        self.entries = {name: self._entry(name) for name in self._file.keys()}  # noqa: SIM118 - no mapping

    def tensor(self, name: str) -> Tensor:
        check_size(self._path, self._size)  # the library reads the tensor's first byte, mapped as it is
        if self._file is None:
            self._file = self._open()
        try:
            tensor: Tensor = self._file.get_tensor(name)
        except SafetensorError as error:
            raise CheckpointError(f"{self._path.name} was changed while it was being read", "Open it again") from error
        return tensor

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        return copied(self.tensor(name)[start:stop], self._path.name)

    def forget(self) -> None:
        self._file = None

    def owned(self, name: str) -> bool:
        return False

    def done_with(self, name: str) -> None:
        pass

    def same(self, one: str, other: str) -> bool:
        return False

    def _open(self) -> Any:
        try:
            return safe_open(str(self._path), framework="pt", device="cpu")
        except (SafetensorError, OSError, ValueError) as error:
            reason = str(error).removeprefix("Error while deserializing header: ").rstrip(".")
            raise CheckpointError(f"{self._path.name} is damaged: {reason[:200]}", _AGAIN) from error

    def _entry(self, name: str) -> Entry:
        part = self._file.get_slice(name)
        dtype = str(part.get_dtype())
        return Entry(tuple(part.get_shape()), _DTYPES.get(dtype, dtype.lower()))

    def _check_size(self) -> None:
        """Compare what the header claims with the file's size, to say it better than the library does."""
        size = self._size
        with self._path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
            if length > min(size - 8, _LARGEST_HEADER):
                raise CheckpointError(
                    f"{self._path.name} is damaged or not complete: it announces a header of {length:,} bytes, "
                    f"and the whole file has {size:,}",
                    _AGAIN,
                )
            header = file.read(length)
        try:
            described = json.loads(header)
            if RUN_KEY in described.get("__metadata__", ()):
                raise RunGiven(self._path.name)
            ends = [entry["data_offsets"][1] for key, entry in described.items() if key != "__metadata__"]
            claimed = 8 + length + max(ends, default=0)
        except CheckpointError:
            raise
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError):
            return  # the library says what is wrong with it
        if claimed > size:
            raise CheckpointError(
                f"{self._path.name} is not complete: its header promises {claimed:,} bytes, the file has {size:,}",
                _AGAIN,
            )
