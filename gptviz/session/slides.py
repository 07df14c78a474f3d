"""The run as slides: what stands on each, in the order of execution. Put together in the worker."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gptviz.analysis import stage_tensor
from gptviz.analysis.candidates import top_candidates
from gptviz.analysis.formulas import Sizes
from gptviz.analysis.operands import inputs_of
from gptviz.analysis.stage_tensor import Matrix, Statistics
from gptviz.analysis.stage_text import StageText, input_title, short_title, stage_text
from gptviz.capture.stages import Stage, catalogue

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.session.exporting_jobs import SlidesRequest
    from gptviz.session.generation import GeneratedStep
    from gptviz.session.state import ModelInfo
    from gptviz.tokenizer import Piece

RANKED = 11  # tokens on the slide of the ranking
STEPS_A_PAGE = 22
_NOT_YET = "The pass was held before it came to this stage."


@dataclass(frozen=True)
class ShownTensor:
    """A matrix under its caption, coloured up to ``limit``; without a matrix, ``missing`` says why.

    ``part`` says which part of the tensor it is.
    """

    caption: str
    matrix: Matrix | None
    limit: float
    missing: str = ""
    part: str = ""


@dataclass(frozen=True)
class Cover:
    """The first slide: what was run on what. ``pieces`` are the tokens of the sequence that is shown."""

    prompt: str
    pieces: "tuple[Piece, ...]"
    model: "ModelInfo | None"
    stages: int
    missing: int  # stages whose tensors are not at hand
    rows: int


@dataclass(frozen=True)
class StageSlide:
    """One stage: its place among all, words and formula, shapes, tensors and figures."""

    stage: Stage
    count: int
    blocks: int
    text: StageText
    input_shapes: tuple[tuple[int, ...], ...]
    output_shape: tuple[int, ...]
    inputs: tuple[ShownTensor, ...]
    output: ShownTensor | None
    chips: tuple[tuple[str, int], ...] = ()  # texts and IDs, where tokens go in or come out
    chips_caption: str = ""
    statistics: Statistics | None = None
    part: str = ""  # of the tensor that is shown and measured
    parameters: int = 0
    ms: float | None = None


@dataclass(frozen=True)
class RankedToken:
    """A row of the ranking; the probability is relative to ``share`` of the likeliest one."""

    text: str
    id: int
    logit: float
    probability: float


@dataclass(frozen=True)
class RankingSlide:
    """The likeliest next tokens."""

    rows: tuple[RankedToken, ...]
    vocabulary: int


@dataclass(frozen=True)
class StepsSlide:
    """Some of the generated steps, from number ``first`` on, of ``total``."""

    steps: "tuple[GeneratedStep, ...]"
    texts: tuple[str, ...]
    first: int
    total: int


Content = Cover | StageSlide | RankingSlide | StepsSlide


@dataclass(frozen=True)
class Slide:
    """A page and its number of ``pages``; ``prompt`` and ``model`` stand at its foot, ``title`` in its outline."""

    number: int
    pages: int
    title: str
    prompt: str
    model: str
    tokens: tuple[str, ...]  # of the sequence that is shown, as their texts are
    content: Content


def count_slides(request: "SlidesRequest") -> int:
    """Return the number of pages: a cover, one for each stage, the ranking, and the generated steps."""
    steps = len(request.state.generation.steps)
    ranked = int(request.trace.has("last"))
    return 1 + len(catalogue(request.trace.config)) + ranked + -(-steps // STEPS_A_PAGE)


def slides_of(request: "SlidesRequest", pages: int, with_block: "Callable[[int], Trace]") -> Iterator[Slide]:
    """Yield all slides; ``with_block`` returns the trace with a block at hand, if that can be had."""
    state = request.state
    model = "" if state.model is None else state.model.description
    tokens = tuple(piece.text for piece in state.trace_pieces)
    titled = _contents(request, with_block)
    for number, (title, content) in enumerate(titled, 1):
        yield Slide(number, pages, title, request.text, model, tokens, content)


def _contents(request: "SlidesRequest", with_block: "Callable[[int], Trace]") -> Iterator[tuple[str, Content]]:
    trace = request.trace
    stages = catalogue(trace.config)
    yield "The run", _cover(request, stages)
    present = trace
    for stage in stages:
        if stage.layer is not None and not present.has(stage.name) and stage.name in trace:
            present = with_block(stage.layer)
        slide = _stage_slide(request, present, stage, len(stages))
        yield slide.text.title, slide
    if trace.has("last"):
        yield "Likeliest next tokens", _ranking(request)
    yield from _steps(request)


def _cover(request: "SlidesRequest", stages: Sequence[Stage]) -> Cover:
    trace, state = request.trace, request.state
    can_have = trace.can_replay and trace.complete
    missing = sum(not (trace.has(stage.name) or (can_have and stage.layer is not None)) for stage in stages)
    return Cover(request.text, state.trace_pieces, state.model, len(stages), missing, trace.batch)


def _stage_slide(request: "SlidesRequest", trace: "Trace", stage: Stage, count: int) -> StageSlide:
    state = request.state
    assert state.query is not None
    at = state.selection.row, state.selection.head, state.query
    names = inputs_of(stage, trace.config)
    sources = [known for name in names for known in catalogue(trace.config) if known.name == name]
    output = None if stage.name in ("ids", "next") else _shown(trace, stage, f"out   {short_title(stage)}", at)
    matrix = None if output is None else output.matrix
    record = trace.record(stage.name) if stage.name in trace else None
    module = _module(trace, stage)
    sizes = Sizes(
        stage, trace.config, trace.batch, trace.tokens, getattr(module, "eps", 1e-5), getattr(module, "p", 0.0)
    )
    return StageSlide(
        stage,
        count,
        trace.config.n_layers,
        stage_text(sizes),
        tuple(source.shape(trace.config, trace.batch, trace.tokens) for source in sources),
        stage.shape(trace.config, trace.batch, trace.tokens),
        tuple(_shown(trace, source, f"in   {input_title(source)}", at) for source in sources if source.name != "ids"),
        output,
        *_chips(request, trace, stage),
        None if matrix is None else stage_tensor.statistics(matrix.values),
        "" if output is None else output.part,
        0 if record is None else record.parameters,
        None if record is None else record.ms,
    )


def _shown(trace: "Trace", stage: Stage, caption: str, at: tuple[int, int, int]) -> ShownTensor:
    matrix = stage_tensor.stage_matrix(trace, stage, *at)
    if matrix is None:
        return ShownTensor(caption, None, 1.0, _missing(trace, stage))
    part = stage_tensor.part_shown(matrix, trace.batch, at[0], at[1])
    return ShownTensor(caption, matrix, 1.0 if matrix.shares else stage_tensor.limit(matrix.values), part=part)


def _chips(request: "SlidesRequest", trace: "Trace", stage: Stage) -> tuple[tuple[tuple[str, int], ...], str]:
    """Return the tokens that go in or come out, and what they are called."""
    if stage.name not in ("ids", "tok_emb", "next"):
        return (), ""
    pieces = request.state.trace_pieces
    if stage.name != "next":
        caption = f"{'out' if stage.name == 'ids' else 'in'}   token IDs   ({len(pieces)},)"
        return tuple((piece.text, piece.id) for piece in pieces), caption
    ids = stage_tensor.token_ids(trace, stage, request.state.selection.row)
    if ids is None:
        return (), _missing(trace, stage)
    return tuple((request.token_text(token), token) for token in ids), "out   next token   (1,)"


def _missing(trace: "Trace", stage: Stage) -> str:
    if stage.name not in trace:
        return _NOT_YET
    why = trace.missing(stage.name)
    return f"{why[:1].upper()}{why[1:]}."


def _module(trace: "Trace", stage: Stage) -> object:
    try:
        return trace.replay.model.get_submodule(stage.module)
    except RuntimeError:  # the model was let go
        return None


def _ranking(request: "SlidesRequest") -> RankingSlide:
    state = request.state
    logits = request.trace.array("last")[state.selection.row]
    likeliest = top_candidates(logits, RANKED)
    rows = tuple(RankedToken(request.token_text(one.id), one.id, one.logit, one.probability) for one in likeliest)
    return RankingSlide(rows, logits.size)


def _steps(request: "SlidesRequest") -> Iterator[tuple[str, StepsSlide]]:
    steps = request.state.generation.steps
    for first in range(0, len(steps), STEPS_A_PAGE):
        part = steps[first : first + STEPS_A_PAGE]
        texts = tuple(request.token_text(step.chosen.id) for step in part)
        title = "Generated tokens" if first == 0 else f"Generated tokens, from step {first + 1}"
        yield title, StepsSlide(part, texts, first + 1, len(steps))
