"""From a plan to a model: made without memory first, then filled part by part."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.free_memory import check_fits
from gptviz.checkpoints.plan import Part, Plan, Stored
from gptviz.checkpoints.tensor_file import TensorFile
from gptviz.model.attention import CausalMask
from gptviz.model.gpt import GPTModel
from gptviz.model.parameters import skeleton

_CHUNK = 2**24  # bytes of a tensor that are copied at once
_MAPPED_AT_MOST = 2**25  # bytes of the file that are in memory before they are given up, about


def build(plan: Plan, file: TensorFile, on_progress: Callable[[float], None] | None) -> GPTModel:
    """Read the weights into a new model in eval mode, in fp32.

    The model is made on the meta device, so that nothing is drawn at random only to be overwritten. The file's
    pages are given up after every few megabytes: what is in memory is the model and little more.
    """
    model = skeleton(plan.config)
    check_fits(sum(parameter.nbytes for parameter in model.parameters()))
    filler = _Filler(model, file, on_progress)
    for key, stored in plan.stored.items():
        filler.read(key, stored)
    filled = filler.filled
    if plan.config.tie_weights:
        filled["tok_emb.weight"] = filled["out_head.weight"] = nn.Parameter(filled["tok_emb.weight"])
    model.load_state_dict(filled, assign=True)
    _share_mask(model)
    for name, module in model.named_modules():
        for ending, rate in plan.drop_rates.items():
            if isinstance(module, nn.Dropout) and name.endswith(ending):
                module.p = rate
    if on_progress is not None:
        on_progress(1.0)
    return model.eval()


class _Filler:
    """Reads stored tensors one after the other, each in parts."""

    def __init__(self, model: GPTModel, file: TensorFile, on_progress: Callable[[float], None] | None) -> None:
        self.filled: dict[str, Tensor] = {}
        self._file = file
        self._on_progress = on_progress
        self._shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
        self._total = sum(shape.numel() for shape in self._shapes.values())
        self._done = 0
        self._mapped = 0

    def read(self, key: str, stored: Stored) -> None:
        """Read the parameters that the tensor ``key`` holds, if the model has them: a tied head is none of them."""
        parts = [part for part in stored.parts if part.target in self._shapes]
        if not parts:
            return
        self._tell(0)
        tensor = self._file.tensor(key)
        as_it_is = stored.parts == (Part(parts[0].target),) and tensor.dtype == torch.float32
        if as_it_is and self._file.owned(key):
            self.filled[parts[0].target] = tensor
        else:
            del tensor
            self._copy(key, stored, parts)
        self._done += torch.Size(stored.shape).numel()
        self._file.done_with(key)

    def _copy(self, key: str, stored: Stored, parts: list[Part]) -> None:
        targets = {part.target: torch.empty(self._shapes[part.target], dtype=torch.float32) for part in parts}
        count, size = stored.shape[0], torch.Size(stored.shape).numel()
        step = max(1, _CHUNK * count // (4 * size))
        for start in range(0, count, step):
            rows = self._file.rows(key, start, start + step)
            if rows.shape != (min(step, count - start), *stored.shape[1:]):
                raise CheckpointError("the file was changed while it was being read", "Open it again")
            for part in parts:
                _copy(rows, start, part, targets[part.target])
            self._mapped += rows.nbytes
            del rows
            if self._mapped >= _MAPPED_AT_MOST:
                self._file.forget()
                self._mapped = 0
            self._tell(min(start + step, count) * size // count)
        self.filled |= targets

    def _tell(self, more: int) -> None:
        if self._on_progress is not None:
            self._on_progress(min(1.0, (self._done + more) / self._total))


def _copy(rows: Tensor, first: int, part: Part, target: Tensor) -> None:
    """Copy what ``rows``, which begin at row ``first`` of the stored tensor, have of ``part``."""
    if part.axis == 0:
        stop = len(target) if part.stop is None and not part.transposed else part.stop
        low, high = max(first, part.start), first + len(rows) if stop is None else min(first + len(rows), stop)
        if low >= high:
            return
        source = rows[low - first : high - first]
        place = slice(low - part.start, high - part.start)
    else:
        source = rows[:, part.start : part.stop]
        place = slice(first, first + len(rows))
    if part.transposed:
        target[:, place].copy_(source.T)
    else:
        target[place].copy_(source)


def _share_mask(model: GPTModel) -> None:
    """Give all blocks the one causal mask."""
    context = model.config.context_length
    mask = torch.triu(torch.ones(context, context, dtype=torch.bool), diagonal=1)
    for module in model.modules():
        if isinstance(module, CausalMask):
            module.future = mask
