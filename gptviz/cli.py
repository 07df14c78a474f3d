"""The ``gptviz`` command. torch and Qt are imported inside functions, so that ``--help`` is instant."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gptviz import __version__
from gptviz.analysis.decoding_settings import DEFAULT_SAMPLE_SEED, Decoding, DecodingError
from gptviz.model.config import CONFIGS

if TYPE_CHECKING:
    from gptviz.analysis.candidates import Candidate
    from gptviz.analysis.check import Check
    from gptviz.analysis.decoding import Choice
    from gptviz.model.gpt import GPTModel
    from gptviz.tokenizer import Piece, Tokenizer

_DEFAULT_PROMPT = "Hello, I am"
_TOP = 10
_LARGEST_SIZE = 8192  # px


class UsageError(Exception):
    """The command can't be carried out; the message says what to change."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after one line on standard error that says what to change."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _write_what_the_terminal_lacks_as_escapes()
    try:
        options = _parse(words)
        command: Callable[[argparse.Namespace], int] = options.command
        status = command(options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"gptviz: {' '.join(str(error).split())}", file=sys.stderr)
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


def _parse(words: list[str]) -> argparse.Namespace:
    commands = {
        "tokens": (_tokens, "show the tokens of a text"),
        "trace": (_trace, "run the model once and list all stages"),
        "generate": (_generate, "append tokens, the likeliest first"),
        "params": (_params, "count the parameters"),
        "shot": (_shot, "save a picture of the window after a run; needs no screen"),
    }
    common = _Parser(prog="gptviz", add_help=False)
    common.add_argument("--config", choices=list(CONFIGS), default="gpt2-small", help="size of the model")
    common.add_argument("--seed", type=_seed, default=123, help="seed of the random weights (default 123)")
    parser = _Parser(
        prog="gptviz",
        parents=[common],
        description="Watch a GPT-2-shaped model run. With no command, open the window.",
        epilog="commands: " + "; ".join(f"{name}: {text}" for name, (_, text) in commands.items()),
    )
    parser.add_argument("--version", action="version", version=f"gptviz {__version__}")
    command = _command(common, words)
    if command not in commands:
        parser.add_argument("text", nargs="?", default=_DEFAULT_PROMPT, metavar="TEXT", help="the prompt")
        parser.set_defaults(command=_window)
        return parser.parse_args(words)
    function, help_text = commands[command]
    sub = _Parser(prog=f"gptviz {command}", description=help_text, parents=[common])
    sub.set_defaults(command=function)
    _add_arguments(sub, command)
    place = words.index(command)
    return sub.parse_args(words[:place] + words[place + 1 :])


def _command(common: argparse.ArgumentParser, words: list[str]) -> str | None:
    """Return the first word that is no option; after ``--`` words are text."""
    before_dashes = words[: words.index("--")] if "--" in words else words
    _, rest = common.parse_known_args([word for word in before_dashes if word not in ("-h", "--help")])
    return rest[0] if rest else None


