"""What the worker runs to save a run. torch is imported inside the functions: see ``jobs``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gptviz import __version__
from gptviz.session import jobs
from gptviz.session.recorded_view import RecordedView
from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.capture.trace import Array, Trace
    from gptviz.model.gpt import GPTModel
    from gptviz.runs.header import Header, PassEntry, Vocabulary
    from gptviz.runs.plan import Plan
    from gptviz.runs.writing import RunWriter
    from gptviz.tokenizer import Tokenizer

Ids = tuple[int, ...]


@dataclass(frozen=True)
class SaveRequest:
    """What is to be saved as ``path``, with tensors of at most ``budget`` bytes.

    ``screen`` is the pass on screen, with the inside of block ``layer`` first. ``others`` are the IDs of the other
    passes in order of importance, of which those in ``at_hand`` need not run again. ``model`` is None if it is not
    loaded, and ``weights`` its hash if that is known.
    """

    path: Path
    budget: int
    screen: "Trace"
    layer: int
    others: tuple[Ids, ...]
    at_hand: Mapping[Ids, "Trace"]
    model: "GPTModel | None"
    weights: str | None
    tokenizer: "Tokenizer"
    view: RecordedView
    arrays: "Mapping[str, Array]"


@dataclass(frozen=True)
class Saved:
    """What was written: bytes, blocks of the pass on screen, and how many of the other passes."""

    path: Path
    nbytes: int
    blocks: int
    of_blocks: int
    passes: int
    of_passes: int
    weights: str


def save_run(request: SaveRequest, context: JobContext) -> Saved:
    """Write a run into one file; blocks and passes that are not at hand run again."""
    from gptviz.runs.errors import RunFileError
    from gptviz.runs.header import header_to_json
    from gptviz.runs.plan import outside_bytes
    from gptviz.runs.writing import RunWriter, check_target

    check_target(request.path)
    planned = planned_for(request)
    config = request.screen.config
    if not planned.fits:
        need = outside_bytes(config, request.screen.batch, request.screen.tokens)
        raise RunFileError(
            f"the pass on screen needs {need / 2**20:,.1f} MB without the insides of blocks, and the budget is "
            f"{request.budget / 2**20:,.3g} MB",
            f"Choose a budget of {-(-need // 2**20):,} MB or more",
        )
    weights = request.weights or jobs.hash_weights(request.model, context)
    chosen = [
        None,
        *(ids for ids, blocks in zip(request.others, planned.blocks[1:], strict=True) if blocks is not None),
    ]
    depths = [blocks for blocks in planned.blocks if blocks is not None]
    name = request.path.name
    context.report(f"Saving {name}")

    def on_part(size: int) -> None:
        context.report(f"Saving {name}", min(1.0, size / max(1, planned.nbytes)))

    base = _header(request, weights)
    with RunWriter(request.path, _room(request, base, len(chosen)), on_part) as writer:
        _write_rest(writer, request)
        entries = []
        for number, (ids, blocks) in enumerate(zip(chosen, depths, strict=True)):
            trace = request.screen if ids is None else _pass(request, ids, context)
            first = request.layer if ids is None else 0
            entries.append(_write_pass(writer, number, trace, _layers(trace, blocks, first)))
        context.report(f"Saving {name}", 1.0)
        nbytes = writer.finish(header_to_json(replace(base, passes=tuple(entries))))
    return Saved(request.path, nbytes, depths[0], config.n_layers, len(chosen) - 1, len(request.others), weights)


def planned_for(request: SaveRequest) -> "Plan":
    """Return what of the run fits into the budget."""
    from gptviz.runs.plan import PassSize, plan

    layers = request.screen.config.n_layers
    screen = request.screen
    sizes = [PassSize(screen.batch, screen.tokens, layers if screen.can_replay else len(_at_hand(screen)))]
    for ids in request.others:
        trace = request.at_hand.get(ids)
        can = request.model is not None or (trace is not None and trace.can_replay)
        sizes.append(PassSize(1, len(ids), layers if can or trace is None else len(_at_hand(trace))))
    return plan(screen.config, sizes, request.budget)


def _at_hand(trace: "Trace") -> list[int]:
    return [layer for layer in range(trace.config.n_layers) if trace.has_block(layer)]


def _layers(trace: "Trace", blocks: int, first: int) -> list[int]:
    """Return which blocks' insides are recorded: ``first``, then those at hand, then the others."""
    at_hand = set(_at_hand(trace))
    can = range(trace.config.n_layers) if trace.can_replay else sorted(at_hand)
    return sorted(can, key=lambda layer: (layer != first, layer not in at_hand, layer))[:blocks]


