"""What a person has before them: a screen to look at, a mouse and a keyboard."""

import math
import resource
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage

_POLL = 0.02  # s
T = TypeVar("T")


def eventually(look: Callable[[], T], what: str, seconds: float = 60) -> T:
    """Look again and again until there is something true to see, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if seen := look():
            return seen
        time.sleep(_POLL)
    raise AssertionError(f"not within {seconds:.0f} s: {what}")


class VirtualDisplay:
    """Xvfb: its mouse and keyboard through xdotool, its picture from the file that it draws into."""

    def __init__(self, name: str, picture: Path) -> None:
        self.name = name
        self._picture = picture

    def xdotool(self, *arguments: object) -> str:
        """Run xdotool; what it prints, or nothing if it finds no window."""
        words = ["xdotool", *map(str, arguments)]
        done = subprocess.run(words, env={"DISPLAY": self.name}, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def point(self, x: int, y: int) -> None:
        """Move the mouse there."""
        self.xdotool("mousemove", x, y)

    def click(self, x: int, y: int) -> None:
        """Move the mouse there and click with the left button."""
        self.xdotool("mousemove", x, y, "click", 1)

    def press(self, *keys: str) -> None:
        """Press keys, such as ``ctrl+q``, one after the other."""
        self.xdotool("key", *keys)

    def write(self, text: str) -> None:
        """Type a text."""
        self.xdotool("type", "--delay", 1, text)

    def picture(self) -> QImage:
        """Return what is on the screen now."""
        data = self._picture.read_bytes()
        # X's window dump: 25 numbers, a name, a table of colours, then the pixels
        header = struct.unpack(">25I", data[:100])
        start, width, height, bytes_per_line, colours = header[0], header[4], header[5], header[12], header[19]
        pixels = data[start + 12 * colours :]
        return QImage(pixels, width, height, bytes_per_line, QImage.Format.Format_RGB32).copy()


class Gptviz:
    """The running application."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: Path, display: VirtualDisplay) -> None:
        self.process = process
        self._errors = errors
        self._display = display

    @property
    def stderr(self) -> str:
        return self._errors.read_text(encoding="utf-8")

    @property
    def memory(self) -> int:
        """Bytes of the machine's memory that the application has now."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]  # zeros once it ended
        return int(pages) * resource.getpagesize()

    def window(self) -> str:
        """Wait for the window, give it the keyboard as a window manager would, and return its ID."""

        def look() -> str:
            assert self.process.poll() is None, f"gptviz ended with {self.process.returncode}: {self.stderr}"
            return self._window_with_keyboard()

        return eventually(look, "a window that has the keyboard")

    def _window_with_keyboard(self) -> str:
        """Return the window's ID; nothing while it is not there. Qt may replace it by another one at first."""
        found = self._display.xdotool("search", "--onlyvisible", "--pid", self.process.pid, "--name", "^gptviz$")
        window = found.partition("\n")[0]
        if window:
            self._display.xdotool("windowfocus", window)
        return window if window == self._display.xdotool("getwindowfocus") else ""

    def press(self, *keys: str) -> None:
        """Give the window the keyboard, and press keys."""
        self._window_with_keyboard()
        self._display.press(*keys)

    def ends_after(self, *keys: str, within: float = math.inf) -> int:
        """Press keys until the application takes notice and ends; return its exit status.

        ``within`` is how many bytes of memory it may have on the way: what it was at must not come to its end.
        """

        def look() -> bool:
            if self.process.poll() is None:
                assert self.memory < within
            self.press(*keys)
            return self.process.poll() is not None

        eventually(look, f"gptviz ends after {' '.join(keys)}")
        return self.process.returncode


def places_of(colour: str, picture: QImage, area: QRect) -> list[tuple[int, int]]:
    """Return where in ``area`` the picture has exactly ``colour``, row by row."""
    wanted = QColor(colour).rgb()
    inside = area.intersected(picture.rect())
    return [
        (x, y)
        for y in range(inside.top(), inside.bottom() + 1)
        for x in range(inside.left(), inside.right() + 1)
        if picture.pixel(x, y) == wanted
    ]
