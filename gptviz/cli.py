"""The ``gptviz`` command. torch and Qt are imported inside functions, so that ``--help`` is instant."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from gptviz import __version__
from gptviz.checkpoints.errors import printable
from gptviz.commands.chosen_model import ChoiceError
from gptviz.commands.chosen_model import add_arguments as add_model_arguments
from gptviz.commands.common import UsageError, whole_number
from gptviz.commands.window import add_window_arguments, open_window

# A new command is a file in commands/ and a line here.
_COMMANDS = {
    "tokens": ("tokens", "show the tokens of a text"),
    "trace": ("trace", "run the model once and list all stages"),
    "generate": ("generate", "append tokens, the likeliest first"),
    "heads": ("heads", "score what each attention head does, on a text and on random tokens said twice"),
    "explain": ("explain", "show the arithmetic behind one number of a stage"),
    "where-from": ("where_from", "show what each part added to a value of the residual stream, or to a logit"),
    "lens": ("lens", "show what each block would predict if the output head read the stream after it"),
    "compare": ("compare", "show what differs between the runs of two texts"),
    "export": ("export", "write a run as slides, a pane as a picture, or a table or tensors, as a file"),
    "record": ("record", "run and generate, and save it as one file that opens without the model"),
    "open": ("open_run", "open the window on a recorded run, or print what is in it"),
    "params": ("params", "count the parameters"),
    "shot": ("window", "save a picture of the window after a run; needs no screen"),
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error that says what to change."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _write_what_the_terminal_lacks_as_escapes()
    set_up_torch()
    try:
        options = _parse(words)
        command: Callable[[argparse.Namespace], int] = options.command
        status = command(options)
        sys.stdout.flush()
        return status
    except (UsageError, ChoiceError) as error:
        print(f"gptviz: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"gptviz: the output can't be written: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer goes nowhere
        return 2
    except KeyboardInterrupt:
        return 130


def _write_what_the_terminal_lacks_as_escapes() -> None:
    """A terminal or file of a small character set gets → for →, and no crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def set_up_torch() -> None:
    """Set what is read once, when torch is imported, and is of use to a window. A person's own settings stay.

    Where other programs need the cores too, threads must not wait for each other by turning in circles. And memory
    comes in pages of 2 MB, where the system has them: thousands of small ones take long to be given back.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


def _parse(words: list[str]) -> argparse.Namespace:
    common = _Parser(prog="gptviz", add_help=False)
    add_model_arguments(common, _seed)
    parser = _Parser(
        prog="gptviz",
        parents=[common],
        description="Watch a GPT-2-shaped model run. With no command, open the window.",
        epilog="commands: " + "; ".join(f"{name}: {text}" for name, (_, text) in _COMMANDS.items()),
    )
    parser.add_argument("--version", action="version", version=f"gptviz {__version__}")
    command = _command(common, words)
    if command not in _COMMANDS:
        add_window_arguments(parser)
        parser.set_defaults(command=open_window)
        return parser.parse_args(words)
    name, help_text = _COMMANDS[command]
    module = import_module(f"gptviz.commands.{name}")
    sub = _Parser(prog=f"gptviz {command}", description=help_text, parents=[common])
    sub.set_defaults(command=module.run)
    module.add_arguments(sub)
    place = words.index(command)
    return sub.parse_args(words[:place] + words[place + 1 :])


def _command(common: argparse.ArgumentParser, words: list[str]) -> str | None:
    """Return the first word that is no option; after ``--`` words are text."""
    before_dashes = words[: words.index("--")] if "--" in words else words
    _, rest = common.parse_known_args([word for word in before_dashes if word not in ("-h", "--help")])
    return rest[0] if rest else None


def _seed(text: str) -> int:
    value = whole_number(text)
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2^63 - 1")
    return value
