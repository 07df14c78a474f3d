"""Numbers that are sums: of two numbers, or of many products."""

import math
from dataclasses import replace

from gptviz.analysis.arithmetic.cell import Cell, code_along, code_of
from gptviz.analysis.arithmetic.onward import probability
from gptviz.analysis.arithmetic.parts import Explanation, Operand, Step, Terms, Vector
from gptviz.analysis.arithmetic.writing import added, figure, summed

_LINEAR = {  # local name: output, input, weight
    "att.W_query": ("q", "x", "\\bold{W}"),
    "att.W_key": ("k", "x", "\\bold{W}"),
    "att.W_value": ("v", "x", "\\bold{W}"),
    "att.out_proj": ("y", "x", "\\bold{W}"),
    "ff.layers.0": ("h", "x", "\\bold{W}"),
    "ff.layers.2": ("y", "h", "\\bold{W}"),
    "out_head": ("\\word{logit}", "x", "\\bold{W}"),
}
_DOT = "dot product"
_ADDED = {  # local name: the two numbers that are added
    "embeddings": ("\\word{token}", "\\word{position}"),
    "shortcut1": ("\\word{attention}", "\\word{stream}"),
    "shortcut2": ("\\word{feed-forward}", "\\word{stream}"),
}
_ADDED_SENTENCE = {
    "embeddings": "What the token is and where it stands: two numbers are added.",
    "shortcut1": "What attention found is added to what came into the block: the residual stream goes on.",
    "shortcut2": "What the feed-forward network made is added to the stream: the block's output.",
}


def linear(cell: Cell) -> Explanation:
    """A dot product of the token's features with a row of weights, plus the row's bias if there is one."""
    b, t, e = cell.index
    out, x, w = _LINEAR[cell.stage.local_name]
    path = cell.stage.module
    features = cell.along(x, cell.source, b, t, None)
    has_bias = getattr(cell.module, "bias", None) is not None
    bias = cell.weight("b", f"{path}.bias", e) if has_bias else None
    size = len(features.values)
    product = f"\\sum{{i = 0}}{{{size - 1}}} {x}_{{{t},i}} · {w}_{{{e},i}}"
    equation = f"{out}_{{{t},{e}}} = {product}" + (f" + b_{{{e}}}" if bias else "")
    what = f"token ID {e}" if cell.stage.name == "out_head" else f"feature {e}"
    sentence = (
        f"The token's {size:,} features times the {size:,} weights of {what}, added up"
        f"{'; then the bias' if bias else ''}."
    )
    code = [f"x = {code_along(features)}", f'layer = model.get_submodule("{path}")']
    code.append(f"value = layer.weight[{e}] @ x" + (f" + layer.bias[{e}]" if bias else ""))
    lacks = cell.trace.missing(f"{path}.weight")
    if lacks:
        found = _dot_without_weights(cell, sentence, equation, features, bias, code=code, lacks=lacks)
    else:
        weights = cell.weights(w, f"{path}.weight", e, None)
        terms = Terms("feature · weight", features.exact * weights.exact, features, weights, bias)
        found = _dot(cell, _DOT, sentence, equation=equation, terms=terms, code=code)
    if cell.stage.name != "out_head":
        return found
    return replace(found, onward=probability(cell.along("\\word{logit}", "out_head", b, t, None), e))


def _dot_without_weights(
    cell: Cell, sentence: str, equation: str, features: Vector, bias: Operand | None, *, code: list[str], lacks: str
) -> Explanation:
    """What is at hand of a dot product whose weights are not."""
    return Explanation(
        cell.stage,
        cell.index,
        _DOT,
        sentence,
        (Step("", equation, "", cell.value),),
        () if bias is None else (bias,),
        math.nan,
        cell.value,
        tuple(code),
        vectors=(features,),
        lacks=lacks,
    )


def scores(cell: Cell) -> Explanation:
    """The dot product of a query with a key."""
    _, _, q, k = cell.index
    terms = cell.score()
    assert terms is not None
    assert terms.right is not None
    query, key = terms.left, terms.right
    equation = f"s_{{{q},{k}}} = \\sum{{d = 0}}{{{len(terms) - 1}}} q_{{{q},d}} · k_{{{k},d}}"
    sentence = (
        "How well the query fits the key: their features are multiplied one by one, and the products added up. "
        "Where both have the same sign, the score grows."
    )
    code = [f"query = {code_along(query)}", f"key = {code_along(key)}", "value = query @ key"]
    return _dot(cell, "query · key", sentence, equation=equation, terms=terms, code=code)


