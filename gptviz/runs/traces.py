"""Traces as a run file has them."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import torch
from torch import Tensor

from gptviz.capture.recording import Recorded
from gptviz.capture.stages import block_stages, catalogue
from gptviz.capture.trace import StageRecord, Trace
from gptviz.runs.codec import CodecError
from gptviz.runs.header import Header, PassEntry

_ALWAYS = ("shortcut2",)  # of a block, whatever is left out


def outside(trace: Trace) -> dict[str, Tensor]:
    """Return what ``trace`` keeps besides the insides of blocks."""
    return {
        stage.name: trace.kept[stage.name]
        for stage in catalogue(trace.config)
        if stage.name in trace.kept and (stage.layer is None or stage.local_name in _ALWAYS)
    }


def inside(trace: Trace, layer: int) -> dict[str, Tensor]:
    """Return the inside of a block, without its output; the block runs again if it is not at hand."""
    having = trace.with_block(layer)
    return {
        stage.name: having[stage.name]
        for stage in block_stages(trace.config, layer)
        if stage.local_name not in _ALWAYS and having.has(stage.name)
    }


def digests(trace: Trace) -> dict[str, Tensor]:
    """Return the digests as tensors."""
    return {name: torch.from_numpy(array.copy()) for name, array in trace.digests.items()}


def entry_of(trace: Trace, kept: tuple[str, ...]) -> PassEntry:
    """Describe a pass of which the stages ``kept`` are in the file."""
    return PassEntry(
        rows=tuple(tuple(row) for row in trace.ids.tolist()),
        input_shapes=tuple(record.input_shape for record in trace.records),
        ms=tuple(record.ms for record in trace.records),
        training=tuple(path for path, training in trace.replay.modes.items() if training),
        digests=tuple(trace.digests),
        kept=kept,
    )


def place_of(number: int, name: str, digest: bool = False) -> str:
    """Return what a stage's tensor of pass ``number`` is called in the file."""
    return f"passes.{number}.digests.{name}" if digest else f"passes.{number}.{name}"


def traces_from(header: Header, tensors: Mapping[str, Tensor]) -> tuple[Trace, ...]:
    """Return the passes of a run file, which share one stand-in for their model.

    Raises
    ------
    CodecError
        If a tensor is missing, or of another shape or type than its stage.
    """
    parameters = {path: _taken(tensors, f"parameters.{path}") for path in header.parameters}
    try:
        whole = Recorded(header.config, parameters, {})
    except (RuntimeError, TypeError, OverflowError) as error:  # shapes that do not fit, sizes that nothing has
        raise CodecError(f"its parameters are not those of the model: {str(error)[:200]}") from error
    small = {path for path, parameter in whole.model.named_parameters() if parameter.dim() == 1}
    if set(header.parameters) != small:
        odd = min(small.symmetric_difference(header.parameters))[:80]
        raise CodecError(f"it lacks the parameter {odd}" if odd in small else f"its model has no parameter {odd}")
    return tuple(_trace(header, number, tensors, whole) for number in range(len(header.passes)))


def _trace(header: Header, number: int, tensors: Mapping[str, Tensor], whole: Recorded) -> Trace:
    entry, config = header.passes[number], header.config
    batch, tokens = len(entry.rows), len(entry.rows[0])
    records, shapes = [], {}
    described = zip(catalogue(config), header.stages, entry.input_shapes, entry.ms, strict=True)
    for stage, (name, parameters), input_shape, ms in described:
        shapes[name] = stage.shape(config, batch, tokens)
        records.append(StageRecord(stage, input_shape, shapes[name], parameters, ms))
    kept = {}
    for name in entry.kept:
        tensor = _taken(tensors, place_of(number, name))
        dtype = torch.int64 if name in ("ids", "next") else torch.float32
        if name not in shapes or tuple(tensor.shape) != shapes[name] or tensor.dtype != dtype:
            raise CodecError(f"the tensor of {name[:80]} has another shape or type than the stage")
        kept[name] = tensor
    needed = [record.name for record in records if record.stage.layer is None or record.stage.local_name in _ALWAYS]
    missing = [name for name in needed if name not in kept and name != "out_head"]
    if missing:
        raise CodecError(f"pass {number + 1} lacks {missing[0]}")
    if kept["ids"].tolist() != [list(row) for row in entry.rows]:
        raise CodecError(f"pass {number + 1} has other IDs than it says")
    if any(not 0 <= token < config.vocab_size for token in kept["next"].view(-1).tolist()):
        raise CodecError(f"pass {number + 1} chooses a token that the vocabulary lacks")
    found = {name: _taken(tensors, place_of(number, name, digest=True)).numpy() for name in entry.digests}
    for name, digest in found.items():
        if name not in shapes or digest.shape[:2] != shapes[name][:2] or digest.ndim != 4:
            raise CodecError(f"the digest of {name[:80]} has another shape than the stage")
    trace = Trace(config, tuple(records), MappingProxyType(found), MappingProxyType(kept), whole)
    if entry.training:
        modes = dict.fromkeys(entry.training, True)
        trace = replace(trace, replay=Recorded(config, whole.parameters, modes))
    return trace


def _taken(tensors: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in tensors:
        raise CodecError(f"it has no tensor {name[:80]}")
    return tensors[name]
