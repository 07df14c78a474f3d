"""Tensors in files that other programs read: NumPy's .npy and safetensors, written piece by piece."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
OnBytes = Callable[[int], object]

_AT_ONCE = 2**22  # bytes
_NAMES = {"float32": "F32", "float64": "F64", "int64": "I64"}
_ALIGNMENT = 8


def write_npy(array: Array, file: BinaryIO, on_bytes: OnBytes = lambda _: None) -> None:
    """Write ``array`` in C order as ``numpy.load`` reads it; ``on_bytes`` hears how much of it is written."""
    array = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    _write(array, file, on_bytes)


class SafetensorsWriter:
    """Writes tensors one after the other, so that no more than one has to be in memory.

    ``shapes`` are those of all tensors, with their types as NumPy calls them, in the order in which they come.
    """

    def __init__(
        self, file: BinaryIO, shapes: Mapping[str, tuple[tuple[int, ...], str]], metadata: Mapping[str, str]
    ) -> None:
        self._file = file
        self._shapes = dict(shapes)
        header: dict[str, Any] = {"__metadata__": dict(metadata)}
        at = 0
        for name, (shape, kind) in shapes.items():
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
            header[name] = {"dtype": _NAMES[kind], "shape": list(shape), "data_offsets": [at, at + size]}
            at += size
        self.total = at  # bytes of all tensors
        text = json.dumps(header, ensure_ascii=True).encode()
        text += b" " * (-len(text) % _ALIGNMENT)
        file.write(len(text).to_bytes(8, "little") + text)

    def write(self, name: str, array: Array, on_bytes: OnBytes = lambda _: None) -> None:
        """Write the next tensor.

        Raises
        ------
        ValueError
            If it is not the one that the header has there.
        """
        expected = next(iter(self._shapes), None)
        if expected != name or self._shapes.pop(name) != (array.shape, array.dtype.name):
            raise ValueError(f"{name} {array.shape} is not the tensor that the header has next: {expected}")
        _write(np.ascontiguousarray(array), self._file, on_bytes)


def tensor_bytes(shapes: Iterable[tuple[tuple[int, ...], str]]) -> int:
    """Return the bytes of tensors of such shapes and types."""
    return sum(int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize for shape, kind in shapes)


def _write(array: Array, file: BinaryIO, on_bytes: OnBytes) -> None:
    data = memoryview(array.reshape(-1).view(np.uint8).data)
    for start in range(0, len(data), _AT_ONCE):
        file.write(data[start : start + _AT_ONCE])
        on_bytes(min(start + _AT_ONCE, len(data)))
