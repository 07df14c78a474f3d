"""The format of the file: safetensors, with a checksum of the header, and in it one of each tensor.

So a flipped bit is never shown as a true number. Tensors that share memory are written once; the header says how the
others look at it. Imports nothing heavy.
"""

import hashlib

VERSION = 1
ITEM_BYTES = {"F32": 4, "F64": 8, "I64": 8}  # the kinds of number in a run


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