def context(cell: Cell) -> Explanation:
    """A mean of the values, each in proportion to its attention weight."""
    b, h, t, d = cell.index
    weights = cell.along("w", cell.inputs[0], b, h, t, None)
    values = cell.along("v", cell.inputs[1], b, h, None, d)
    terms = Terms("weight · value", weights.exact * values.exact, weights, values)
    equation = f"c_{{{t},{d}}} = \\sum{{k = 0}}{{{len(terms) - 1}}} w_{{{t},k}} · v_{{k,{d}}}"
    sentence = "Each key's value, in proportion to the attention that the query pays to that key."
    code = [f"weights = {code_along(weights)}", f"values = {code_along(values)}", "value = weights @ values"]
    return _dot(cell, "weights · values", sentence, equation=equation, terms=terms, code=code)


def _dot(cell: Cell, operation: str, sentence: str, *, equation: str, terms: Terms, code: list[str]) -> Explanation:
    bias = 0.0 if terms.extra is None else terms.extra.value
    value = math.fsum(terms.values) + bias if math.isfinite(float(terms.values.sum())) else float(terms.values.sum())
    vectors: tuple[Vector, ...] = (terms.left,) if terms.right is None else (terms.left, terms.right)
    return Explanation(
        cell.stage,
        cell.index,
        operation,
        sentence,
        (Step("", equation, summed(terms), value),),
        () if terms.extra is None else (terms.extra,),
        value,
        cell.value,
        tuple(code),
        spread=terms.spread,
        vectors=vectors,
        terms=terms,
    )


def addition(cell: Cell) -> Explanation:
    """Two numbers: token and position, or a branch and the stream."""
    symbols = _ADDED[cell.stage.local_name]
    operands = tuple(
        cell.number(symbol, name, *_at(cell, name)) for symbol, name in zip(symbols, cell.inputs, strict=True)
    )
    first, second = operands
    value = first.value + second.value
    t, e = cell.index[-2:]
    equation = f"x_{{{t},{e}}} = {first.symbol}_{{{t},{e}}} + {second.symbol}_{{{t},{e}}}"
    return Explanation(
        cell.stage,
        cell.index,
        "addition",
        _ADDED_SENTENCE[cell.stage.local_name],
        (Step("", equation, added([first.value, second.value]), value),),
        operands,
        value,
        cell.value,
        (f"value = {code_of(first.place)} + {code_of(second.place)}",),
        spread=math.hypot(first.value, second.value),
    )


def _at(cell: Cell, name: str) -> tuple[int, ...]:
    """Return the index in another stage that the cell's own falls on; position embeddings have no sequences."""
    return cell.index[1:] if cell.trace.record(name).stage.dims == "TE" else cell.index


def scaled(cell: Cell) -> Explanation:
    """The score divided by √D, or by what the live module has instead."""
    _, _, q, k = cell.index
    score = cell.number("s", cell.source, *cell.index)
    D = getattr(cell.module, "head_dim", None)
    divisor = math.sqrt(D) if D is not None else float(cell.module.divisor)
    symbol, number = ("\\root{D}", f"\\root{{{D}}}") if D is not None else ("\\word{divisor}", figure(divisor))
    sentence = (
        f"A sum of {D} products spreads like √{D} = {divisor:.4g}; divided by it, softmax does not become too sharp."
        if D is not None
        else f"This model divides the scores of this block by {divisor:.6g}, where GPT-2 has √D."
    )
    value = score.value / divisor
    equation = f"\\word{{scaled}}_{{{q},{k}}} = \\frac{{s_{{{q},{k}}}}}{{{symbol}}}"
    return Explanation(
        cell.stage,
        cell.index,
        "scaling",
        sentence,
        (Step("", equation, f"\\frac{{{figure(score.value)}}}{{{number}}}", value),),
        (score,),
        value,
        cell.value,
        (f"value = {code_of(score.place)} / {f'{D} ** 0.5' if D is not None else repr(divisor)}",),
        behind=cell.score(),
    )
