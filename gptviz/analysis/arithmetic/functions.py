"""Numbers that take a function: LayerNorm, softmax, the feed-forward's activation, argmax."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gptviz.analysis.arithmetic.cell import Cell, code_along, code_of
from gptviz.analysis.arithmetic.parts import ROW, Explanation, Operand, Step, Terms, Vector
from gptviz.analysis.arithmetic.writing import factor, figure, summed, whole


def layer_norm(cell: Cell) -> Explanation:
    """Mean, variance, normalise, scale, shift: a line each."""
    b, t, e = cell.index
    path = cell.stage.module
    row = cell.along("x", cell.source, b, t, None, mark=e)
    after = cell.along("y", cell.stage.name, b, t, None, mark=e)  # shown beside it
    x = cell.number("x", cell.source, b, t, e)
    learned = _learned(cell, path, e)
    steps = _normalising(row, x, cell.trace.eps(path), t, e)
    normalised = steps[-1].value
    value, sizes = normalised, [1.0]
    scale, shift = learned.get("scale"), learned.get("shift")
    if scale is not None:
        value = scale.value * normalised
        sizes = [abs(scale.value)]
        result = "\\word{scaled}" if shift is not None else f"y_{{{t},{e}}}"
        equation = f"{result} = \\word{{scale}}_{{{e}}} · n"
        steps.append(Step("scale", equation, f"{figure(scale.value)} · {factor(normalised)}", value))
    if shift is not None:
        before, value = value, value + shift.value
        sizes.append(shift.value)
        equation = f"y_{{{t},{e}}} = \\word{{scaled}} + \\word{{shift}}_{{{e}}}"
        steps.append(Step("shift", equation, f"{figure(before)} + {factor(shift.value)}", value))
    code = [
        f"x = {code_along(row)}",
        f'norm = model.get_submodule("{path}")',
        "mean, variance = x.mean(), x.var(unbiased=False)",
        f"value = (x[{e}] - mean) / torch.sqrt(variance + norm.eps)",
    ]
    if learned:
        ending = (" * norm.scale" if scale else "", " + norm.shift" if shift else "")
        code[-1] += "".join(f"{part}[{e}]" for part in ending if part)
    return Explanation(
        cell.stage,
        cell.index,
        "LayerNorm",
        f"The token's {len(row.values):,} features get mean 0 and variance 1; then each has a learned scale"
        f"{' and shift' if shift is not None else '; this model has no shift'}.",
        tuple(steps),
        (x, *learned.values()),
        value,
        cell.value,
        tuple(code),
        spread=math.hypot(*sizes),
        spread_of=ROW,
        vectors=(row,),
        own_row=after,
    )


def _normalising(row: Vector, x: Operand, eps: float, t: int, e: int) -> list[Step]:
    """Give the row mean 0 and variance 1, as far as its feature ``e`` is concerned."""
    mean, variance = float(row.exact.mean()), float(row.exact.var())
    n = len(row.values)
    return [
        Step(
            "mean",
            f"m = \\frac{{1}}{{{n}}} \\sum{{i = 0}}{{{n - 1}}} x_{{{t},i}}",
            f"\\frac{{{figure(float(row.exact.sum()))}}}{{{n}}}",
            mean,
        ),
        Step(
            "variance",
            f"v = \\frac{{1}}{{{n}}} \\sum{{i = 0}}{{{n - 1}}} \\paren{{x_{{{t},i}} − m}}^{{2}}",
            f"\\frac{{{figure(float(np.square(row.exact - mean).sum()))}}}{{{n}}}",
            variance,
        ),
        Step(
            "normalise",
            f"n = \\frac{{x_{{{t},{e}}} − m}}{{\\root{{v + \\word{{eps}}}}}}",
            f"\\frac{{{figure(x.value)} − {factor(mean)}}}{{\\root{{{figure(variance)} + {figure(eps, 1)}}}}}",
            (x.value - mean) / math.sqrt(variance + eps),
        ),
    ]


def _learned(cell: Cell, path: str, e: int) -> dict[str, Operand]:
    """Return scale and shift of feature ``e``, as far as the module has them."""
    return {
        name: cell.weight(f"\\word{{{name}}}", f"{path}.{name}", e)
        for name in ("scale", "shift")
        if getattr(cell.module, name, None) is not None
    }


def softmax(cell: Cell) -> Explanation:
    """The key's exponential, divided by the sum of all; the maximum is subtracted first."""
    b, h, q, k = cell.index
    row = cell.along("s", cell.source, b, h, q, None, mark=k)
    score = cell.number("s", cell.source, b, h, q, k)
    top = int(row.exact.argmax())
    maximum = float(row.exact[top])
    powers = np.exp(row.exact - maximum)
    total = math.fsum(powers)
    value = float(powers[k]) / total
    seen = int(np.isfinite(row.exact).sum())
    if k < seen and _leading(row.exact, seen):  # leave out the masked keys, which add nothing
        row, powers = replace(row, values=row.values[:seen]), powers[:seen]
    shown = Terms("e^(score − m), key by key", powers, row)
    hidden = score.value == -math.inf
    exponent = "−∞" if hidden else f"{figure(score.value)} − {factor(maximum)}"
    limit = len(shown) - 1
    steps = (
        Step("largest score", f"m = \\limit{{\\word{{max}}}}{{j}} s_{{{q},j}}", f"s_{{{q},{top}}}", maximum),
        Step("this key", f"e^{{s_{{{q},{k}}} − m}}", f"e^{{{exponent}}}", float(powers[k])),
        Step("all keys", f"\\sum{{j = 0}}{{{limit}}} e^{{s_{{{q},j}} − m}}", summed(shown), total),
        Step(
            "its share",
            f"w_{{{q},{k}}} = \\frac{{e^{{s_{{{q},{k}}} − m}}}}{{\\sum{{j = 0}}{{{limit}}} e^{{s_{{{q},j}} − m}}}}",
            f"\\frac{{{figure(float(powers[k]))}}}{{{figure(total)}}}",
            value,
        ),
    )
    sentence = (
        "This key's exponential, as a share of all keys'. Subtracting the largest score first changes no share, and "
        "keeps the exponentials small."
    )
    if math.isnan(value):
        sentence = "The scores of this query are not all finite numbers, so no share can be computed: it is NaN."
    elif hidden:
        why = "The key is masked" if k > q else "The key's score is −∞"
        sentence = f"{why}: e to the −∞ is 0, so its share is exactly 0."
    code = (
        f"scores = {code_along(row)}",
        "powers = torch.exp(scores - scores.max())",
        f"value = powers[{k}] / powers.sum()",
    )
    return Explanation(
        cell.stage,
        cell.index,
        "softmax",
        sentence,
        steps,
        (score,),
        value,
        cell.value,
        code,
        vectors=(row,),
        terms=shown,
        behind=cell.score(),
    )


