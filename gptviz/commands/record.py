"""``gptviz record``: run, generate, and save it all as one file; needs no screen."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import DEFAULT_PROMPT, UsageError, add_json, encode_prompt, print_json
from gptviz.commands.decoding import add_decoding, decoding_of
from gptviz.commands.window import wanted
from gptviz.runs import DEFAULT_BUDGET, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from gptviz.session.session import Session
    from gptviz.session.state import ViewState

_MEGABYTE = 2**20
_DEFAULT_BUDGET = DEFAULT_BUDGET // _MEGABYTE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", type=Path, help=f"the file; {SUFFIX} is added if it has no suffix")
    parser.add_argument("text", metavar="TEXT", nargs="?", default=DEFAULT_PROMPT)
    parser.add_argument("--max-new-tokens", type=int, default=0, metavar="N", help="tokens to generate (default 0)")
    add_decoding(parser)
    parser.add_argument(
        "--budget",
        type=float,
        default=_DEFAULT_BUDGET,
        metavar="MB",
        help=f"for tensors: the pass on screen first, then those of the steps (default {_DEFAULT_BUDGET})",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    if not 0 < options.budget < 1e9:
        raise UsageError(f"--budget is a number of megabytes above 0, but is {options.budget:g}")
    choice = chosen(options)
    decoding = decoding_of(options, choice.config.vocab_size)
    encode_prompt(choice, options.text, choice.config.context_length)
    out = _target(options.out)

    def use(session: "Session", wait: "Callable[[], ViewState]") -> None:
        session.change(decoding=decoding)
        session.start_with(wanted(options, asks=False))
        state = wait()
        if state.message is None and options.max_new_tokens:
            session.loop.play(options.max_new_tokens)
            state = wait()
        if state.message is None:
            session.recording.save(out, int(options.budget * _MEGABYTE))
            state = wait()
        if state.message is not None:
            raise UsageError(str(state.message))
        if not options.json:
            print(state.notice)

    _with_session(options.text, use)
    if options.json:
        from gptviz.session.run_description import description

        print_json(description(out))
    return 0


def _target(out: Path) -> Path:
    """Return the file to be written; refuse a place that can't be, before anything is computed."""
    from gptviz.runs.errors import RunFileError
    from gptviz.runs.writing import check_target

    try:
        check_target(out)
        out = out if out.suffix or out.exists() else out.with_suffix(SUFFIX)
        if not out.absolute().parent.is_dir():
            raise UsageError(f"there is no folder {out.absolute().parent}: make it first")
    except RunFileError as error:
        raise UsageError(str(error)) from error
    return out


def _with_session(text: str, use: "Callable[[Session, Callable[[], ViewState]], None]") -> None:
    """Let ``use`` drive a session that has no window, with a function that waits until nothing is under way.

    Ctrl+C ends the wait: an exception in one of Qt's slots would only be printed.
    """
    import signal

    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

    from gptviz.session.measuring import HEADS
    from gptviz.session.session import Session

    app = QCoreApplication.instance() or QCoreApplication(["gptviz"])
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    session = Session(text)
    session.measuring.watch(HEADS)  # so that they are in the file
    session.lens.watch(True)

    def unsettled() -> bool:
        return session.busy or session.state.generation.playing or session.watched or session.measuring.unfinished

    def wait() -> "ViewState":
        loop, poll = QEventLoop(), QTimer()
        poll.setInterval(10)
        poll.timeout.connect(lambda: None if unsettled() and not interrupts else loop.quit())
        poll.start()
        while unsettled() and not interrupts:
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
