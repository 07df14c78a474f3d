"""The ``gptviz`` command as a test calls it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from gptviz.cli import main

TINY = ("--config", "tiny")
HELLO = "Hello, I am"


class Shell:
    """Calls the command in this process and reads what it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def succeeds(self, *words: str) -> str:
        status = main(words)
        printed = self._capsys.readouterr()
        assert (status, printed.err) == (0, "")
        return printed.out

    def json(self, *words: str) -> dict[str, Any]:
        lines = self.succeeds(*words, "--json").splitlines()
        assert len(lines) == 1
        return json.loads(lines[0])

    def fails(self, *words: str) -> str:
        status = main(words)
        printed = self._capsys.readouterr()
        assert (status, printed.out) == (2, "")
        assert printed.err.endswith("\n")
        assert printed.err.count("\n") == 1
        return printed.err.removesuffix("\n")


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Call the command in a process of its own, without this process's display."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    inherited = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "gptviz", *words],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