def _add_arguments(sub: argparse.ArgumentParser, command: str) -> None:
    if command in ("tokens", "generate"):
        sub.add_argument("text", metavar="TEXT")
    if command == "trace":
        sub.add_argument("texts", metavar="TEXT", nargs="+", help="several texts make one batch of equal token counts")
    if command == "generate":
        sub.add_argument("--max-new-tokens", type=int, required=True, metavar="N")
        _add_decoding(sub)
    if command == "shot":
        sub.add_argument("out", metavar="OUT.png", type=Path)
        sub.add_argument("text", metavar="TEXT", nargs="?", default=_DEFAULT_PROMPT)
        sub.add_argument("--pane", metavar="NAME", help="one pane instead of the whole window")
        sub.add_argument("--stage", metavar="NAME", help="the stage to select, such as trf_blocks.0.att.weights")
        sub.add_argument("--theme", choices=("light", "dark"), default="light")
        sub.add_argument("--size", type=_size, default=(1440, 900), metavar="WIDTHxHEIGHT")
    else:
        sub.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def _add_decoding(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--temperature", type=float, default=0.0, help="0, the default, is greedy; 1 draws as it is")
    sub.add_argument("--top-k", type=int, metavar="K", help="draw from the K likeliest tokens")
    sub.add_argument(
        "--top-p", type=float, default=1.0, metavar="P", help="draw from the likeliest that have P together"
    )
    sub.add_argument("--sample-seed", type=_seed, default=DEFAULT_SAMPLE_SEED, help="seed of the draw (default 42)")


def _seed(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2^63 - 1")
    return value


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1440x900")
    if not (200 <= int(width) <= _LARGEST_SIZE and 200 <= int(height) <= _LARGEST_SIZE):
        raise argparse.ArgumentTypeError(f"{text}: width and height go from 200 to {_LARGEST_SIZE}")
    return int(width), int(height)


# --- commands --------------------------------------------------------------------------------------------


def _window(options: argparse.Namespace) -> int:
    _require_display()
    _import_qt()
    from gptviz.app.application import open_window

    return open_window(options.text, options.config, options.seed)


def _tokens(options: argparse.Namespace) -> int:
    pieces = _tokenizer().pieces(_tokenizer().encode(options.text))
    if options.json:
        _print_json({"tokens": [_piece(piece) for piece in pieces]})
    for piece in () if options.json else pieces:
        print(f"{piece.position:>5}  {piece.id:>6}  {piece.text!r}  {piece.bytes.hex(' ')}")
    return 0


def _trace(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.candidates import top_candidates
    from gptviz.analysis.checks import causality_check, run_checks
    from gptviz.capture import capture, perturbed_pass

    tokenizer = _tokenizer()
    rows = [_encode(text, CONFIGS[options.config].context_length) for text in options.texts]
    counts = [len(row) for row in rows]
    if len(set(counts)) > 1:
        raise UsageError(f"the texts of a batch need equal numbers of tokens, but these have {_listed(counts)}")
    model = _model(options)
    trace = capture(model, torch.tensor(rows))
    tokens = [{"row": row, **_piece(piece)} for row, ids in enumerate(rows) for piece in tokenizer.pieces(ids)]
    top = [
        {"row": row, **_candidate(candidate, tokenizer)}
        for row, logits in enumerate(trace.array("last"))
        for candidate in top_candidates(logits, _TOP)
    ]
    stages = [
        {
            "index": record.stage.index,
            "name": record.name,
            "kind": record.stage.operation,
            "input_shape": list(record.input_shape),
            "output_shape": list(record.output_shape),
            "parameters": record.parameters,
            "ms": round(record.ms, 4),
        }
        for record in trace.records
    ]
    checks = (*run_checks(trace), causality_check(trace, perturbed_pass(model, trace.ids)))
    if options.json:
        shown = [_check(check) for check in checks]
        _print_json({"model": _described(options), "tokens": tokens, "stages": stages, "top": top, "checks": shown})
        return 0
    for record in trace.records:
        shapes = f"{record.input_shape} → {record.output_shape}"
        print(
            f"{record.stage.index:>4}  {record.name:<32} {record.stage.operation:<18} {shapes:<44} {record.ms:8.2f} ms"
        )
    for entry in top:
        print(f"{entry['probability'] * 100:9.5f} %  {entry['logit']:9.5f}  {entry['id']:>6}  {entry['text']!r}")
    for check in checks:
        print(_check_line(check))
    return 0


def _generate(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.decoding import choose
    from gptviz.model import greedy_steps

    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    decoding = _decoding(options)
    tokenizer = _tokenizer()
    prompt = _encode(options.text, None)
    ids: list[int] = list(prompt)
    steps: list[dict[str, Any]] = []
    made: list[Choice] = []

    def choice(last: torch.Tensor) -> torch.Tensor:
        made.append(choose(last[0].numpy(), decoding, len(ids), _TOP))
        return torch.tensor([[made[-1].chosen.id]])

    for step in greedy_steps(_model(options), torch.tensor([prompt]), options.max_new_tokens, choice):
        chosen, top = _candidate(made[-1].chosen, tokenizer), [_candidate(c, tokenizer) for c in made[-1].candidates]
        chance = {} if decoding.greedy else {"chance": made[-1].chance}
        ids.append(int(step.next_ids))
        steps.append({"context_tokens": step.context.shape[1], **chosen, **chance, "top": top})
        if not options.json:
            print(f"{chosen['probability'] * 100:9.5f} %  {chosen['id']:>6}  {chosen['text']!r}", flush=True)
    text = tokenizer.decode(ids)
    if options.json:
        drawn = {} if decoding.greedy else {"decoding": asdict(decoding)}
        _print_json({"prompt_ids": prompt, "ids": ids, "text": text, **drawn, "steps": steps})
    else:
        print(text)
    return 0


def _params(options: argparse.Namespace) -> int:
    from gptviz.model import count_parameters

    count = count_parameters(CONFIGS[options.config])
    if options.json:
        components = [{"name": name, "parameters": number} for name, number in count.components.items()]
        _print_json({"components": components, "total": count.total, "total_tied": count.total_tied})
        return 0
    for name, number in count.components.items():
        print(f"{name:<12} {number:>15,}")
    print(f"{'total':<12} {count.total:>15,}\n{'tied':<12} {count.total_tied:>15,}")
    return 0


def _shot(options: argparse.Namespace) -> int:
    if options.out.suffix.lower() != ".png":
        raise UsageError(f"{options.out} must end in .png")
    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {options.out.absolute().parent}: make it first")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _import_qt()
    from gptviz.app.application import Shot, ShotError, shoot

    try:
        shot = Shot(options.theme, options.size, options.pane, options.stage)
        shoot(options.out, options.text, (options.config, options.seed), shot)
    except ShotError as error:
        raise UsageError(str(error)) from error
    return 0


# --- parts of them ---------------------------------------------------------------------------------------


def _require_display() -> None:
    environment = os.environ
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM", "xcb") != "xcb":
        return
    display = environment.get("DISPLAY")
    if environment.get("WAYLAND_DISPLAY") and not environment.get("QT_QPA_PLATFORM"):
        return
    if not display or not _answers(display):
        reason = f"DISPLAY {display} does not answer" if display else "DISPLAY is not set"
        raise UsageError(
            f"there is no display to open a window on ({reason}): use a desktop session, "
            "or save a picture with 'gptviz shot OUT.png'"
        )


def _answers(display: str) -> bool:
    """Tell whether an X server can be reached: Qt itself would end the process with a crash report."""
    import ctypes

    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # Qt will say what is missing
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not failed


def _import_qt() -> None:
    if sys.platform == "win32":
        import torch  # noqa: F401 - before Qt, whose libraries must not be loaded first
    try:
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"Qt can't be loaded ({error}): on Debian or Ubuntu run scripts/system-packages.sh, "
            "or see 'System packages' in README.md"
        ) from error


def _tokenizer() -> "Tokenizer":
    from gptviz.tokenizer import gpt2_tokenizer

    return gpt2_tokenizer()


def _encode(text: str, context_length: int | None) -> list[int]:
    ids = _tokenizer().encode(text)
    if not ids:
        raise UsageError("the text is empty: give at least one character")
    if context_length is not None and len(ids) > context_length:
        raise UsageError(f"{len(ids)} tokens are more than the model's context of {context_length}: shorten the text")
    return ids


def _decoding(options: argparse.Namespace) -> Decoding:
    size = CONFIGS[options.config].vocab_size
    if options.top_k is not None and options.top_k > size:
        raise UsageError(f"--top-k is {options.top_k}, but the vocabulary has {size} tokens")
    try:
        return Decoding(
            temperature=options.temperature, top_k=options.top_k, top_p=options.top_p, seed=options.sample_seed
        )
    except DecodingError as error:
        raise UsageError(str(error)) from error


def _model(options: argparse.Namespace) -> "GPTModel":
    from gptviz.model import initialise

    return initialise(CONFIGS[options.config], options.seed)


def _described(options: argparse.Namespace) -> dict[str, Any]:
    return {"config": options.config, "seed": options.seed, "trained": False, **asdict(CONFIGS[options.config])}


def _piece(piece: "Piece") -> dict[str, Any]:
    return {"position": piece.position, "id": piece.id, "text": piece.text, "bytes": piece.bytes.hex()}


def _candidate(candidate: "Candidate", tokenizer: "Tokenizer") -> dict[str, Any]:
    return {
        "id": candidate.id,
        "text": tokenizer.token_text(candidate.id),
        "logit": candidate.logit,
        "probability": candidate.probability,
    }


def _check(check: "Check") -> dict[str, Any]:
    finite = check.max_error is not None and check.max_error < float("inf")
    error = check.max_error if finite else None  # JSON has no infinity
    return {"name": check.name, "max_error": error, "ok": check.ok, "where": check.where, "note": check.note}


def _check_line(check: "Check") -> str:
    if check.max_error is None:
        return f"not run  {check.name}: {check.note}"
    verdict = "ok" if check.ok else "BROKEN"
    return f"{verdict:<7}  {check.name}: largest error {check.max_error:.2g} at {check.where}"


def _listed(counts: Sequence[int]) -> str:
    return f"{', '.join(str(count) for count in counts[:-1])} and {counts[-1]}"


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, ensure_ascii=True, allow_nan=False))
