"""Tensors as the bytes that a run file has of them."""

import torch
from torch import Tensor

DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
CHUNK = 2**22  # bytes that are written or read at a time


def bytes_of(flat: Tensor) -> memoryview:
    """Return the bytes of a contiguous tensor of one dimension, without a copy."""
    array: memoryview = flat.numpy().data
    return array.cast("B") if flat.numel() else memoryview(b"")