def _leading(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], count: int) -> bool:
    """Tell whether the finite scores come first, as a causal mask leaves them."""
    return bool(np.isfinite(scores[:count]).all()) and count > 0


def activation(cell: Cell) -> Explanation:
    """The feed-forward's nonlinearity, as the live module computes it."""
    return _ACTIVATIONS[type(cell.module).__name__](cell, cell.number("x", cell.source, *cell.index))


def _gelu_tanh(cell: Cell, x: Operand) -> Explanation:
    cube = x.value**3
    inner = math.sqrt(2 / math.pi) * (x.value + 0.044715 * cube)
    bent = math.tanh(inner)
    value = 0.5 * x.value * (1 + bent)
    steps = (
        Step("cube", "x^{3}", f"{factor(x.value)}^{{3}}", cube),
        Step(
            "inside",
            "u = \\root{\\frac{2}{π}} \\paren{x + 0.044715 x^{3}}",
            f"0.7979 \\paren{{{figure(x.value)} + 0.044715 · {factor(cube)}}}",
            inner,
        ),
        Step("tanh", "\\word{tanh}\\paren{u}", f"\\word{{tanh}}\\paren{{{figure(inner)}}}", bent),
        Step(
            "result",
            "y = \\frac{1}{2} x \\paren{1 + \\word{tanh}\\paren{u}}",
            f"0.5 · {factor(x.value)} \\paren{{1 + {factor(bent)}}}",
            value,
        ),
    )
    sentence = "GELU in GPT-2's tanh form: near x where x is large, near 0 where it is very negative."
    code = (
        f"x = {code_of(x.place)}",
        "inner = (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)",
        "value = 0.5 * x * (1 + torch.tanh(inner))",
    )
    return _bent(cell, "GELU", sentence, steps=steps, x=x, code=code)