def _pass(request: SaveRequest, ids: Ids, context: JobContext) -> "Trace":
    trace = request.at_hand.get(ids)
    if trace is None:
        assert request.model is not None
        context.records.clear()
        trace = jobs.run_pass(request.model, request.tokenizer, jobs.PassRequest([ids], 0), context).trace
    return trace


def _write_pass(writer: "RunWriter", number: int, trace: "Trace", layers: list[int]) -> "PassEntry":
    from gptviz.runs.traces import digests, entry_of, inside, outside, place_of

    at_once = outside(trace)
    for layer in layers:
        if trace.has_block(layer):
            at_once |= inside(trace, layer)
    kept = list(at_once)
    writer.add({place_of(number, name): tensor for name, tensor in at_once.items()})
    for layer in layers:
        if not trace.has_block(layer):
            tensors = inside(trace, layer)
            kept.extend(tensors)
            writer.add({place_of(number, name): tensor for name, tensor in tensors.items()})
    writer.add({place_of(number, name, digest=True): tensor for name, tensor in digests(trace).items()})
    return entry_of(trace, tuple(kept))


def _write_rest(writer: "RunWriter", request: SaveRequest) -> None:
    import torch

    from gptviz.capture.recording import small_parameters

    small = small_parameters(request.screen.replay.model)
    writer.add({f"parameters.{path}": tensor for path, tensor in small.items()})
    writer.add({name: torch.from_numpy(array.copy()) for name, array in request.arrays.items()})


def _header(request: SaveRequest, weights: str) -> "Header":
    from gptviz.capture.recording import small_parameters
    from gptviz.runs.codec import encode
    from gptviz.runs.header import Header

    trace = request.screen
    return Header(
        gptviz=__version__,
        written=datetime.now(UTC).isoformat(timespec="seconds"),
        config=trace.config,
        weights=weights,
        vocabulary=_vocabulary(request.tokenizer),
        stages=tuple((record.name, record.parameters) for record in trace.records),
        parameters=tuple(small_parameters(trace.replay.model)),
        passes=(),
        view=encode(request.view),
    )


def _room(request: SaveRequest, base: "Header", passes: int) -> tuple[int, int]:
    """Return how many tensors there will be at most, and how many characters of header besides."""
    import json

    from gptviz.runs.header import header_to_json

    stages, tokens = len(base.stages), request.screen.config.context_length * request.screen.batch
    layers = request.screen.config.n_layers
    tensors = len(base.parameters) + len(request.arrays) + passes * (stages + layers)
    return tensors, len(json.dumps(json.dumps(header_to_json(base)))) + passes * (stages * 80 + tokens * 12)


def _vocabulary(tokenizer: "Tokenizer") -> "Vocabulary":
    from gptviz.runs.header import GPT2, IDS, TABLE, Vocabulary
    from gptviz.tokenizer import Gpt2Tokenizer, TableTokenizer

    if isinstance(tokenizer, TableTokenizer):
        return Vocabulary(TABLE, tokenizer.tokens)
    return Vocabulary(GPT2 if isinstance(tokenizer, Gpt2Tokenizer) else IDS)
