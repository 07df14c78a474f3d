"""What the worker runs to generate. torch and NumPy are imported inside the functions."""

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gptviz.analysis.decoding_settings import Decoding
from gptviz.session import jobs
from gptviz.session.costs import CostRow, Costs
from gptviz.session.generation import GeneratedStep
from gptviz.session.loop_lines import APPEND, CHOOSE, CROP, FORWARD, LAST, LineGate, LineRun, LoopLines
from gptviz.session.worker import Cancelled, JobContext

_MOMENT = 0.02  # s

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from gptviz.analysis.decoding import Choice
    from gptviz.model.cached import KeyValueCache
    from gptviz.model.gpt import GPTModel
    from gptviz.tokenizer import Tokenizer


@dataclass(frozen=True)
class StepRequest:
    """Append a token to ``ids``; ``at_hand`` is the pass on their end if it ran before, ``gate`` holds each line."""

    ids: tuple[int, ...]
    decoding: Decoding
    layer: int
    at_hand: "jobs.PassResult | None" = None
    gate: LineGate | None = None


@dataclass(frozen=True)
class StepResult:
    """The step, and the pass that it was chosen from; None if it came from the cache."""

    step: GeneratedStep
    passed: "jobs.PassResult | None"


class CacheHolder:
    """Keeps a model's cache from step to step; only the worker looks inside."""

    def __init__(self) -> None:
        self._cache: KeyValueCache | None = None

    def cache_for(self, model: "GPTModel") -> "KeyValueCache":
        """Worker: return the cache of ``model``, a new one if there is none."""
        from gptviz.model.cached import KeyValueCache

        if self._cache is None or self._cache.model is not model:
            self._cache = KeyValueCache(model)
        return self._cache

    def drop(self) -> None:
        """Give its memory back."""
        self._cache = None


def generate_step(model: "GPTModel", tokenizer: "Tokenizer", request: StepRequest, context: JobContext) -> StepResult:
    """Run one turn of the loop with a captured pass."""
    from gptviz.model.generate import crop

    turn = _Turn(request, context)
    ids = turn.ids
    cropped = turn.run(CROP, ids, lambda: crop(ids, model.config.context_length))
    turn.begin(FORWARD)
    row = cropped[0].tolist()
    passed = jobs.run_pass(model, tokenizer, jobs.PassRequest([row], request.layer), context)
    turn.note(cropped, passed.trace["out_head"], passed.trace.ms, recomputed=len(row))
    if request.gate is not None:
        context.tell(passed)
    choice = _choose(turn, passed.trace["out_head"], request)
    return StepResult(_step(choice, request, cropped.shape[1], passed.trace.ms), passed)


def generate_at_hand(request: StepRequest, context: JobContext) -> StepResult:
    """Run one turn of the loop on the pass that is at hand; no model is needed."""
    from gptviz.model.generate import crop

    passed = request.at_hand
    assert passed is not None
    turn = _Turn(request, context)
    ids = turn.ids
    cropped = turn.run(CROP, ids, lambda: crop(ids, passed.trace.config.context_length))
    turn.begin(FORWARD)
    turn.note(cropped, passed.trace["out_head"], None)
    choice = _choose(turn, passed.trace["out_head"], request)
    return StepResult(_step(choice, request, cropped.shape[1], passed.trace.ms), passed)


def generate_cached_step(
    model: "GPTModel", holder: CacheHolder, request: StepRequest, context: JobContext
) -> StepResult:
    """Run one turn of the loop with keys and values from the cache."""
    from gptviz.model.cached import cached_logits
    from gptviz.model.generate import crop

    model.eval()
    turn = _Turn(request, context)
    ids, cache = turn.ids, holder.cache_for(model)
    cropped = turn.run(CROP, ids, lambda: crop(ids, model.config.context_length))
    turn.begin(FORWARD)
    began = time.perf_counter()
    logits, computed = cached_logits(cropped, cache, lambda layer: _stop_if_cancelled(context))
    ms = (time.perf_counter() - began) * 1000
    turn.note(cropped[:, -computed:], logits, ms, recomputed=computed)
    turn.tell(cache_shape=cache.shape, cache_bytes=cache.nbytes)
    choice = _choose(turn, logits, request)
    step = _step(choice, request, cropped.shape[1], ms)
    return StepResult(replace(step, computed=computed, cached=True), None)


