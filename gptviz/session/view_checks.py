"""Whether what a run file says was seen can have been seen: ranges of all counts, and that the parts fit together."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from gptviz.session.generation import Branch, GeneratedStep, Generation
from gptviz.session.numbers import ATTENTION_VIEWS
from gptviz.session.requests import UntrainedRequest

if TYPE_CHECKING:
    from gptviz.model.config import GPTConfig
    from gptviz.session.recorded_view import RecordedView

_LARGEST_TOP = 100_000
_MOST = 2**31 - 1  # what Qt counts to
_MOST_BYTES = 2**50
_LONGEST = 1e12  # ms
_LONGEST_TEXT, _LONGEST_PROMPT = 4096, 2**20  # characters
_LARGEST_LOGIT = 1e39  # more than 32 bits have
CERTAIN = 1 + 1e-6  # the largest probability, with what rounding may add
_NORMS = ("norm1", "norm2", "final_norm")


class ViewError(ValueError):
    """What a file says was seen can't have been seen; the message says what."""


def check_view(view: "RecordedView", config: "GPTConfig") -> None:
    """Look whether a model of ``config`` can have been seen so.

    Raises
    ------
    ViewError
        If not; a file of this version that gptviz wrote has no such thing.
    """
    # one after the other: what comes later walks through what was checked before
    for problem in chain(
        _problems(view, config), _problems_of_generation(view.generation, config), _problems_of_numbers(view, config)
    ):
        raise ViewError(problem)


def _problems(view: "RecordedView", config: "GPTConfig") -> Iterator[str]:
    if view.model.config != config:
        yield "its model has another configuration than its passes"
    if isinstance(view.request, UntrainedRequest) and view.request.seed < 0:
        yield "its seed is negative"
    if not view.prompts or len(view.prompts) > 64:
        yield "it has no prompt, or too many"
    if any(len(prompt) > _LONGEST_PROMPT for prompt in view.prompts):
        yield "its prompt is too long for any model"
    if any(len(text) > _LONGEST_TEXT for text in _texts(view)):
        yield "it has a text that is too long for its place"
    if view.selection.norm not in _NORMS or view.options.attention_view not in ATTENTION_VIEWS:
        yield "it looks at something that is not there"
    if not 1 <= view.options.top_k <= _LARGEST_TOP:
        yield "it lists an impossible number of tokens"
    tokens = (view.question.token, view.question.minus)
    if any(token is not None and not 0 <= token < config.vocab_size for token in tokens):
        yield "it asks for a token that is not there"
    if not -1 <= view.trail.at < max(1, len(view.trail.places)) or (view.trail.places and view.trail.at < 0):
        yield "its trail has no present place"


def _texts(view: "RecordedView") -> Iterator[str]:
    model = view.model
    yield from (model.title, model.source, model.format, model.stored_as, model.vocabulary, *model.notes, view.note)
    yield from (branch.name for branch in view.generation.branches)
    yield from (text for check in view.checks.results for text in (check.name, check.where, check.note))


def _problems_of_generation(generation: Generation, config: "GPTConfig") -> Iterator[str]:
    nodes, branches = generation.nodes, generation.branches
    for place, node in enumerate(nodes):
        if node.parent is not None and not 0 <= node.parent < place:
            yield "a step comes after one that is not there"
        if any(not 0 <= token.id < config.vocab_size for token in (node.chosen, *node.candidates)):
            yield "a step has a token that the vocabulary lacks"
    if not 0 <= generation.branch < len(branches):
        yield "its branch is not there"
        return
    problem = _problem_of_branches(branches, len(nodes))
    if problem:
        yield problem
    if any(not 0 <= token < config.vocab_size for token in generation.prompt):
        yield "its prompt has IDs that the vocabulary lacks"
    if generation.shown is not None and not 0 <= generation.shown < len(generation.steps):
        yield "it shows a step that is not there"


def _problem_of_branches(branches: Sequence[Branch], steps: int) -> str:
    for place, branch in enumerate(branches):
        if branch.tip is not None and not 0 <= branch.tip < steps:
            return "a branch ends with a step that is not there"
        if branch.origin is not None and not 0 <= branch.origin < place:
            return "a branch leaves one that is not there"
        if not 0 <= branch.fork <= steps:
            return "a branch leaves another one at a step that is not there"
    return ""


def _problems_of_numbers(view: "RecordedView", config: "GPTConfig") -> Iterator[str]:
    costs, loop = view.costs, view.loop
    if not all(_is_step(step, config) for step in view.generation.nodes):
        yield "a step has numbers that no pass gives"
    counts = [*costs.shape, *loop.cache_shape, loop.text_tokens, loop.recomputed]
    counts += (size for run in loop.runs for size in (*run.before, *run.after))
    counts += (number for row in costs.rows for number in (row.context_tokens, row.computed))
    counts += view.checks.done, view.checks.total, *view.trail.starts, view.model.threads
    if not _within(counts, _MOST) or not _within((costs.nbytes, costs.allocated, loop.cache_bytes), _MOST_BYTES):
        yield "it counts what can't be counted"
    if not _within((view.model.parameters, view.model.seed or 0), 2**63):
        yield "its model is none"
    times = [run.ms or 0.0 for run in loop.runs] + [ms for row in costs.rows for ms in (row.plain_ms, row.cached_ms)]
    if not _within(times, _LONGEST):
        yield "it has times that nothing takes"
    if any(not 0 <= token < config.vocab_size for token in costs.ids):
        yield "it measured what tokens cost that the vocabulary lacks"


def _is_step(step: GeneratedStep, config: "GPTConfig") -> bool:
    shares = [token.probability for token in (step.chosen, *step.candidates)]
    shares += [] if step.chance is None else [step.chance]
    length = config.context_length
    logits = [token.logit for token in (step.chosen, *step.candidates) if math.isfinite(token.logit)]
    return (
        all(math.isnan(share) or 0 <= share <= CERTAIN for share in shares)
        and all(abs(logit) < _LARGEST_LOGIT for logit in logits)
        and 1 <= step.context_tokens <= length
        and 0 <= step.computed <= length
        and 0 <= step.ms <= _LONGEST
    )


def _within(numbers: Iterable[float], largest: float) -> bool:
    return all(0 <= number <= largest for number in numbers)
