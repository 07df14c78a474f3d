"""What commands share: errors, prompts, and what goes into JSON."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gptviz.analysis.candidates import Candidate
    from gptviz.commands.chosen_model import ChosenModel
    from gptviz.tokenizer import Piece, Tokenizer

DEFAULT_PROMPT = "Hello, I am"
TOP = 10  # candidates that are listed


class UsageError(Exception):
    """The command can't be carried out; the message says what to change."""


def check_reach(path: Path) -> None:
    """Refuse a path in a folder that may not be entered: Python answers there neither yes nor no.

    Raises
    ------
    UsageError
        If nobody can tell whether there is a file.
    """
    try:
        path.exists()
    except PermissionError as error:
        raise UsageError(f"the folder {path.absolute().parent} may not be entered: choose another one") from error
    except OSError:
        return  # it is no name for a file, which whoever needs one says


def whole_number(text: str) -> int:
    """Read an option's whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def number(text: str) -> float:
    """Read an option's number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def add_text(parser: argparse.ArgumentParser) -> None:
    """Let the command take one text."""
    parser.add_argument("text", metavar="TEXT")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Let the command answer in JSON."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_token_count(parser: argparse.ArgumentParser) -> None:
    """Let the command generate tokens first, if it is asked to."""
    what = "tokens to generate (default 0)"
    parser.add_argument("--max-new-tokens", type=whole_number, default=0, metavar="N", help=what)


def encode(tokenizer: "Tokenizer", text: str) -> list[int]:
    from gptviz.tokenizer import TextError

    try:
        return tokenizer.encode(text)
    except TextError as error:
        raise UsageError(str(error)) from error


def encode_prompt(choice: "ChosenModel", text: str, context_length: int | None) -> list[int]:
    ids = encode(choice.tokenizer, text)
    if not ids:
        raise UsageError("the text is empty: give at least one character")
    if context_length is not None and len(ids) > context_length:
        raise UsageError(f"{len(ids)} tokens are more than the model's context of {context_length}: shorten the text")
    return ids


def piece_json(piece: "Piece") -> dict[str, Any]:
    return {"position": piece.position, "id": piece.id, "text": piece.text, "bytes": piece.bytes.hex()}


def candidate_json(candidate: "Candidate", tokenizer: "Tokenizer") -> dict[str, Any]:
    return {
        "id": candidate.id,
        "text": tokenizer.token_text(candidate.id),
        "logit": candidate.logit,
        "probability": candidate.probability,
    }


def listed(counts: Sequence[int]) -> str:
    return f"{', '.join(str(count) for count in counts[:-1])} and {counts[-1]}"


def print_json(value: dict[str, Any]) -> None:
    print(json.dumps(_finite(value), ensure_ascii=True, allow_nan=False))


def _finite(value: Any) -> Any:
    """Replace infinity and NaN, which a broken model gives and JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
