"""The window itself, and ``gptviz shot``: a picture of it."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import DEFAULT_PROMPT, UsageError, check_reach

if TYPE_CHECKING:
    from gptviz.session.requests import ModelRequest

_LARGEST_SIZE = 8192  # px


def add_window_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the window begin with a prompt."""
    parser.add_argument("text", nargs="?", default=DEFAULT_PROMPT, metavar="TEXT", help="the prompt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT.png", type=Path)
    parser.add_argument("text", metavar="TEXT", nargs="?", help=f"the prompt (default {DEFAULT_PROMPT!r})")
    parser.add_argument("--run", metavar="FILE", type=Path, help="show a recorded run instead of running a text")
    parser.add_argument("--pane", metavar="NAME", help="one pane instead of the whole window")
    parser.add_argument("--stage", metavar="NAME", help="the stage to select, such as trf_blocks.0.att.weights")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", type=window_size, default=(1440, 900), metavar="WIDTHxHEIGHT")


def open_window(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed."""
    _require_display()
    import_qt()
    from gptviz.app import application

    return application.open_window(options.text, wanted(options, asks=True))


def open_recorded(path: Path) -> int:
    """Open the window on a recorded run and stay until it is closed."""
    _require_display()
    import_qt()
    from gptviz.app import application

    return application.open_window(DEFAULT_PROMPT, path)


def run(options: argparse.Namespace) -> int:
    if options.out.suffix.lower() != ".png":
        raise UsageError(f"{options.out} must end in .png")
    check_reach(options.out)
    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {options.out.absolute().parent}: make it first")
    if options.run is not None:
        check_alone(options)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    import_qt()
    from gptviz.app.shot import Shot, shoot
    from gptviz.app.unattended import ShotError

    try:
        shot = Shot(options.theme, options.size, options.pane, options.stage)
        model = wanted(options, asks=False) if options.run is None else options.run
        shoot(options.out, DEFAULT_PROMPT if options.text is None else options.text, model, shot)
    except ShotError as error:
        raise UsageError(str(error)) from error
    return 0


def window_size(text: str) -> tuple[int, int]:
    """Read a size such as 1440x900."""
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1440x900")
    if not (200 <= int(width) <= _LARGEST_SIZE and 200 <= int(height) <= _LARGEST_SIZE):
        raise argparse.ArgumentTypeError(f"{text}: width and height go from 200 to {_LARGEST_SIZE}")
    return int(width), int(height)


def check_alone(options: argparse.Namespace) -> None:
    """Refuse a text or a model beside a recorded run, which has its own."""
    from gptviz.checkpoints.files import expanded
    from gptviz.commands.open_run import check_file, check_no_model

    why = "--run shows what was recorded"
    if options.text is not None:
        raise UsageError(f"{why}: leave out a text")
    check_no_model(options, why)
    options.run = expanded(options.run)
    check_file(options.run)


def wanted(options: argparse.Namespace, asks: bool) -> "ModelRequest":
    """Return what the window is asked for."""
    from gptviz.session.requests import CheckpointRequest, UntrainedRequest

    choice = chosen(options)
    if choice.weights is None:
        return UntrainedRequest(choice.config_name, choice.seed)
    return CheckpointRequest(choice.weights, choice.heads, choice.table, asks=asks)


def _require_display() -> None:
    environment = os.environ
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM", "xcb") != "xcb":
        return
    display = environment.get("DISPLAY")
    if environment.get("WAYLAND_DISPLAY") and not environment.get("QT_QPA_PLATFORM"):
        return
    if not display or not _answers(display):
        reason = f"DISPLAY {display} does not answer" if display else "DISPLAY is not set"
        raise UsageError(
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
    """Import Qt, or say what is missing."""
    if sys.platform == "win32":
        import torch  # noqa: F401 - before Qt, whose libraries must not be loaded first
    try:
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"Qt can't be loaded ({error}): on Debian or Ubuntu run scripts/system-packages.sh, "
            "or see 'System packages' in README.md"
        ) from error
