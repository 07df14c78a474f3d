"""A virtual X display, and the real ``gptviz`` on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from virtual_display import Gptviz, VirtualDisplay


@pytest.fixture
def display(tmp_path: Path) -> Iterator[VirtualDisplay]:
    """An X server of its own, without a window manager; a new one each time, on which no key is held down."""
    if not (shutil.which("Xvfb") and shutil.which("xdotool")):
        pytest.fail("Xvfb and xdotool are needed: run scripts/system-packages.sh --with-xvfb")
    folder = tmp_path / "display"
    folder.mkdir()
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1440x900x24", "-fbdir", str(folder)]
    with subprocess.Popen(
        [*command, "-nolisten", "tcp", "-noreset"], pass_fds=[writing], stderr=subprocess.DEVNULL
    ) as server:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()  # the server writes it when it is ready
        assert number, "Xvfb did not start"
        yield VirtualDisplay(f":{number}", folder / "Xvfb_screen0")
        server.terminate()


@pytest.fixture
def gptviz(display: VirtualDisplay, tmp_path: Path) -> Iterator[Callable[..., Gptviz]]:
    """A function that starts the installed ``gptviz`` with arguments, as a person who has never used it."""
    started: list[Gptviz] = []
    home = tmp_path / "home"
    home.mkdir(mode=0o700)

    def start(*arguments: str) -> Gptviz:
        environment = {
            **os.environ,
            "DISPLAY": display.name,
            "QT_QPA_PLATFORM": "xcb",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_RUNTIME_DIR": str(home),
        }
        errors = tmp_path / f"stderr-{len(started)}"
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                [Path(sys.executable).with_name("gptviz"), *arguments],
                env=environment,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stderr=stream,
            )
        started.append(Gptviz(process, errors, display))
        return started[-1]

    yield start
    display.picture().save(str(tmp_path / "last.png"))  # what there was to see, should the test have failed
    for application in started:
        application.process.kill()
        application.process.wait()
