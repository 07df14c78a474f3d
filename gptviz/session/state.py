"""The state of the application: one frozen value, replaced as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from gptviz.analysis.attribution_question import Question
from gptviz.analysis.check import Check
from gptviz.analysis.decoding_settings import GREEDY, Decoding
from gptviz.analysis.place import Place
from gptviz.session.costs import Costs
from gptviz.session.generation import GeneratedStep, Generation, History
from gptviz.session.loop_lines import LoopLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from gptviz.analysis.attribution import StreamParts
    from gptviz.analysis.comparison import StageDifference
    from gptviz.analysis.logit_lens import LensReading
    from gptviz.capture.trace import Array, StageRecord, Trace
    from gptviz.model.config import GPTConfig
    from gptviz.session.requests import ModelQuestion
    from gptviz.tokenizer import Piece

DEFAULT_PROMPT = "Hello, I am"
DEFAULT_SEED = 123
DEFAULT_CONFIG = "gpt2-small"


@dataclass(frozen=True)
class ModelInfo:
    """What a person should know of the model on screen."""

    title: str
    config: "GPTConfig"
    seed: int | None  # of an untrained model
    parameters: int
    threads: int  # that torch computes with
    trained: bool = False
    source: str = ""  # of a checkpoint: the path, or hf:owner/name
    format: str = ""
    stored_as: str = "fp32"
    vocabulary: str = "GPT-2's"
    notes: tuple[str, ...] = ()

    @property
    def needs_table(self) -> bool:
        """Whether the texts of the tokens are not GPT-2's."""
        return not self.vocabulary.startswith("GPT-2")

    @property
    def description(self) -> str:
        """Name, seed or kind, and size in one line."""
        count = self.parameters
        size = f"{count / 1e6:,.1f} M" if count >= 1e5 else f"{count / 1e3:,.1f} k" if count >= 100 else f"{count}"
        if not self.trained:
            return f"{self.title} · seed {self.seed} · {size}"
        return f"{self.title} · {size} · {'tied' if self.config.tie_weights else 'untied'}"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What else there is to say of a checkpoint, as pairs of name and value."""
        if not self.trained:
            return ()
        tied = "the token embedding's weights (tied)" if self.config.tie_weights else "weights of its own (untied)"
        return (
            ("Source", self.source),
            ("Format", self.format),
            ("Stored as", self.stored_as if self.stored_as == "fp32" else f"{self.stored_as}, computed in fp32"),
            ("Parameters", f"{self.parameters:,}"),
            ("Output head", tied),
            ("Tokens", f"{self.config.vocab_size:,}: {self.vocabulary}"),
            *(("Note", note) for note in self.notes if not note.startswith("stored as")),
        )


@dataclass(frozen=True)
class Selection:
    """What the person looks at: indices from 0. ``query``, ``key`` are token positions; -1 is the last one.

    ``token`` is an ID of the vocabulary, of which the logits have a column each. Which number of the stage is
    meant, also where nothing was chosen, is in ``session.numbers``.
    """

    stage: str | None = None
    layer: int = 0
    head: int = 0
    query: int = -1
    key: int | None = None
    feature: int | None = None
    token: int | None = None
    row: int = 0
    norm: str = "norm1"  # which LayerNorm: norm1 or norm2 of the layer, or final_norm

    @property
    def norm_stage(self) -> str:
        """The stage of the chosen LayerNorm."""
        return self.norm if self.norm == "final_norm" else f"trf_blocks.{self.layer}.{self.norm}"


@dataclass(frozen=True)
class Options:
    """How the person wants to see it."""

    top_k: int = 10
    attention_view: str = "weights"
    rescale_rows: bool = False
    surprisal: bool = False  # under the tokens of the prompt
    predict_first: bool = False  # tour and labs ask before they show


@dataclass(frozen=True)
class PromptTokens:
    """The tokens of the prompt in the input line; ``pieces`` describes no more of them than can be shown.

    ``problem`` says why the vocabulary has no tokens for it.
    """

    text: str = ""
    ids: tuple[int, ...] = ()
    pieces: "tuple[Piece, ...]" = ()
    problem: str = ""


@dataclass(frozen=True)
class Activity:
    """What the worker is busy with; ``fraction`` is None where the length is not known."""

    text: str
    fraction: float | None = None


@dataclass(frozen=True)
class Message:
    """Something that went wrong: what, why, and what to do."""

    what: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}. {self.remedy}"


@dataclass(frozen=True)
class CheckReport:
    """The checks of the trace on screen, as far as they are measured: ``done`` parts of ``total``."""

    results: tuple[Check, ...] = ()
    done: int = 0
    total: int = 0

    @property
    def complete(self) -> bool:
        return self.done >= self.total

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.results if check.ok is False)


@dataclass(frozen=True)
class Probe:
    """What the heads do on the built-in probe: scores (L, H, S), those of uniform attention (S,), maps (L, H, t, t)."""

    ids: tuple[int, ...]
    scores: "Array"
    uniform: "Array"
    maps: "Array"


@dataclass(frozen=True)
class Measured:
    """What is measured on a trace for panes that ask for it; ``note`` says why something could not be."""

    heads: "tuple[Array, ...]" = ()  # scores (B, H, S) of each block so far
    uniform: "tuple[Array, ...]" = ()  # of each row of the batch: the scores (S,) of uniform attention
    surprisal: tuple[tuple[float, ...], ...] | None = None  # of each row of the batch: bits (T,)
    probe: Probe | None = None
    note: str = ""


@dataclass(frozen=True)
class WalkState:
    """Whether the walk through the stages plays, and how many stages a second."""

    playing: bool = False
    speed: float = 2.0


@dataclass(frozen=True)
class TourState:
    """The guided tour: whether it is on and at which step.

    ``answers`` has the chosen answer for each step whose question was answered, None where it was only revealed.
    ``measured`` are the figures that the worker has computed for the present model. ``seed`` shuffles the answers and
    is another one after each pass.
    """

    on: bool = False
    place: int = 0
    answers: Mapping[int, int | None] = field(default_factory=lambda: MappingProxyType({}))
    measured: Mapping[str, object] | None = None
    seed: int = 0


@dataclass(frozen=True)
class Trail:
    """The numbers that were looked at, one after the other; ``at`` is the present one.

    ``starts`` are those that were chosen freely. Each of the others is an operand of the one before it.
    """

    places: tuple[Place, ...] = ()
    at: int = -1
    starts: tuple[int, ...] = ()

    @property
    def here(self) -> Place | None:
        """The present number."""
        return self.places[self.at] if self.places else None

    @property
    def way(self) -> range:
        """Where the present number and those that led to it stand in ``places``."""
        return range(max((start for start in self.starts if start <= self.at), default=0), self.at + 1)


@dataclass(frozen=True)
class WhereFrom:
    """The number that is taken apart, and what was added up at the selected token, as far as it was read."""

    question: Question = field(default_factory=Question)
    parts: "StreamParts | None" = None
    stopped: bool = False
    problem: str = ""  # why the parts can't be read


@dataclass(frozen=True)
class LensView:
    """What the output head makes of the residual stream of the sequence on screen, as far as it was read."""

    reading: "LensReading | None" = None
    stopped: bool = False
    problem: str = ""  # why the stream can't be read


@dataclass(frozen=True)
class PinnedRun:
    """A run that was put aside, with all that a person should know of it; ``row`` is its sequence.

    The trace keeps blocks' insides within a budget, and the model only as long as that is on screen too.
    """

    trace: "Trace"
    pieces: "tuple[Piece, ...]"
    row: int
    model: ModelInfo
    step: int | None  # of the generation, from 0
    token_text: "Callable[[int], str]"
    keeping: bool = True  # whether more of the blocks' insides are to be kept


@dataclass(frozen=True)
class Comparison:
    """The pinned run, A, and how the stages of the run on screen, B, differ from it: ``done`` parts of ``total``."""

    pinned: PinnedRun | None = None
    differences: "tuple[StageDifference, ...]" = ()
    done: int = 0
    stopped: bool = False
    problem: str = ""  # why the runs can't be compared


@dataclass(frozen=True)
class RecordedRun:
    """A run from a file, whose model is not loaded: where it is, when it was written (UTC), its weights' SHA-256."""

    path: str
    written: str
    weights: str

    @property
    def when(self) -> str:
        """When it was written, by the clock of this place."""
        return datetime.fromisoformat(self.written).astimezone().strftime("%Y-%m-%d %H:%M")


