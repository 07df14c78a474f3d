"""What a run file says besides its numbers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gptviz.capture.stages import catalogue
from gptviz.model.config import GPTConfig
from gptviz.runs.codec import CodecError, decode, encode

_MOST_BLOCKS = 1000
GPT2, IDS, TABLE = "gpt2", "ids", "table"


@dataclass(frozen=True)
class Vocabulary:
    """How token IDs are written: as GPT-2's tokens, as bare IDs, or as ``table`` lists them."""

    kind: str
    table: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in (GPT2, IDS, TABLE):
            raise ValueError(f"{self.kind!r} is no kind of vocabulary")


@dataclass(frozen=True)
class PassEntry:
    """One pass: its rows of IDs, and of each stage the input's shape and the milliseconds.

    ``training`` lists the modules that were in training mode. ``digests`` and ``kept`` name the stages that have a
    tensor in the file.
    """

    rows: tuple[tuple[int, ...], ...]
    input_shapes: tuple[tuple[int, ...], ...]
    ms: tuple[float, ...]
    training: tuple[str, ...]
    digests: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """Who wrote the file and when (UTC, ISO 8601), the model, and the passes; the first one is on screen.

    ``weights`` is their SHA-256. ``stages`` has of each stage name and number of parameters, in execution order.
    ``parameters`` names the model's parameters that have a tensor in the file. ``view`` is what was seen, as JSON.
    """

    gptviz: str
    written: str
    config: GPTConfig
    weights: str
    vocabulary: Vocabulary
    stages: tuple[tuple[str, int], ...]
    parameters: tuple[str, ...]
    passes: tuple[PassEntry, ...]
    view: Any


def header_to_json(header: Header) -> dict[str, Any]:
    """Return the header as JSON has it."""
    found: dict[str, Any] = encode(header)
    return found


def header_from_json(value: Any) -> Header:
    """Return the header that JSON ``value`` stands for, with everything in its range.

    Raises
    ------
    CodecError
        If something is missing, of another type, or out of range.
    """
    header: Header = decode(Header, value, "the header")
    config = header.config
    if config.n_layers > _MOST_BLOCKS:
        raise CodecError(f"it has {config.n_layers:,} blocks, more than a model here may have")
    if [name for name, _ in header.stages] != [stage.name for stage in catalogue(config)]:
        raise CodecError("its stages are not those of the model")
    try:
        datetime.fromisoformat(header.written).astimezone()
    except (ValueError, OverflowError):
        raise CodecError("it does not say when it was written") from None
    if not header.passes:
        raise CodecError("it has no pass")
    for place, entry in enumerate(header.passes):
        _check_pass(entry, config, len(header.stages), f"pass {place + 1}")
    return header


def _check_pass(entry: PassEntry, config: GPTConfig, stages: int, where: str) -> None:
    lengths = {len(row) for row in entry.rows}
    if len(lengths) != 1 or not 1 <= max(lengths) <= config.context_length:
        raise CodecError(f"{where} has no rows of equal length within the context")
    if any(not 0 <= token < config.vocab_size for row in entry.rows for token in row):
        raise CodecError(f"{where} has IDs that the vocabulary lacks")
    if len(entry.ms) != stages or len(entry.input_shapes) != stages:
        raise CodecError(f"{where} has not all stages")
    if any(size < 0 for shape in entry.input_shapes for size in shape):
        raise CodecError(f"{where} has a shape that is none")
