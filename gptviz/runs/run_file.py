"""The format of the file: safetensors, with a checksum of the header, and in it one of each tensor.

So a flipped bit is never shown as a true number. Tensors that share memory are written once; the header says how the
others look at it.
"""

import hashlib

import torch
from torch import Tensor

VERSION = 1
DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
CHUNK = 2**22  # bytes that are written or read at a time


def bytes_of(flat: Tensor) -> memoryview:
    """Return the bytes of a contiguous tensor of one dimension, without a copy."""
    array: memoryview = flat.numpy().data
    return array.cast("B") if flat.numel() else memoryview(b"")


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
