"""How much memory this machine can still give, so that a size can be refused before it is allocated."""

import ctypes
import os
import sys
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUPS = (  # limit and use of a container
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
_UNKNOWN = 4 * 2**30  # bytes, where the system does not tell


def available_memory() -> int:
    """Return the bytes that can be allocated without pushing anything out; a guess where the system does not tell."""
    found = [size for size in (_of_system(), _of_container()) if size is not None]
    return min(found, default=_UNKNOWN)


def _of_system() -> int | None:
    if sys.platform == "win32":
        return _of_windows()
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _of_container() -> int | None:
    for limit, used in _CGROUPS:
        try:
            return max(0, int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no container, or no limit ("max")
            continue
    return None


def _of_windows() -> int | None:  # pragma: no cover
    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            *((name, ctypes.c_uint64) for name in ("total", "free", "page", "freepage", "virtual", "freevirtual", "x")),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - it is known on Windows alone
    return int(status.free) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
