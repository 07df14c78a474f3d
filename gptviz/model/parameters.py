"""Making a model's weights, and counting them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from gptviz.model.config import GPTConfig
from gptviz.model.gpt import GPTModel
from gptviz.model.seeding import seeded

COMPONENTS = ("tok_emb", "pos_emb", "trf_blocks", "final_norm", "out_head")


@dataclass(frozen=True)
class ParameterCount:
    """Parameters by component; ``total`` counts the output head as a matrix of its own, ``total_tied`` does not."""

    components: dict[str, int]
    total: int
    total_tied: int


class WithoutValues(TorchFunctionMode):
    """Inside the ``with``, modules are made without what gives tensors values: torch.nn.init, the triangle of a mask.

    On the meta device there are no values anyway, but torch imports its compiler to find that out: about a second.
    It does so as well to give meta tensors memory (``Module.to_empty``, ``nn.utils.skip_init``).
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init" or func is torch.triu:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


@contextmanager
def shapes_alone() -> Iterator[None]:
    """Inside the ``with``, modules are made with shapes and no memory: on the meta device."""
    with torch.device("meta"), WithoutValues():
        yield


def skeleton(config: GPTConfig) -> GPTModel:
    """Make a model whose parameters have shapes and no memory."""
    with shapes_alone():
        return GPTModel(config)


def count_parameters(config: GPTConfig) -> ParameterCount:
    """Count the parameters of a model of ``config`` without allocating them."""
    model = skeleton(config)
    components = {name: sum(p.numel() for p in model.get_submodule(name).parameters()) for name in COMPONENTS}
    total = sum(components.values())
    return ParameterCount(components, total, total - components["out_head"])


def initialise(config: GPTConfig, seed: int, on_progress: Callable[[float], None] | None = None) -> GPTModel:
    """Make an untrained model in eval mode, with the weights that ``torch.manual_seed(seed)`` gives.

    ``on_progress`` is called with the share of parameters begun, from 0 to 1; an exception that it raises
    ends the work, so that a long initialisation can be cancelled.
    """
    total = count_parameters(config).total
    begun = 0
    thread = get_ident()  # torch calls the hook for modules that other threads make, too

    def count(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal begun
        if on_progress is not None and parameter is not None and get_ident() == thread:
            on_progress(min(1.0, begun / total))
            begun += parameter.numel()

    handle = register_module_parameter_registration_hook(count)
    try:
        with seeded(seed, lambda: None if on_progress is None else on_progress(0.0)):
            model = GPTModel(config)
    finally:
        handle.remove()
    if on_progress is not None:
        on_progress(1.0)
    return model.eval()
