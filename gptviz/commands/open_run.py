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

    check_file(options.file)
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


def check_file(path: Path) -> None:
    """Refuse what is no recorded run, by all but its numbers, before a window opens.

    Raises
    ------
    UsageError
        If there is no file, or another one.
    """
    from gptviz.runs.errors import RunFileError
    from gptviz.runs.opening import opened

    try:
        with opened(path):
            pass
    except RunFileError as error:
        raise UsageError(str(error)) from error
