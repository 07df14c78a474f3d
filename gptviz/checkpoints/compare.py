"""Whether two tensors of a file hold the same numbers."""

import torch

from gptviz.checkpoints.tensor_file import TensorFile

_CHUNK = 2**22  # numbers


def equal(file: TensorFile, one: str, other: str) -> bool:
    """Compare two tensors, part by part, so that not much of them is in memory."""
    shape = file.entries[one].shape
    if shape != file.entries[other].shape:
        return False
    if file.same(one, other):
        return True
    step = max(1, _CHUNK // max(1, shape[1]))
    for start in range(0, shape[0], step):
        if not torch.equal(file.rows(one, start, start + step), file.rows(other, start, start + step)):
            return False
        file.forget()
    return True
