"""Writing a file so that it is there whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` that takes its place when the block ends well; else nothing is left of it.

    Raises
    ------
    OSError
        If the file can't be written, or ``path`` is a folder, a device or a pipe, or may not be changed. What was there
        before stays, and if it is replaced, the new file has its permissions.
    """
    path = Path(os.path.realpath(path))  # a link goes on to be one
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    if path.exists() and not path.is_file():  # /dev/null would be a file from then on
        raise OSError(errno.ENOTSUP, "it is a device or a pipe, which would be lost")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be changed")
    beside = path.with_name(f".gptviz-{os.urandom(8).hex()}.part")  # no longer than any name may be
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Have the new name survive a power cut, where the system can be asked for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
