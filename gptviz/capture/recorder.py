"""Running a model with forward hooks; the only file that registers them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import torch
from torch import Tensor, nn

from gptviz.capture.memory import DEFAULT_BUDGET, blocks_within
from gptviz.capture.replay import Missing
from gptviz.capture.stages import Source, Stage, block_name, block_stages, catalogue
from gptviz.capture.trace import Array, StageRecord, Trace
from gptviz.model.generate import greedy_choice, last_logits
from gptviz.model.gpt import GPTModel, check_ids

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

OnStage = Callable[[StageRecord], None]
Digest = Callable[[Tensor], Array]


class CancelFlag(Protocol):
    """Anything that can be asked whether to stop, such as ``threading.Event``."""

    def is_set(self) -> bool: ...


class CaptureCancelled(Exception):  # noqa: N818 - a request that was met, no error
    """The caller's cancel flag was set; the hooks are gone and the model is as it was."""


class CaptureError(RuntimeError):
    """The forward pass failed; the message names the last stage that ran."""


class _Recorder:
    """Hooks on the modules of ``stages``, for the length of a ``with``."""

    def __init__(
        self, modules: Mapping[str, nn.Module], stages: Sequence[Stage], keep: Callable[[Stage], bool]
    ) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.records: list[StageRecord] = []
        self.digests: dict[str, Array] = {}
        self.digest_of: Mapping[str, Digest] = {}
        self.on_stage: OnStage | None = None
        self.cancel: CancelFlag | None = None
        self.on_partial: Callable[[], None] | None = None
        self.present: dict[str, Tensor] = {}  # with on_partial: what is not kept of the block that runs now
        self._present_layer: int | None = None
        self._modules = modules
        self._stages = stages
        self._keep = keep
        self._handles: list[RemovableHandle] = []
        self._calls: dict[str, int] = {}
        self._last = 0.0

    def __enter__(self) -> Self:
        try:
            self._hook_all()
        except BaseException:
            self._remove()
            raise
        self._last = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._remove()

    def _remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        # what is called back may refer to this recorder; without the circle its tensors go as soon as nobody has them
        self.on_stage = self.on_partial = None

    def _hook_all(self) -> None:
        twice = {stage.module for stage in self._stages if stage.call}
        for stage in self._stages:
            if stage.source is Source.AFTER or stage.call:
                continue
            module = self._modules.get(stage.module)
            if module is None:
                raise CaptureError(f"this is no GPTModel: it has no module {stage.module!r}")
            if stage.source is Source.INPUT:
                self._handles.append(module.register_forward_pre_hook(self._input_hook(stage)))
            elif stage.module in twice:
                self._handles.append(module.register_forward_hook(self._alternating_hook(stage.module)))
            else:
                self._handles.append(module.register_forward_hook(self._output_hook(stage, module)))

    def _input_hook(self, stage: Stage) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(module: nn.Module, args: tuple[Any, ...]) -> None:
            self.finish(stage, args[0].shape, args[0])

        return hook

    def _output_hook(self, stage: Stage, module: nn.Module) -> Callable[[nn.Module, tuple[Any, ...], Tensor], None]:
        own = module._parameters.values()  # of a container none: its parts are stages of their own
        parameters = sum(p.numel() for p in own if p is not None)

        def hook(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
            self.finish(stage, args[0].shape, output, parameters)

        return hook

    def _alternating_hook(self, path: str) -> Callable[[nn.Module, tuple[Any, ...], Tensor], None]:
        calls = [stage for stage in self._stages if stage.module == path]

        def hook(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
            call = self._calls.get(path, 0)
            self._calls[path] = (call + 1) % len(calls)
            self.finish(calls[call], args[0].shape, output)

        return hook

    def finish(self, stage: Stage, input_shape: Sequence[int], output: Tensor, parameters: int = 0) -> None:
        """Record that ``stage`` is done, tell the caller, and stop here if the caller wants that."""
        ms = (time.perf_counter() - self._last) * 1000
        record = StageRecord(stage, tuple(input_shape), tuple(output.shape), parameters, ms)
        self.records.append(record)
        if self._keep(stage):
            self.tensors[stage.name] = output
        if self.digest_of and stage.local_name in self.digest_of:
            self.digests[stage.name] = self.digest_of[stage.local_name](output)
        if self.on_stage is not None:
            self.on_stage(record)
        if self.on_partial is not None:
            self._keep_for_now(stage, output)
            self.on_partial()
        if self.cancel is not None and self.cancel.is_set():
            raise CaptureCancelled(f"stopped after {stage.name}")
        self._last = time.perf_counter()

    def _keep_for_now(self, stage: Stage, output: Tensor) -> None:
        if stage.layer != self._present_layer:
            self._present_layer = stage.layer
            self.present.clear()
        if stage.name not in self.tensors:
            self.present[stage.name] = output


@dataclass(frozen=True)
class BlockReplay:
    """Runs one block again on its recorded input, with the modes and the random state of the first time."""

    can_replay: ClassVar[bool] = True
    is_recorded: ClassVar[bool] = False
    missing: ClassVar[Missing] = Missing("is not at hand", ": its block has to run again")
    model: GPTModel
    modes: Mapping[str, bool]  # by module path: whether it was in training mode
    random_states: Mapping[int, Tensor]  # by block; empty where nothing was random

    def __call__(
        self, layer: int, block_input: Tensor, on_stage: Callable[[Mapping[str, Tensor]], None] | None = None
    ) -> dict[str, Tensor]:
        """Return the tensors of all stages of block ``layer`` by name; ``on_stage`` sees those so far."""
        path = block_name(layer)
        block = self.model.get_submodule(path)
        modules = dict(block.named_modules(prefix=path))
        recorder = _Recorder(modules, block_stages(self.model.config, layer), lambda _: True)
        if on_stage is not None:
            recorder.on_partial = lambda: on_stage(recorder.tensors)
        as_then = _modes(modules, self.modes), _random_state(self.random_states.get(layer))
        with recorder, as_then[0], as_then[1], torch.no_grad():
            block(block_input)
        return recorder.tensors

    def head(self, stream: Tensor) -> Tensor:
        """Return the logits (B, T, V) that the final norm and the output head make of ``stream`` (B, T, E)."""
        with torch.no_grad():
            logits: Tensor = self.model.out_head(self.model.final_norm(stream))
        return logits


@contextmanager
def _modes(modules: Mapping[str, nn.Module], modes: Mapping[str, bool]) -> Iterator[None]:
    present = {path: module.training for path, module in modules.items()}
    try:
        for path, module in modules.items():
            module.training = modes.get(path, False)
        yield
    finally:
        for path, module in modules.items():
            module.training = present[path]


@contextmanager
def _random_state(state: Tensor | None) -> Iterator[None]:
    with torch.random.fork_rng(devices=(), enabled=state is not None):
        if state is not None:
            torch.set_rng_state(state)
        yield


class _RandomStates:
    """Remembers the random state before each block, if something in the model may draw from it."""

    def __init__(self, model: GPTModel, needed: bool) -> None:
        self.by_layer: dict[int, Tensor] = {}
        self._blocks = list(model.trf_blocks) if needed else []
        self._handles: list[RemovableHandle] = []

    def _hook(self, layer: int) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(module: nn.Module, args: tuple[Any, ...]) -> None:
            self.by_layer[layer] = torch.get_rng_state()

        return hook

    def __enter__(self) -> Self:
        self._handles = [block.register_forward_pre_hook(self._hook(layer)) for layer, block in enumerate(self._blocks)]
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()


def capture(
    model: GPTModel,
    ids: Tensor,
    *,
    budget: int = DEFAULT_BUDGET,
    on_stage: OnStage | None = None,
    cancel: CancelFlag | None = None,
    digests: Mapping[str, Digest] | None = None,
    on_partial: Callable[[Trace], None] | None = None,
) -> Trace:
    """Run ``model`` once on ``ids`` (B, T) and return its trace.

    The logits are bit-identical with those of a plain call. The hooks are removed whatever happens; the
    model's mode is left as it is.

    Parameters
    ----------
    model
        The model to watch.
    ids
        Token IDs of shape (B, T).
    budget
        Bytes for the blocks' insides; blocks beyond it are replayed when they are read.
    on_stage
        Called after each stage, in the same thread, with its record (name, shapes, milliseconds).
    cancel
        Asked after each stage; once it is set, CaptureCancelled is raised.
    on_partial
        Called after each stage with the trace so far; it may block, which holds the pass inside the hook.
    digests
        For a stage's name within its block, such as ``att.weights``, a function that reduces the tensor to
        a small array of its own; the results are in ``trace.digests``, also for blocks whose inside is not kept.

    Raises
    ------
    InputError
        If ``ids`` does not fit the model.
    CaptureCancelled
        If ``cancel`` was set.
    CaptureError
        If the forward pass fails, with the name of the last stage that ran.
    """
    if not isinstance(model, GPTModel):
        raise CaptureError(f"this is no GPTModel, but a {type(model).__name__}")
    config = model.config
    check_ids(ids, config)
    inside = blocks_within(budget, config, *ids.shape)
    stages = catalogue(config)
    modules = dict(model.named_modules())
    modes = {path: module.training for path, module in modules.items()}

    def keep(stage: Stage) -> bool:
        return stage.layer is None or stage.layer < inside or stage.local_name == "shortcut2"

    recorder = _Recorder(modules, stages, keep)
    recorder.on_stage, recorder.cancel, recorder.digest_of = on_stage, cancel, digests or {}
    random_states = _RandomStates(model, needed=any(modes.values()))
    replay = BlockReplay(model, modes, random_states.by_layer)

    def trace_so_far() -> Trace:
        return Trace(
            config=config,
            records=tuple(recorder.records),
            digests=MappingProxyType(dict(recorder.digests)),
            kept=MappingProxyType(dict(recorder.tensors)),
            replay=replay,
            replayed=MappingProxyType(dict(recorder.present)),
        )

    if on_partial is not None:
        recorder.on_partial = lambda: on_partial(trace_so_far())
    with recorder, random_states, torch.no_grad():
        try:
            logits = model(ids.clone())  # a copy, so that the caller can't change the trace afterwards
            last = last_logits(logits)
            recorder.finish(stages[-2], logits.shape, last)
            recorder.finish(stages[-1], last.shape, greedy_choice(last))
        except CaptureCancelled:
            raise
        except Exception as error:
            ran = recorder.records[-1].name if recorder.records else "no stage"
            raise CaptureError(f"the forward pass failed after {ran}: {error}") from error
    recorder.present.clear()
    return trace_so_far()


def perturbed_pass(model: GPTModel, ids: Tensor, cancel: CancelFlag | None = None) -> Trace | None:
    """Capture a pass on ``ids`` (B, T) with another last token: the next ID of the vocabulary.

    Returns None for T = 1, where there is no earlier position to compare.
    """
    if ids.shape[1] < 2:
        return None
    changed = ids.clone()
    changed[:, -1] = (changed[:, -1] + 1) % model.config.vocab_size
    return capture(model, changed, budget=0, cancel=cancel)


@contextmanager
def stoppable(model: GPTModel, cancel: CancelFlag) -> Iterator[None]:
    """Let plain passes of ``model`` stop before a block once ``cancel`` is set: they raise CaptureCancelled."""

    def stop(block: nn.Module, args: tuple[Any, ...]) -> None:
        if cancel.is_set():
            raise CaptureCancelled("stopped before a block")

    handles = [block.register_forward_pre_hook(stop) for block in model.trf_blocks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def record(
    model: nn.Module, ids: Tensor, stages: Sequence[Stage], cancel: CancelFlag | None = None
) -> tuple[tuple[StageRecord, ...], dict[str, Tensor]]:
    """Run any module once on ``ids``, and return records and tensors of those ``stages``; all of them are kept.

    For models that are no whole GPTModel; ``stages`` name modules that they have.

    Raises
    ------
    CaptureCancelled
        If ``cancel`` was set.
    CaptureError
        If the model has no such module.
    """
    recorder = _Recorder(dict(model.named_modules()), stages, lambda _: True)
    recorder.cancel = cancel
    with recorder, torch.no_grad():
        model(ids)
    return tuple(recorder.records), recorder.tensors
