"""Numbers that are looked up, moved, passed on or hidden: nothing is computed, so all bits have to agree."""

import math
from dataclasses import replace

from gptviz.analysis.arithmetic.cell import Cell, code_of
from gptviz.analysis.arithmetic.onward import probability
from gptviz.analysis.arithmetic.parts import Explanation, Operand, Step, Terms
from gptviz.analysis.arithmetic.writing import figure, whole
from gptviz.analysis.place import Place

_TABLE = "table look-up"


def given(cell: Cell) -> Explanation:
    """A token ID: what goes into the model."""
    _, t = cell.index
    return Explanation(
        cell.stage,
        cell.index,
        "input",
        "The tokenizer made this ID from the text. It goes into the model as it is: no number was computed yet.",
        (Step("", f"\\word{{id}}_{{{t}}}", whole(cell.value), cell.value, whole=True),),
        (),
        cell.value,
        cell.value,
        (f"value = {code_of(Place(cell.stage.name, cell.index))}",),
        tolerance=0.0,
        note="An input has no arithmetic behind it, so there is nothing to compare it with.",
    )


def token_row(cell: Cell) -> Explanation:
    """tok_emb: the row of the table that the token's ID names."""
    b, t, e = cell.index
    token = cell.number("\\word{id}", cell.source, b, t)
    table = f"{cell.stage.module}.weight"
    name = f"\\bold{{W}}_{{{whole(token.value)},{e}}}"
    code = (
        f"token = {code_of(token.place)}",
        f'value = model.get_parameter("{table}")[token, {e}]',
    )
    sentence = "The token's ID names a row of the table, and the feature a column. This is where the walk back ends."
    row = Step("which row", f"\\word{{id}}_{{{t}}}", whole(token.value), token.value, whole=True)
    that = f"\\word{{token}}_{{{t},{e}}} = {name}"
    lacks = cell.trace.missing(table)
    if lacks:
        steps = (row, Step("that entry", that, "", cell.value))
        return _looked_up(cell, sentence, steps=steps, operands=(token,), code=code, lacks=lacks)
    entry = cell.weight("\\bold{W}", table, int(token.value), e)
    steps = (row, Step("that entry", that, figure(entry.value), entry.value))
    return _same(cell, _TABLE, sentence, steps=steps, operands=(token, entry), code=code)


def position_row(cell: Cell) -> Explanation:
    """pos_emb: the row of the table that the position names."""
    t, e = cell.index
    table = f"{cell.stage.module}.weight"
    equation = f"\\word{{position}}_{{{t},{e}}} = \\bold{{W}}_{{{t},{e}}}"
    sentence = (
        "The position names a row of the second table, and the feature a column. This is where the walk back ends."
    )
    code = (f"value = {code_of(Place(table, cell.index, parameter=True))}",)
    lacks = cell.trace.missing(table)
    if lacks:
        steps = (Step("", equation, "", cell.value),)
        return _looked_up(cell, sentence, steps=steps, operands=(), code=code, lacks=lacks)
    entry = cell.weight("\\bold{W}", table, t, e)
    steps = (Step("", equation, figure(entry.value), entry.value),)
    return _same(cell, _TABLE, sentence, steps=steps, operands=(entry,), code=code)


def _looked_up(
    cell: Cell,
    sentence: str,
    *,
    steps: tuple[Step, ...],
    operands: tuple[Operand, ...],
    code: tuple[str, ...],
    lacks: str,
) -> Explanation:
    """An entry of a table that is not at hand."""
    return Explanation(
        cell.stage, cell.index, _TABLE, sentence, steps, operands, math.nan, cell.value, code, lacks=lacks
    )


def split(cell: Cell) -> Explanation:
    """Queries, keys, values: feature d of head h was feature h · D + d of the token."""
    b, h, t, d = cell.index
    D = cell.trace.config.head_dim
    e = h * D + d
    small = cell.stage.local_name.removeprefix("att.")[0]
    source = cell.number(small, cell.source, b, t, e)
    steps = (
        Step("which feature", "h · D + d", f"{h} · {D} + {d}", e, whole=True),
        Step(
            "that number",
            f"\\bold{{{small.upper()}}}_{{h = {h},{t},{d}}} = {small}_{{{t},{e}}}",
            figure(source.value),
            source.value,
        ),
    )
    sentence = f"Nothing is computed: the token's features are dealt out to the heads, {D} to each, in their order."
    return _same(
        cell, "split into heads", sentence, steps=steps, operands=(source,), code=(f"value = {code_of(source.place)}",)
    )


