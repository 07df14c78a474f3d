"""Whether a window can be opened, found out before Qt ends the process over it."""

import os
import sys


class DisplayError(Exception):
    """There is no screen, or Qt can't be loaded; the message says what to do."""


def require_display() -> None:
    """Raise DisplayError unless there is a screen to open a window on."""
    environment = os.environ
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM", "xcb") != "xcb":
        return
    display = environment.get("DISPLAY")
    if environment.get("WAYLAND_DISPLAY") and not environment.get("QT_QPA_PLATFORM"):
        return
    if not display or not _answers(display):
        reason = f"DISPLAY {display} does not answer" if display else "DISPLAY is not set"
        raise DisplayError(
            f"there is no display to open a window on ({reason}): use a desktop session, "
            "or save a picture with 'gptviz shot OUT.png'"
        )


def _answers(display: str) -> bool:
    """Tell whether an X server can be reached: Qt itself would end the process with a crash report."""
    import ctypes

    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # Qt will say what is missing
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not failed


def import_qt() -> None:
    """Import Qt, or raise DisplayError with what is missing."""
    if sys.platform == "win32":
        import torch  # noqa: F401 - before Qt, whose libraries must not be loaded first
    try:
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        raise DisplayError(
            f"Qt can't be loaded ({error}): on Debian or Ubuntu run scripts/system-packages.sh, "
            "or see 'System packages' in README.md"
        ) from error
