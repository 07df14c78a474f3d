"""The model that is watched, written as the chapter builds it. Depends on torch alone.

The configurations are here at once; the rest imports torch when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gptviz.model.config import (
    CONFIGS,
    GPT2_LARGE,
    GPT2_MEDIUM,
    GPT2_SMALL,
    GPT2_XL,
    TINY,
    ConfigError,
    GPTConfig,
)

if TYPE_CHECKING:
    from gptviz.model.attention import MultiHeadAttention
    from gptviz.model.generate import GreedyStep, greedy_step, greedy_steps
    from gptviz.model.gpt import GPTModel, InputError, TransformerBlock
    from gptviz.model.layers import GELU, ExactGELU, FeedForward, LayerNorm, LayerNormWithoutShift, ReLU
    from gptviz.model.parameters import ParameterCount, count_parameters, initialise

__all__ = [
    "CONFIGS",
    "GELU",
    "GPT2_LARGE",
    "GPT2_MEDIUM",
    "GPT2_SMALL",
    "GPT2_XL",
    "TINY",
    "ConfigError",
    "ExactGELU",
    "FeedForward",
    "GPTConfig",
    "GPTModel",
    "GreedyStep",
    "InputError",
    "LayerNorm",
    "LayerNormWithoutShift",
    "MultiHeadAttention",
    "ParameterCount",
    "ReLU",
    "TransformerBlock",
    "count_parameters",
    "greedy_step",
    "greedy_steps",
    "initialise",
]

_MODULES = ("layers", "attention", "gpt", "generate", "parameters")


def __getattr__(name: str) -> object:
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f"gptviz.model.{module_name}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
