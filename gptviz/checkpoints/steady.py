"""Copies out of a memory map that survive a file which shrinks: touching its lost pages would end the program."""

import ctypes
import errno
import os
from pathlib import Path

import torch
from torch import Tensor

from gptviz.checkpoints.errors import CheckpointError

_GONE = "Wait until whatever writes it is done, then open it again"


class _Extent(ctypes.Structure):
    """``struct iovec``: where bytes are, and how many."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


def check_size(path: Path, size: int) -> None:
    """Look whether a file of ``size`` bytes is still there and has them.

    Raises
    ------
    CheckpointError
        If not.
    """
    try:
        present = path.stat().st_size
    except FileNotFoundError:
        raise CheckpointError(f"{path.name} vanished while it was being read", "Look where it went") from None
    if present < size:
        raise CheckpointError(f"{path.name} was changed while it was being read", _GONE)


def copied(mapped: Tensor, name: str) -> Tensor:
    """Return a copy in memory of a mapped tensor, of the same shape and type.

    On Linux the system copies (``process_vm_readv``), which answers with an error where reading the map itself is
    the signal SIGBUS: a program that saves a checkpoint again cuts the old file short first. Elsewhere, and where
    the system refuses, the copy is an ordinary one.

    Raises
    ------
    CheckpointError
        If the file ``name`` was cut short in the meantime.
    """
    if not mapped.numel():
        return mapped.clone()
    span = 1 + sum((size - 1) * stride for size, stride in zip(mapped.shape, mapped.stride(), strict=True))
    copy = torch.empty(span, dtype=mapped.dtype)
    failed = _copy(mapped.data_ptr(), copy.data_ptr(), copy.nbytes)
    if failed in (errno.ENOSYS, errno.EPERM):
        return mapped.clone()
    if failed:
        raise CheckpointError(f"{name} was changed while it was being read", _GONE)
    return copy.as_strided(mapped.shape, mapped.stride())


def _copy(start: int, target: int, size: int) -> int:
    """Let the system copy ``size`` bytes of this process; return 0 or the number of the error."""
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    read = getattr(libc, "process_vm_readv", None)
    if read is None:
        return errno.ENOSYS
    read.restype = ctypes.c_ssize_t
    one = ctypes.c_ulong(1)
    done = 0
    while done < size:  # one call may copy less than it is asked for
        here, there = _Extent(target + done, size - done), _Extent(start + done, size - done)
        count = read(os.getpid(), ctypes.byref(here), one, ctypes.byref(there), one, ctypes.c_ulong(0))
        if count <= 0:
            return ctypes.get_errno() or errno.EFAULT
        done += count
    return 0
