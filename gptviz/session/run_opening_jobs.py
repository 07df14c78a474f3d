"""What the worker runs to open a run and to load its model. torch is imported inside the functions: see ``jobs``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gptviz.session import jobs
from gptviz.session.recorded_view import RecordedView, seen_first, seen_then
from gptviz.session.requests import CheckpointRequest, ModelRequest
from gptviz.session.view_checks import ViewError, check_view
from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.model.gpt import GPTModel
    from gptviz.runs.header import Header
    from gptviz.tokenizer import Tokenizer

_MEASURED = ("measured.", "probe.", "lens.")


@dataclass(frozen=True)
class Opened:
    """A run as it was saved: its passes (that on screen first), texts, and what changes in the state, in two goes."""

    path: Path
    header: "Header"
    passes: "tuple[jobs.PassResult, ...]"
    tokenizer: "Tokenizer"
    view: RecordedView
    first: Mapping[str, Any]
    then: Mapping[str, Any]


@dataclass(frozen=True)
class Loaded:
    """The model of a run, and the hash of its weights."""

    built: jobs.BuiltModel
    weights: str


def checked_header(path: Path) -> "tuple[Header, RecordedView]":
    """Check a run file, and return what it says besides its tensors, which are let go."""
    from gptviz.runs.codec import CodecError, decode
    from gptviz.runs.errors import damaged
    from gptviz.runs.header import header_from_json
    from gptviz.runs.reading import read

    value, _ = read(path, keep=False)
    try:
        header = header_from_json(value)
        view: RecordedView = decode(RecordedView, header.view, "the view")
        check_view(view, header.config)
        tokenizer_of(header)
    except (CodecError, ViewError) as error:
        raise damaged(path.name, str(error)) from error
    return header, view


def open_run(path: str, context: JobContext) -> Opened:
    """Read a run file, and check all of it."""
    context.report("Loading PyTorch")

    from gptviz.checkpoints.files import expanded
    from gptviz.runs.codec import CodecError, decode
    from gptviz.runs.errors import damaged
    from gptviz.runs.header import header_from_json
    from gptviz.runs.reading import read
    from gptviz.runs.traces import traces_from

    jobs.use_threads()
    place = expanded(Path(path))
    value, tensors = read(place, on_part=lambda share: context.report(f"Opening {place.name}", share))
    try:
        header = header_from_json(value)
        view: RecordedView = decode(RecordedView, header.view, "the view")
        traces = traces_from(header, tensors)
        arrays = {name: tensor.numpy() for name, tensor in tensors.items() if name.startswith(_MEASURED)}
        tokenizer = tokenizer_of(header)
        first = seen_first(view, traces[0])
        then = seen_then(view, traces[0], arrays)
    except (CodecError, ViewError) as error:
        raise damaged(place.name, str(error)) from error
    passes = tuple(
        jobs.PassResult(trace, tuple(tokenizer.pieces(row) for row in entry.rows))
        for trace, entry in zip(traces, header.passes, strict=True)
    )
    return Opened(place, header, passes, tokenizer, view, first, then)


def tokenizer_of(header: "Header") -> "Tokenizer":
    """Return what reads and writes the texts of a run."""
    from gptviz.runs.codec import CodecError
    from gptviz.runs.header import GPT2, TABLE
    from gptviz.tokenizer import GPT2_TOKENS, tokenizer_for

    kind, table, size = header.vocabulary.kind, header.vocabulary.table, header.config.vocab_size
    if len(table) > size or (kind == GPT2 and size < GPT2_TOKENS):
        raise CodecError("its vocabulary is not that of the model")
    return tokenizer_for(size, table if kind == TABLE else None, kind == GPT2)


def load_model(request: ModelRequest, context: JobContext) -> Loaded:
    """Initialise or open the model of a run, and hash its weights."""
    if isinstance(request, CheckpointRequest):
        request = replace(request, table=None, asks=False)  # the texts are in the file
    built = jobs.make_model(request, context)
    return Loaded(built, jobs.hash_weights(built.model, context))


def with_model(trace: "Trace", model: "GPTModel") -> "Trace":
    """Return the trace of a recorded run with its model, so that blocks can be replayed."""
    from types import MappingProxyType

    from gptviz.capture.recorder import BlockReplay

    if not trace.is_recorded or any(trace.replay.modes.values()):
        return trace  # something was random, and the random numbers are gone
    return replace(trace, replay=BlockReplay(model, trace.replay.modes, MappingProxyType({})))
