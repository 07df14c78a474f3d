"""Reading a run file with distrust: nothing in it is believed before it was compared with the file itself."""

import hashlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gptviz.runs.errors import damaged
from gptviz.runs.opening import Opened, is_shape, opened
from gptviz.runs.run_file import ITEM_BYTES
from gptviz.runs.tensor_bytes import CHUNK, DTYPES, bytes_of


def read(
    path: Path, keep: bool = True, on_part: Callable[[float], None] = lambda share: None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the header and the tensors of the run file at ``path``; ``keep`` is False to check them alone.

    Raises
    ------
    RunFileError
        If it is no run file, written by a newer gptviz, damaged, or can't be read.
    """
    with opened(path) as run:
        tensors = _tensors(run, keep, on_part)
        if keep:
            tensors |= {
                name: _view(run.name, name, view, tensors) for name, view in run.views.items() if name not in tensors
            }
        return run.header, tensors


def _tensors(run: Opened, keep: bool, on_part: Callable[[float], None]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    spare = _room([0 if keep else CHUNK], torch.uint8)
    for name, (dtype, shape, digest) in run.tensors.items():
        size = ITEM_BYTES[dtype] * math.prod(shape)
        tensor = _room(shape if keep else [0], DTYPES[dtype])
        target = tensor.view(-1).view(torch.uint8) if keep and size else spare
        hashed = hashlib.sha256()
        for at in range(0, size, CHUNK):
            on_part((run.file.tell() - run.start) / max(1, run.size - run.start))
            length = min(CHUNK, size - at)
            part = bytes_of(target[at : at + length] if keep else target[:length])
            if run.file.readinto(part) != length:  # type: ignore[attr-defined]
                raise damaged(run.name, "it was cut short while it was read")
            hashed.update(part)
        if hashed.hexdigest() != digest:
            raise damaged(run.name, f"the numbers of {name[:80]} are not those that were written")
        if keep:
            found[name] = tensor
    return found


def _room(shape: list[int], dtype: torch.dtype) -> Tensor:
    try:
        return torch.empty(shape, dtype=dtype)
    except RuntimeError as error:  # as which torch says that memory is short
        raise MemoryError(str(error)) from error


def _view(file: str, name: str, view: Any, tensors: Mapping[str, Tensor]) -> Tensor:
    if isinstance(view, list) and len(view) == 4 and isinstance(view[0], str) and view[0] in tensors:
        base, (shape, strides, offset) = tensors[view[0]], view[1:]
        fits = is_shape(shape) and is_shape(strides) and is_shape([offset])
        if fits and len(shape) == len(strides) and all(shape):
            last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
            if last < base.numel():
                return base.as_strided(shape, strides, offset)
    raise damaged(file, f"what it says of {name[:80]} makes no sense")
