"""What stands in for the model where a run was recorded and its weights are not here."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NoReturn

from torch import Tensor

from gptviz.capture.errors import NotRecordedError
from gptviz.capture.replay import Missing
from gptviz.capture.trace import Trace
from gptviz.model.config import GPTConfig
from gptviz.model.gpt import GPTModel
from gptviz.model.parameters import skeleton


class Recorded:
    """A model without its large weights: modules, settings, modes, and those parameters that were recorded.

    ``parameters`` are kept by path. The others have a shape and no values: ``Trace.parameter`` raises for them, and no
    block can run again.
    """

    can_replay, is_recorded = False, True
    missing = Missing("is not in the recording", ", and its model is not loaded")

    def __init__(self, config: GPTConfig, parameters: Mapping[str, Tensor], modes: Mapping[str, bool]) -> None:
        self.model = skeleton(config)
        self.model.load_state_dict(dict(parameters), strict=False, assign=True)
        self.model.requires_grad_(False)
        for path, module in self.model.named_modules():
            module.training = modes.get(path, False)
        self.modes = MappingProxyType(dict(modes))
        self.parameters = MappingProxyType(dict(parameters))

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotRecordedError("the recording does not have it, and its model is not loaded")

    head = __call__


def recorded(trace: Trace) -> Trace:
    """Return ``trace`` as a recording has it: what is at hand, and of the parameters the vectors alone.

    Scales, shifts and biases are small; the matrices make up nearly all of a model, and stay with it.
    """
    small = small_parameters(trace.replay.model)
    return replace(trace, replay=Recorded(trace.config, small, trace.replay.modes)).keeping()


def small_parameters(model: GPTModel) -> dict[str, Tensor]:
    """Return the scales, shifts and biases of a model by path: those that have values."""
    return {
        path: parameter.detach()
        for path, parameter in model.named_parameters()
        if parameter.dim() == 1 and not parameter.is_meta
    }
