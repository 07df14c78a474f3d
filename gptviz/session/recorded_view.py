"""What a person had on screen, as a run file keeps it beside the passes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gptviz.analysis.attribution_question import Question
from gptviz.analysis.decoding_settings import Decoding
from gptviz.session.clamping import clamped
from gptviz.session.costs import Costs
from gptviz.session.generation import GeneratedStep, Generation
from gptviz.session.loop_lines import APPEND, FORWARD, LoopLines
from gptviz.session.numbers import stage_named
from gptviz.session.requests import CheckpointRequest, UntrainedRequest
from gptviz.session.state import (
    CheckReport,
    LensView,
    Measured,
    ModelInfo,
    Options,
    Probe,
    Selection,
    Trail,
    ViewState,
    WhereFrom,
)
from gptviz.session.view_checks import CERTAIN, ViewError, check_view

if TYPE_CHECKING:
    from gptviz.analysis.place import Place
    from gptviz.capture.trace import Array, Trace


@dataclass(frozen=True)
class LensPart:
    """What a reading of the logit lens has besides its arrays."""

    row: int
    stages: tuple[str, ...]
    difference: float


@dataclass(frozen=True)
class RecordedView:
    """Everything but tensors: prompts, model and where it came from, generation, and what was looked at and measured.

    ``heads`` counts the blocks whose heads were scored, ``uniform`` the rows; ``probe`` are the IDs of the probe.
    """

    prompts: tuple[str, ...]
    model: ModelInfo
    request: UntrainedRequest | CheckpointRequest
    generation: Generation
    decoding: Decoding
    caching: bool
    costs: Costs
    loop: LoopLines
    selection: Selection
    options: Options
    trail: Trail
    breakpoints: frozenset[str]
    question: Question
    checks: CheckReport
    surprisal: tuple[tuple[float, ...], ...] | None
    note: str
    heads: int
    uniform: int
    probe: tuple[int, ...] | None
    lens: LensPart | None


def view_of(state: ViewState, request: "UntrainedRequest | CheckpointRequest") -> RecordedView:
    """Return what ``state`` shows besides its trace."""
    assert state.model is not None
    reading, measured = state.lens.reading, state.measured
    return RecordedView(
        prompts=state.prompts,
        model=state.model,
        request=request,
        generation=replace(state.generation, playing=False),
        decoding=state.decoding,
        caching=state.caching,
        costs=state.costs,
        loop=replace(state.loop, lit=None, held=False),
        selection=state.selection,
        options=replace(state.options, predict_first=False),  # a preference of the person, and none of the run
        trail=state.trail,
        breakpoints=state.breakpoints,
        question=state.where_from.question,
        checks=state.checks,
        surprisal=measured.surprisal,
        note=measured.note,
        heads=len(measured.heads),
        uniform=len(measured.uniform),
        probe=None if measured.probe is None else measured.probe.ids,
        lens=None if reading is None else LensPart(reading.row, reading.stages, reading.difference),
    )


def arrays_of(state: ViewState) -> "dict[str, Array]":
    """Return the arrays of ``state`` that were measured, by their names in the file."""
    measured, reading = state.measured, state.lens.reading
    found = {f"measured.heads.{place}": scores for place, scores in enumerate(measured.heads)}
    found |= {f"measured.uniform.{place}": scores for place, scores in enumerate(measured.uniform)}
    if measured.probe is not None:
        probe = measured.probe
        found |= {"probe.scores": probe.scores, "probe.uniform": probe.uniform, "probe.maps": probe.maps}
    if reading is not None:
        found |= {"lens.ids": reading.ids, "lens.logits": reading.logits, "lens.probabilities": reading.probabilities}
    return found


def seen_first(view: RecordedView, trace: "Trace") -> dict[str, Any]:
    """Return what the state has with the trace itself.

    Raises
    ------
    ViewError
        If something is not there in the trace or its model.
    """
    check_view(view, trace.config)
    for problem in _problems_with(view, trace):
        raise ViewError(problem)
    stages = (stage for stage in view.breakpoints if stage_named(trace.config, stage) is not None)
    return {
        "prompts": view.prompts,
        "model": view.model,
        "trace": trace,
        "generation": replace(view.generation, playing=False),  # nothing is under way, whatever a file says
        "decoding": view.decoding,
        "caching": view.caching,
        "selection": clamped(view.selection, trace),
        "breakpoints": frozenset(stages),
    }


def seen_then(view: RecordedView, trace: "Trace", arrays: "Mapping[str, Array]") -> dict[str, Any]:
    """Return what was measured on the trace, and how it was looked at: it would be dropped with a change of trace.

    Raises
    ------
    ViewError
        If an array is missing, or of another shape than it must have.
    """
    from gptviz.analysis.heads import SCORES  # noqa: PLC0415 - imports NumPy

    config, batch, scores = trace.config, trace.batch, len(SCORES)
    take = partial(_array, arrays)
    heads = tuple(
        take(f"measured.heads.{place}", "float64", (batch, config.n_heads, scores)) for place in range(view.heads)
    )
    uniform = tuple(take(f"measured.uniform.{place}", "float64", (scores,)) for place in range(view.uniform))
    probe = None
    if view.probe is not None:
        size = len(view.probe)
        probe = Probe(
            view.probe,
            take("probe.scores", "float64", (config.n_layers, config.n_heads, scores)),
            take("probe.uniform", "float64", (scores,)),
            take("probe.maps", "float32", (config.n_layers, config.n_heads, size, size)),
        )
    return {
        "checks": view.checks,
        "measured": Measured(heads, uniform, view.surprisal, probe, view.note),
        "lens": LensView(_reading(view.lens, trace, take)),
        "costs": view.costs,
        "loop": replace(view.loop, lit=None, held=False),
        "loop_step": _step_of(view.loop, view.generation),
        "trail": view.trail,
        "options": replace(view.options, predict_first=False),
        "where_from": WhereFrom(view.question),
    }


def _step_of(lines: LoopLines, generation: Generation) -> GeneratedStep | None:
    """Return the step of the present branch that was appended by the turn of ``lines``."""
    place = lines.text_tokens - len(generation.prompt)
    if len(lines.runs) <= APPEND or not 0 <= place < len(generation.steps):
        return None
    step, ms = generation.steps[place], lines.runs[FORWARD].ms
    return step if not step.picked and ms in (None, step.ms) else None


def _array(arrays: "Mapping[str, Array]", name: str, kind: str, shape: tuple[int | None, ...]) -> "Array":
    """Return an array of ``shape``, in which None stands for any size, with numbers that NumPy calls ``kind``."""
    array = arrays.get(name)
    if array is None or array.ndim != len(shape) or array.dtype.name != kind:
        raise ViewError(f"it has no fitting {name}")
    if any(size not in (None, there) for size, there in zip(shape, array.shape, strict=True)):
        raise ViewError(f"{name} has another shape than the run")
    return array


def _reading(part: LensPart | None, trace: "Trace", take: "Callable[..., Array]") -> Any:
    if part is None:
        return None
    import numpy as np  # noqa: PLC0415 - the first frame does without it

    from gptviz.analysis.logit_lens import UNREAD, LensReading, lens_stages  # noqa: PLC0415 - imports NumPy

    if part.stages != lens_stages(trace.config) or not 0 <= part.row < trace.batch:
        raise ViewError("its lens is that of another model")
    size = len(part.stages), trace.tokens, None
    ids = take("lens.ids", "int64", size)
    logits, shares = take("lens.logits", "float32", ids.shape), take("lens.probabilities", "float64", ids.shape)
    known = (ids >= 0) & (ids < trace.config.vocab_size)
    if not ids.size or not (known | (ids == UNREAD)).all():
        raise ViewError("its lens reads tokens that the vocabulary lacks")
    if not (np.isnan(shares) | ((shares >= 0) & (shares <= CERTAIN))).all():
        raise ViewError("its lens has probabilities that are none")
    return LensReading(part.row, part.stages, ids, logits, shares, part.difference)


def _problems_with(view: RecordedView, trace: "Trace") -> Iterator[str]:
    if not 0 <= view.heads <= trace.config.n_layers or not 0 <= view.uniform <= trace.batch:
        yield "it has scored more heads than there are"
    yield from (
        f"it remembers the place {place}, which is not there"
        for place in view.trail.places
        if not _is_place(place, trace)
    )
    if view.probe is not None and not all(0 <= token < trace.config.vocab_size for token in view.probe):
        yield "its probe has IDs that the vocabulary lacks"
    if view.surprisal is not None and [len(row) for row in view.surprisal] != [trace.tokens] * trace.batch:
        yield "its surprisal is that of another text"


def _is_place(place: "Place", trace: "Trace") -> bool:
    stage = stage_named(trace.config, place.name)
    if stage is None or place.parameter:
        return False
    shape = stage.shape(trace.config, trace.batch, trace.tokens)
    return len(shape) == len(place.index) and all(0 <= at < size for at, size in zip(place.index, shape, strict=True))