@dataclass(frozen=True)
class ViewState:
    """All that the window shows. A batch has several prompts; ``selection.row`` is the one that is shown."""

    prompts: tuple[str, ...] = (DEFAULT_PROMPT,)
    tokens: tuple[PromptTokens, ...] = (PromptTokens(),)  # of the prompts
    model: ModelInfo | None = None
    trace: "Trace | None" = None
    trace_rows: "tuple[tuple[Piece, ...], ...]" = ()  # the trace's tokens, for each row of the batch
    held: str | None = None  # the stage at which a live pass waits
    breakpoints: frozenset[str] = frozenset()
    walk: WalkState = field(default_factory=WalkState)
    checks: CheckReport = field(default_factory=CheckReport)
    measured: Measured = field(default_factory=Measured)
    where_from: WhereFrom = field(default_factory=WhereFrom)
    lens: LensView = field(default_factory=LensView)
    comparison: Comparison = field(default_factory=Comparison)
    live: "tuple[StageRecord, ...] | None" = None  # stages finished so far, while a pass runs
    selection: Selection = field(default_factory=Selection)
    trail: Trail = field(default_factory=Trail)
    options: Options = field(default_factory=Options)
    activity: Activity | None = None
    generation: Generation = field(default_factory=Generation)
    history: History = field(default_factory=History)  # of the generation
    decoding: Decoding = GREEDY  # of the next steps
    loop: LoopLines = field(default_factory=LoopLines)
    loop_decoding: Decoding = GREEDY  # of that turn, whatever is chosen for the next ones meanwhile
    loop_step: GeneratedStep | None = None  # that the turn in ``loop`` appended, once it has
    costs: Costs = field(default_factory=Costs)
    caching: bool = False  # whether the next steps take keys and values from the cache
    tour: TourState = field(default_factory=TourState)
    recorded: RecordedRun | None = None  # while a recorded run is on screen without its model
    message: Message | None = None
    notice: str = ""  # what was done last, until something else is
    question: "ModelQuestion | None" = None

    @property
    def prompt(self) -> str:
        """The first prompt."""
        return self.prompts[0]

    @property
    def prompt_tokens(self) -> PromptTokens:
        """The tokens of the first prompt."""
        return self.tokens[0]

    @property
    def trace_pieces(self) -> "tuple[Piece, ...]":
        """The trace's tokens in the row that is shown."""
        return self.trace_rows[self.selection.row] if self.trace_rows else ()

    @property
    def awaits_stage(self) -> bool:
        """Whether the block of the selected stage is being replayed, and has not come to that stage yet."""
        trace, stage = self.trace, self.selection.stage
        if self.activity is None or trace is None or not trace.complete or stage is None or self.live is not None:
            return False
        if not trace.can_replay:
            return False
        return stage in trace and not trace.has(stage)

    @property
    def is_recorded(self) -> bool:
        """Whether the trace was recorded, and the model that computed it is not loaded."""
        return self.trace is not None and self.trace.is_recorded

    @property
    def query(self) -> int | None:
        """The selected token position, with -1 resolved; None without a trace."""
        if self.trace is None:
            return None
        return self.selection.query if self.selection.query >= 0 else self.trace.tokens - 1
