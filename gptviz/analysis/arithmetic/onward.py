"""What the window computes from a number of the model, where that is no stage: a token's probability."""

import numpy as np

from gptviz.analysis.arithmetic.parts import Step, Vector
from gptviz.analysis.arithmetic.writing import factor, figure

PROBABILITY = "Its probability: the softmax over all tokens"


def probability(logits: Vector, token: int) -> tuple[Step, ...]:
    """Return the steps from the logits (V,) of a position to the probability of ``token``."""
    maximum = float(logits.exact.max())
    powers = np.exp(logits.exact - maximum)
    power, total = float(powers[token]), float(powers.sum())
    name, this = logits.symbol, f"e^{{{logits.symbol}_{{{token}}} − m}}"
    every = f"\\sum{{v = 0}}{{{len(powers) - 1}}} e^{{{name}_{{v}} − m}}"
    exponent = f"{figure(float(logits.exact[token]))} − {factor(maximum)}"
    return (
        Step("largest logit", f"m = \\limit{{\\word{{max}}}}{{v}} {name}_{{v}}", figure(maximum), maximum),
        Step("this token", this, f"e^{{{exponent}}}", power),
        Step("all tokens", every, figure(total), total),
        Step("probability", f"p_{{{token}}} = \\frac{{{this}}}{{{every}}}", _shared(power, total), power / total),
    )


def _shared(part: float, whole: float) -> str:
    return f"\\frac{{{figure(part)}}}{{{figure(whole)}}}"
