"""Running a measurement in a fresh process, and telling what came out."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

START = "GPTVIZ_BENCH_START"
PROGRAM = Path(__file__).parents[1] / "bench.py"


def inside(name: str, **options: object) -> dict[str, float]:
    """Run one measurement in a fresh process and return what it tells; other lines of it are shown as they come."""
    started = {START: repr(time.clock_gettime(time.CLOCK_MONOTONIC))}
    given = [f"--{option}={value}" for option, value in options.items()]
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), "--inside", name, *given],
        env={**os.environ, **started},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        result: dict[str, float] = {}
        for line in process.stdout:
            if line.startswith("{"):
                result = json.loads(line)
            else:
                print(line, end="", flush=True)
    if process.returncode != 0 or not result:
        raise SystemExit(f"the measurement {name} failed: run {PROGRAM.name} --inside {name} to see why")
    return result


def tell(**figures: float) -> None:
    print(json.dumps(figures), flush=True)
