"""``gptviz record``: run, generate, and save it all as one file; needs no screen."""

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from gptviz.checkpoints.errors import printable
from gptviz.checkpoints.files import expanded
from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import (
    DEFAULT_PROMPT,
    UsageError,
    add_json,
    add_token_count,
    check_reach,
    encode_prompt,
    number,
    print_json,
)
from gptviz.commands.decoding import add_decoding, decoding_of
from gptviz.commands.window import wanted
from gptviz.runs import DEFAULT_BUDGET, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from gptviz.session.session import Session
    from gptviz.session.state import ViewState

_MEGABYTE = 2**20
_DEFAULT_BUDGET, _LARGEST_BUDGET = DEFAULT_BUDGET // _MEGABYTE, 1e9  # MB; more is as good as all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help=f"the file; {SUFFIX} is added if it has no suffix")
    parser.add_argument("text", metavar="TEXT", nargs="?", help=f"the prompt (default {DEFAULT_PROMPT!r})")
    add_token_count(parser)
    add_decoding(parser)
    parser.add_argument(
        "--budget",
        type=number,
        default=_DEFAULT_BUDGET,
        metavar="MB",
        help=f"for tensors: the pass on screen first, then those of the steps (default {_DEFAULT_BUDGET})",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    if not options.budget > 0:
        raise UsageError(f"--budget is a number of megabytes above 0, but is {options.budget:g}")
    name, text = _in_order(options.out, options.text)
    out = _target(name)
    choice = chosen(options)
    decoding = decoding_of(options, choice.config.vocab_size)
    encode_prompt(choice, text, choice.config.context_length)

    from gptviz.session.requests import HeadsQuestion

    def use(session: "Session", wait: "Callable[[], ViewState]") -> None:
        session.change(decoding=decoding)
        session.start_with(wanted(options, asks=False))
        state = wait()
        if isinstance(state.question, HeadsQuestion):
            raise UsageError(f"{state.question.name} can't tell its heads: add --heads {state.question.proposal}")
        if state.message is None and options.max_new_tokens:
            session.loop.play(options.max_new_tokens)
            state = wait()
        if state.message is None:
            session.recording.save(out, int(min(options.budget, _LARGEST_BUDGET) * _MEGABYTE))
            state = wait()
        if state.message is not None:
            raise UsageError(str(state.message))
        if not options.json:
            print(printable(state.notice))

    _with_session(text, use)
    if options.json:
        from gptviz.session.run_description import description

        print_json(description(out))
    return 0


def _in_order(out: str, text: str | None) -> tuple[str, str]:
    """Return the file's name and the text, also where the text came first; refuse what is no name for a file."""
    if text is not None and text.lower().endswith(SUFFIX) and not out.lower().endswith(SUFFIX):
        out, text = text, out
    if not out.strip():
        raise UsageError("the file has no name: give OUT, then TEXT")
    if text is None and len(out.split()) > 1 and not Path(out).suffix:
        raise UsageError(
            f"{out!r} looks like a text: give the file first, gptviz record run{SUFFIX} {shlex.quote(out)}"
        )
    return out, DEFAULT_PROMPT if text is None else text


def _target(name: str) -> Path:
    """Return the file to be written; refuse a place that can't be, before anything is computed."""
    from gptviz.runs.errors import RunFileError
    from gptviz.runs.writing import check_target, is_run

    if name.endswith(("/", os.sep)):
        raise UsageError(f"{name} is a folder: add a name for the file")
    out = expanded(Path(name))
    check_reach(out)
    try:
        if out.is_dir():
            raise UsageError(f"{name} is a folder: add a name for the file")
        if out.exists() and not out.is_file():
            check_target(out)  # a device
        out = out if out.suffix else out.with_name(f"{out.name}{SUFFIX}")
        check_target(out)
        if not out.absolute().parent.is_dir():
            raise UsageError(f"there is no folder {out.absolute().parent}: make it first")
        if out.suffix.lower() != SUFFIX and out.exists() and not is_run(out):
            raise UsageError(f"{out} is there and no recorded run: choose another name")
    except RunFileError as error:
        raise UsageError(str(error)) from error
    except (OSError, ValueError):  # too long, or a null character
        raise UsageError(f"{name[:80]!r} is no name for a file: choose another one") from None
    return out


def _with_session(text: str, use: "Callable[[Session, Callable[[], ViewState]], None]") -> None:
    """Let ``use`` drive a session that has no window, with a function that waits until nothing is under way.

    Ctrl+C ends the wait: an exception in one of Qt's slots would only be printed.
    """
    import signal

    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

    from gptviz.session.measuring import HEADS, PROBE
    from gptviz.session.session import Session

    app = QCoreApplication.instance() or QCoreApplication(["gptviz"])
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    session = Session(text)
    session.measuring.watch(HEADS, PROBE)  # so that they are in the file
    session.lens.watch(True)

    def wait() -> "ViewState":
        loop, poll = QEventLoop(), QTimer()
        poll.setInterval(10)
        poll.timeout.connect(lambda: None if session.awaited and not interrupts else loop.quit())
        poll.start()
        while session.awaited and not interrupts:
            loop.exec()
        poll.stop()
        if interrupts:
            raise KeyboardInterrupt
        return session.state

    try:
        use(session, wait)
    finally:
        signal.signal(signal.SIGINT, before)
        session.close()
        app.processEvents()
