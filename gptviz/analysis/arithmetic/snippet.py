"""The arithmetic behind a number as a short program against the public API."""

from dataclasses import fields
from typing import TYPE_CHECKING

from gptviz.analysis.arithmetic.cell import code_of
from gptviz.model.config import CONFIGS, GPTConfig

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic.parts import Explanation
    from gptviz.capture.trace import Trace

_HUB = "hf:"


def snippet(trace: "Trace", explanation: "Explanation", seed: int | None, weights: str | None = None) -> str:
    """Return a program that prints the number twice: from its operands, and as the model computed it.

    The model is the untrained one of ``seed``, or else the checkpoint ``weights``: a path, or ``hf:owner/name``.
    """
    lines = (
        "import torch",
        "from gptviz.capture import capture",
        *(_untrained(trace.config, seed) if not weights else _loaded(weights, trace.config.n_heads)),
        f"trace = capture(model, torch.tensor({trace.array('ids').tolist()}))",
        "",
        *explanation.code,
        "print(value.item())  # from its operands",
        f"print({code_of(explanation.place)}.item())  # as the model computed it",
    )
    return "\n".join(lines) + "\n"


def _untrained(config: GPTConfig, seed: int | None) -> tuple[str, ...]:
    name, expression = _config(config)
    return f"from gptviz.model import {name}, initialise", "", f"model = initialise({expression}, seed={seed})"


def _loaded(weights: str, heads: int) -> tuple[str, ...]:
    if not weights.startswith(_HUB):
        return "from gptviz.checkpoints import load", "", f"model = load({weights!r}, heads={heads}).model"
    return (
        "from gptviz.checkpoints import load",
        "from gptviz.checkpoints.hub import download",
        "",
        f"model = load(download({weights.removeprefix(_HUB)!r}, lambda text, share: None), heads={heads}).model",
    )


def _config(config: GPTConfig) -> tuple[str, str]:
    """Return the name to import for ``config``, and the expression that makes it."""
    for name, known in CONFIGS.items():
        if known == config:
            constant = name.upper().replace("-", "_")
            return constant, constant
    default = GPTConfig()
    settings = [
        f"{field.name}={getattr(config, field.name)!r}"
        for field in fields(config)
        if getattr(config, field.name) != getattr(default, field.name)
    ]
    return "GPTConfig", f"GPTConfig({', '.join(settings)})"
