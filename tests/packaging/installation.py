"""Where the checkout is, and programs of an environment that does not know it."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installation:
    """A virtual environment that has the wheel, and a folder far from the checkout to work in."""

    scripts: Path
    elsewhere: Path

    def run(self, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment in the other folder."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DISPLAY"))}
        return subprocess.run(
            [self.scripts / program, *arguments],
            cwd=self.elsewhere,
            env=environment | {"HOME": str(self.elsewhere), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            check=False,
        )
