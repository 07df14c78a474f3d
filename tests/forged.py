"""Run files whose header says what nobody wrote, with checksums that fit: what no accident does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gptviz.runs.run_file import sha256

Header = dict[str, Any]
Array = np.ndarray[Any, np.dtype[Any]]

_KINDS = {"F32": np.float32, "F64": np.float64, "I64": np.int64}


def forge(path: Path, change: Callable[[Header, Header], object]) -> None:
    """Let ``change`` alter the header of safetensors and gptviz's own within it, and write the file anew."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    outer = json.loads(data[8:begin])
    inner = json.loads(outer["__metadata__"]["header"])
    change(outer, inner)
    text = json.dumps(inner)
    outer["__metadata__"] |= {"header": text, "sha256": sha256(text.encode())}
    new = json.dumps(outer).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + data[begin:])


def forge_tensor(path: Path, name: str, change: Callable[[Array], Array]) -> None:
    """Put what ``change`` makes of the tensor ``name`` in its place: of another type or shape, if of as many bytes."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:begin])[name]
    start, end = (begin + offset for offset in entry["data_offsets"])
    array = np.frombuffer(data[start:end], _KINDS[entry["dtype"]]).reshape(entry["shape"])
    forged = np.ascontiguousarray(change(array))
    assert forged.nbytes == array.nbytes
    path.write_bytes(data[:start] + forged.tobytes() + data[end:])
    kind = next(kind for kind, dtype in _KINDS.items() if forged.dtype == dtype)

    def tell(outer: Header, inner: Header) -> None:
        outer[name] |= {"dtype": kind, "shape": list(forged.shape)}
        inner["tensors"][name] = [kind, list(forged.shape), sha256(forged.tobytes())]

    forge(path, tell)