def measure_costs(
    model: "GPTModel", ids: tuple[int, ...], prompt_tokens: int, decodings: tuple[Decoding, ...], context: JobContext
) -> Costs:
    """Compute each step of the text ``ids`` without and with a cache, and tell the GUI after each."""
    import torch

    from gptviz.analysis.comparison import relative_difference
    from gptviz.analysis.decoding import choose
    from gptviz.capture.recorder import stoppable
    from gptviz.model.cached import KeyValueCache, cached_logits
    from gptviz.model.generate import crop

    model.eval()
    cache = KeyValueCache(model)
    costs = Costs(ids, allocated=cache.keys.nbytes + cache.values.nbytes)
    text = torch.tensor([ids])
    for place, decoding in enumerate(decodings):
        position = prompt_tokens + place
        context.report(f"Measuring step {place + 1} of {len(decodings)}", place / len(decodings))
        cropped = crop(text[:, :position], model.config.context_length)
        began = time.perf_counter()
        with torch.no_grad(), stoppable(model, context.cancel):
            plain = model(cropped)[0, -1]
        between = time.perf_counter()
        logits, computed = cached_logits(cropped, cache, lambda layer: _stop_if_cancelled(context))
        ended = time.perf_counter()
        cached = logits[0, -1]
        chosen = [choose(row.numpy(), decoding, position, 1).chosen.id for row in (plain, cached)]
        difference = relative_difference(plain.numpy(), cached.numpy())[1]
        times = (between - began) * 1000, (ended - between) * 1000
        row = CostRow(cropped.shape[1], computed, *times, difference, chosen[0] == chosen[1])
        costs = replace(costs, rows=(*costs.rows, row), shape=cache.shape, nbytes=cache.nbytes)
        context.tell(costs)
    return replace(costs, complete=True)


class _Turn:
    """One turn of the loop: times its lines and tells the GUI of each."""

    def __init__(self, request: StepRequest, context: JobContext) -> None:
        import torch

        self.ids = torch.tensor([request.ids])  # (1, T)
        self._lines = LoopLines(text_tokens=len(request.ids))
        self._gate = request.gate
        self._context = context
        self._told = 0.0
        if self._gate is not None:
            context.wake = self._gate.wake

    def begin(self, line: int) -> None:
        """Light a line; the gate may hold in front of it."""
        if self._gate is not None:
            self.tell(True, lit=line, held=True)
            self._gate.hold(self._context.cancel)
        _stop_if_cancelled(self._context)
        self.tell(line == FORWARD, lit=line, held=False)

    def run(self, line: int, before: "Tensor", work: "Callable[[], Tensor]") -> "Tensor":
        """Do the ``work`` of a line."""
        self.begin(line)
        began = time.perf_counter()
        after = work()
        self.note(before, after, (time.perf_counter() - began) * 1000)
        return after

    def note(self, before: "Tensor", after: "Tensor", ms: float | None, recomputed: int = 0) -> None:
        """Put down what a line did."""
        run = LineRun(tuple(before.shape), tuple(after.shape), ms)
        done = (*self._lines.runs, run)
        self.tell(len(done) > APPEND, runs=done, lit=None, recomputed=self._lines.recomputed + recomputed)

    def tell(self, at_once: bool = False, **what: object) -> None:
        """Tell the GUI what is new, unless it was told a moment ago: nobody sees a light of a millisecond."""
        self._lines = replace(self._lines, **what)  # type: ignore[arg-type]
        now = time.perf_counter()
        if at_once or now - self._told > _MOMENT:
            self._told = now
            self._context.tell(self._lines)


def _choose(turn: _Turn, logits: "Tensor", request: StepRequest) -> "Choice":
    import torch

    from gptviz.analysis.decoding import choose
    from gptviz.model.generate import greedy_choice, last_logits

    last = turn.run(LAST, logits, lambda: last_logits(logits))
    position = len(request.ids)

    def chosen() -> "Choice":
        return choose(last[0].numpy(), request.decoding, position, jobs.CANDIDATES_PER_STEP)

    if request.decoding.greedy:
        next_ids = turn.run(CHOOSE, last, lambda: greedy_choice(last))
        choice = chosen()
    else:
        made: list[Choice] = []

        def sample() -> "Tensor":
            made.append(chosen())
            return torch.tensor([[made[0].chosen.id]])

        next_ids = turn.run(CHOOSE, last, sample)
        choice = made[0]
    turn.run(APPEND, turn.ids, lambda: torch.cat((turn.ids, next_ids), dim=1))
    return choice


def _step(choice: "Choice", request: StepRequest, context_tokens: int, ms: float) -> GeneratedStep:
    return GeneratedStep(
        choice.chosen,
        choice.candidates,
        context_tokens,
        decoding=request.decoding,
        chance=choice.chance,
        ms=ms,
        computed=context_tokens,
    )


def _stop_if_cancelled(context: JobContext) -> None:
    if context.cancel.is_set():
        raise Cancelled
