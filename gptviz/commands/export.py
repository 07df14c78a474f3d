"""``gptviz export``: a run as slides, a pane as a picture, a table or a tensor as a file; needs no screen."""

import argparse
import os
from pathlib import Path

from gptviz.commands.common import DEFAULT_PROMPT, UsageError, add_token_count, check_reach
from gptviz.commands.window import check_alone, import_qt, wanted, window_size

_WRITES = {  # by suffix: what is written, and which options say of what
    ".pdf": ("slides of all stages", ()),
    ".npy": ("the tensor of a stage", ("stage",)),
    ".safetensors": ("tensors", ()),
    ".csv": ("a table", ("pane", "stage")),
    ".png": ("a picture of a pane", ("pane",)),
    ".svg": ("a drawing of a pane", ("pane",)),
}
_SIZE = (1440, 900)  # of the window
_USES_STAGE = (".npy", ".safetensors", ".csv", ".png", ".svg")  # to write it, or to select it
_LOOKS = (".pdf", ".png", ".svg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", type=Path, help=f"the file; its suffix decides: {', '.join(_WRITES)}")
    parser.add_argument("text", metavar="TEXT", nargs="?", help=f"the prompt (default {DEFAULT_PROMPT!r})")
    parser.add_argument("--run", metavar="FILE", type=Path, help="export a recorded run instead of running a text")
    parser.add_argument("--stage", metavar="NAME", help="a stage, such as trf_blocks.0.att.weights")
    parser.add_argument("--pane", metavar="NAME", help="a pane, such as attention")
    parser.add_argument("--theme", choices=("light", "dark"), help="of pictures and slides (default light)")
    parser.add_argument("--size", type=window_size, metavar="WIDTHxHEIGHT", help="of the window (default 1440x900)")
    add_token_count(parser)


def run(options: argparse.Namespace) -> int:
    _check(options)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    import_qt()
    from gptviz.app.export_run import Export, export
    from gptviz.app.unattended import ShotError

    kind = options.out.suffix.lower().removeprefix(".")
    count, size = options.max_new_tokens, options.size or _SIZE
    file = Export(options.out.absolute(), kind, options.pane, options.stage, options.theme or "light", size, count)
    model = wanted(options, asks=False) if options.run is None else options.run
    try:
        print(export(file, DEFAULT_PROMPT if options.text is None else options.text, model))
    except ShotError as error:
        raise UsageError(str(error)) from error
    return 0


def _check(options: argparse.Namespace) -> None:
    """Refuse what can't be written, before anything is computed."""
    out, suffix = options.out, options.out.suffix.lower()
    if suffix not in _WRITES:
        raise UsageError(f"{str(out) if out.name else 'OUT'} must end in one of {', '.join(_WRITES)}")
    what, needed = _WRITES[suffix]
    if needed and not any(getattr(options, name) for name in needed):
        raise UsageError(f"{suffix} is {what}: say of which with {' or '.join(f'--{name} NAME' for name in needed)}")
    if options.pane is not None and "pane" not in needed:
        raise UsageError(f"{suffix} is {what}: leave out --pane")
    if options.stage is not None and suffix not in _USES_STAGE:
        raise UsageError(f"{suffix} is {what}: leave out --stage")
    if options.size is not None and options.pane is None:
        raise UsageError(f"--size is that of the window that a pane is in, and {suffix} is {what}: leave out --size")
    if options.theme is not None and suffix not in _LOOKS:
        raise UsageError(f"{suffix} is {what}, without colours: leave out --theme")
    if options.run is not None:
        check_alone(options)
        if options.max_new_tokens:
            raise UsageError("--run exports what was recorded: leave out --max-new-tokens")
    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    _check_target(out)


def _check_target(out: Path) -> None:
    check_reach(out)
    try:
        is_folder = out.is_dir()
    except OSError as error:
        raise UsageError(f"there can't be a file of that name ({error.strerror}): choose another one") from error
    if is_folder:
        raise UsageError(f"{out} is a folder: give the file a name of its own")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {out.absolute().parent}: make it first")