def _gelu_exact(cell: Cell, x: Operand) -> Explanation:
    bent = math.erf(x.value / math.sqrt(2))
    value = 0.5 * x.value * (1 + bent)
    steps = (
        Step(
            "erf",
            "\\word{erf}\\paren{\\frac{x}{\\root{2}}}",
            f"\\word{{erf}}\\paren{{{figure(x.value / 2**0.5)}}}",
            bent,
        ),
        Step(
            "result",
            "y = \\frac{1}{2} x \\paren{1 + \\word{erf}\\paren{\\frac{x}{\\root{2}}}}",
            f"0.5 · {factor(x.value)} \\paren{{1 + {factor(bent)}}}",
            value,
        ),
    )
    sentence = "GELU in its exact form: x times the probability that a standard normal number is below x."
    code = (f"x = {code_of(x.place)}", "value = 0.5 * x * (1 + torch.erf(x / 2**0.5))")
    return _bent(cell, "GELU", sentence, steps=steps, x=x, code=code)


def _relu(cell: Cell, x: Operand) -> Explanation:
    steps = (
        Step("", "y = \\word{max}\\paren{0, x}", f"\\word{{max}}\\paren{{0, {figure(x.value)}}}", max(0.0, x.value)),
    )
    sentence = "ReLU: positive numbers pass, negative ones become 0."
    return _bent(cell, "ReLU", sentence, steps=steps, x=x, code=(f"value = torch.relu({code_of(x.place)})",))


def _bent(
    cell: Cell, operation: str, sentence: str, *, steps: tuple[Step, ...], x: Operand, code: tuple[str, ...]
) -> Explanation:
    """The two halves of a GELU cancel where x is very negative: hence the size √Σ terms²."""
    half = 0.5 * abs(x.value)
    spread = math.hypot(half, half) if operation == "GELU" else 0.0
    value = steps[-1].value
    return Explanation(cell.stage, cell.index, operation, sentence, steps, (x,), value, cell.value, code, spread=spread)


_ACTIVATIONS: dict[str, Callable[[Cell, Operand], Explanation]] = {
    "GELU": _gelu_tanh,
    "ExactGELU": _gelu_exact,
    "ReLU": _relu,
}


def argmax(cell: Cell) -> Explanation:
    """The token with the largest logit, its runner-up and the margin; a vocabulary of one token has neither."""
    b, _ = cell.index
    logits = cell.along("\\word{last}", cell.source, b, None)
    terms = Terms("the largest logits", logits.exact, logits, compared=True)
    best, *others = (terms.term(int(i)) for i in terms.largest(2))
    behind = [
        step
        for second in others
        for step in (
            Step("runner-up", f"\\word{{last}}_{{{second.i}}}", figure(second.value), second.value),
            Step(
                "margin",
                f"\\word{{last}}_{{{best.i}}} − \\word{{last}}_{{{second.i}}}",
                f"{figure(best.value)} − {factor(second.value)}",
                best.value - second.value,
            ),
        )
    ]
    steps = (
        Step("largest logit", f"\\word{{last}}_{{{best.i}}}", figure(best.value), best.value),
        *behind,
        Step(
            "its ID",
            f"\\word{{next}} = \\limit{{\\word{{argmax}}}}{{0 ≤ v < {len(terms)}}} \\word{{last}}_{{v}}",
            whole(best.i),
            best.i,
            whole=True,
        ),
    )
    sentence = (
        "Greedy choice: of all logits of the last position the largest one wins, and its place is the token's ID."
    )
    if math.isnan(best.value):
        sentence = "Some logits are NaN: no number is larger than those, so argmax takes the first of them."
    code = (f"logits = {code_along(logits)}", "value = logits.argmax()")
    return Explanation(
        cell.stage,
        cell.index,
        "argmax",
        sentence,
        steps,
        (best.left, *(second.left for second in others)),
        float(best.i),
        cell.value,
        code,
        tolerance=0.0,
        vectors=(),
        terms=terms,
    )
