"""``gptviz open``: the window on a recorded run, or what is in its file."""

import argparse
from pathlib import Path

from gptviz.checkpoints.files import expanded
from gptviz.commands.common import UsageError, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a run that gptviz saved")
    parser.add_argument("--json", action="store_true", help="print one JSON object on it, and open no window")


def run(options: argparse.Namespace) -> int:
    check_no_model(options, "a recorded run has its model's numbers with it")
    options.file = expanded(options.file)
    if options.json:
        from gptviz.runs.errors import RunFileError
        from gptviz.session.run_description import description

        try:
            print_json(description(options.file))
        except RunFileError as error:
            raise UsageError(str(error)) from error
        return 0
    from gptviz.commands.window import open_recorded

    check_there(options.file)
    return open_recorded(options.file)


def check_no_model(options: argparse.Namespace, why: str) -> None:
    """Refuse the options that choose a model beside a recorded run.

    Raises
    ------
    UsageError
        If one is given.
    """
    for name in ("config", "seed", "weights", "heads", "table"):
        if getattr(options, name) is not None:
            raise UsageError(f"{why}: leave out --{name}")


def check_there(path: Path) -> None:
    """Refuse a path with no file before a window opens; what is wrong inside a file, the window says.

    Raises
    ------
    UsageError
        If there is none.
    """
    try:
        there = path.exists()
    except OSError:  # a name that is too long
        there = False
    if not there:
        raise UsageError(f"there is no file {path}: look for typing errors")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the file of a run")
