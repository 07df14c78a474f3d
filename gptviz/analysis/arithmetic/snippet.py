"""The arithmetic behind a number as a short program against the public API."""

from dataclasses import fields
from typing import TYPE_CHECKING

from gptviz.analysis.arithmetic.cell import code_of
from gptviz.model.config import CONFIGS, GPTConfig

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic.parts import Explanation
    from gptviz.capture.trace import Trace


def snippet(trace: "Trace", explanation: "Explanation", seed: int) -> str:
    """Return a program that prints the number twice: from its operands, and as the model computed it.

    ``seed`` is that of the model's weights.
    """
    config, expression = _config(trace.config)
    lines = (
        "import torch",
        "from gptviz.capture import capture",
        f"from gptviz.model import {config}, initialise",
        "",
        f"model = initialise({expression}, seed={seed})",
        f"trace = capture(model, torch.tensor({trace.array('ids').tolist()}))",
        "",
        *explanation.code,
        "print(value.item())  # from its operands",
        f"print({code_of(explanation.place)}.item())  # as the model computed it",
    )
    return "\n".join(lines) + "\n"


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