def merge(cell: Cell) -> Explanation:
    """merged: feature e was feature e mod D of head e div D."""
    b, t, e = cell.index
    D = cell.trace.config.head_dim
    h, d = divmod(e, D)
    source = cell.number("c", cell.source, b, h, t, d)
    steps = (
        Step("which head and feature", "e = h · D + d", f"{h} · {D} + {d}", e, whole=True),
        Step(
            "that number",
            f"\\word{{merged}}_{{{t},{e}}} = c_{{h = {h},{t},{d}}}",
            figure(source.value),
            source.value,
        ),
    )
    sentence = f"Nothing is computed: the heads' features, {D} each, are laid side by side again."
    return _same(
        cell, "merge of heads", sentence, steps=steps, operands=(source,), code=(f"value = {code_of(source.place)}",)
    )


def mask(cell: Cell) -> Explanation:
    """masked: the score, unless the key comes after the query."""
    _, _, q, k = cell.index
    score = cell.number("s", cell.source, *cell.index)
    hidden = cell.hides(q, k)
    value = -math.inf if hidden else score.value
    told = f"\\word{{key }}{k} > \\word{{query }}{q}" if hidden else f"\\word{{key }}{k} ≤ \\word{{query }}{q}"
    equation = f"\\word{{masked}}_{{{q},{k}}}" + ("" if hidden else f" = s_{{{q},{k}}}")
    steps = (Step("", f"{told}     {equation}", figure(value), value),)
    sentence = (
        "The key comes after the query: its score is replaced by −∞, so that softmax gives it no weight at all."
        if hidden
        else "The key does not come after the query, so its score passes."
    )
    code = (f"score = {code_of(score.place)}", f"value = torch.where(torch.tensor({k} > {q}), -torch.inf, score)")
    return _same(
        cell, "causal mask", sentence, steps=steps, operands=(score,), code=code, value=value, behind=cell.score()
    )


def dropout(cell: Cell) -> Explanation:
    """The identity in eval mode; in training 0, or the number divided by 1 − p."""
    source = cell.number("x", cell.source, *cell.index)
    p = float(cell.module.p)
    if not (cell.training and p):
        sentence = f"Dropout (p = {p:g}) is switched off while the model is in eval mode: the number passes as it is."
        steps = (Step("", "y = x", figure(source.value), source.value),)
        return _same(
            cell, "dropout", sentence, steps=steps, operands=(source,), code=(f"value = {code_of(source.place)}",)
        )
    if cell.value == 0:
        steps = (Step("", "y = 0", "0", 0.0),)
        sentence = f"Training mode: this number was drawn to be left out, with probability {p:g}."
        if source.value == 0:
            sentence = "Training mode: a 0 stays 0, whether it was drawn to be left out or not."
        return _same(
            cell, "dropout", sentence, steps=steps, operands=(source,), code=("value = torch.tensor(0.0)",), value=0.0
        )
    kept = source.value / (1 - p)
    steps = (Step("", f"y = \\frac{{x}}{{1 − {p:g}}}", f"\\frac{{{figure(source.value)}}}{{{1 - p:g}}}", kept),)
    sentence = f"Training mode: this number was drawn to stay, and makes up for those left out (p = {p:g})."
    code = (f"value = {code_of(source.place)} / (1 - {p!r})",)
    return Explanation(cell.stage, cell.index, "dropout", sentence, steps, (source,), kept, cell.value, code)


def last(cell: Cell) -> Explanation:
    """last: the logits of the last position."""
    b, v = cell.index
    t = cell.trace.tokens - 1
    logit = cell.number("\\word{logits}", cell.source, b, t, v)
    equation = f"\\word{{last}}_{{{v}}} = \\word{{logits}}_{{{t},{v}}}"
    steps = (Step("", equation, figure(logit.value), logit.value),)
    sentence = f"Nothing is computed: of the logits of all positions, those of the last one, {t}, are taken."
    code = (f"value = {code_of(logit.place)}",)
    found = _same(cell, "last position", sentence, steps=steps, operands=(logit,), code=code)
    return replace(found, onward=probability(cell.along("\\word{last}", cell.stage.name, b, None), v))


def _same(
    cell: Cell,
    operation: str,
    sentence: str,
    *,
    steps: tuple[Step, ...],
    operands: tuple[Operand, ...],
    code: tuple[str, ...],
    value: float | None = None,
    behind: Terms | None = None,
) -> Explanation:
    recomputed = operands[-1].value if value is None else value
    return Explanation(
        cell.stage,
        cell.index,
        operation,
        sentence,
        steps,
        operands,
        recomputed,
        cell.value,
        code,
        tolerance=0.0,
        behind=behind,
    )
