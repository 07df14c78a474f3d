"""What the panes show, as tables for files: every number as it was computed, every text as it is."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from gptviz.analysis.table import Cell, Row, Table, table_of

if TYPE_CHECKING:
    from gptviz.analysis.arithmetic import Explanation
    from gptviz.analysis.arithmetic.parts import Term
    from gptviz.analysis.attribution import Attribution, Share
    from gptviz.analysis.candidates import Ranking
    from gptviz.analysis.check import Check
    from gptviz.analysis.comparison import StageDifference
    from gptviz.analysis.logit_lens import LensReading
    from gptviz.capture.trace import Array, StageRecord
    from gptviz.labs.parameters import TensorRow
    from gptviz.session.costs import CostRow
    from gptviz.session.generation import GeneratedStep
    from gptviz.tokenizer import Piece

TokenText = Callable[[int], str]


def stages_table(records: "Sequence[StageRecord]") -> Table:
    """Every stage that ran: shapes, parameters, time."""
    header = ("index", "stage", "operation", "input shape", "output shape", "parameters", "time (ms)")
    return table_of(
        "shape-trace",
        header,
        (
            (r.stage.index, r.name, r.stage.operation, str(r.input_shape), str(r.output_shape), r.parameters, r.ms)
            for r in records
        ),
    )


def ranking_table(ranked: "Ranking", text: TokenText) -> Table:
    """The likeliest next tokens, likeliest first."""

    def rows() -> Iterable[Row]:
        for place in range(len(ranked)):
            one = ranked[place]
            yield place + 1, one.id, text(one.id), one.probability, one.logit

    return Table("next-token", ("rank", "token ID", "token", "probability", "logit"), len(ranked), rows)


def checks_table(checks: "Sequence[Check]") -> Table:
    """Every check with its largest error, what is allowed, and where it is largest."""
    header = ("check", "largest error", "allowed", "holds", "where", "note")
    return table_of(
        "checks",
        header,
        (
            (c.name, c.max_error, c.tolerance, "" if c.ok is None else str(c.ok).lower(), c.where, c.note)
            for c in checks
        ),
    )


def heads_table(scores: "Array", names: Sequence[str], units: Sequence[str]) -> Table:
    """The scores (L, H, S) of all heads; those that are not known yet are empty."""
    header = ("block", "head", *(f"{name} ({unit or 'share'})" for name, unit in zip(names, units, strict=True)))
    blocks, heads, _ = scores.shape

    def rows() -> Iterable[Row]:
        for layer in range(blocks):
            for head in range(heads):
                known = (None if score != score else score for score in scores[layer, head].tolist())  # noqa: PLR0124
                yield (layer + 1, head + 1, *known)

    return Table("heads", header, blocks * heads, rows)


def lens_table(reading: "LensReading", pieces: "Sequence[Piece]", text: TokenText) -> Table:
    """The likeliest tokens after each block at each position, as far as they were read."""
    header = ("stage", "position", "token", "rank", "predicted ID", "predicted token", "probability", "logit")
    ranks = reading.ids.shape[2]

    def rows() -> Iterable[Row]:
        for place, stage in enumerate(reading.stages):
            for position in range(reading.tokens):
                if not reading.has(place, position):
                    continue
                at = place, position
                found = reading.ids[at].tolist(), reading.probabilities[at].tolist(), reading.logits[at].tolist()
                for rank, (token, probability, logit) in enumerate(zip(*found, strict=True), 1):
                    yield stage, position, pieces[position].text, rank, token, text(token), probability, logit

    return Table("lens", header, reading.done * ranks, rows)


def differences_table(differences: "Sequence[StageDifference]") -> Table:
    """How the stages of two runs, A and B, differ."""
    header = ("stage", "shape A", "shape B", "‖B − A‖ / ‖A‖", "largest |B − A|", "differing tokens", "note")
    return table_of(
        "compare",
        header,
        (
            (d.name, _shape(d.shape_a), _shape(d.shape_b), d.relative, d.largest, d.differing, d.note)
            for d in differences
        ),
    )


def attribution_table(attribution: "Attribution") -> Table:
    """What each part added, heads and biases of an attention below it, and the number that they add up to."""
    header = ("part", "block", "head", "stage", "contribution")

    def row(share: "Share", of: str = "") -> Row:
        part = share.part
        layer, head = (None if at is None else at + 1 for at in (part.layer, part.head))
        return f"{of}{part.title}", layer, head, part.stage, share.value

    rows: list[Row] = []
    for share in attribution.shares:
        rows.append(row(share))
        rows += [row(inner, f"{share.part.title}, of which ") for inner in share.inner]
    rows.append(("sum of the parts", None, None, "", attribution.total))
    rows.append(("as the model computed it", None, None, "", attribution.captured))
    return table_of("where-from", header, rows)


def operands_table(explanation: "Explanation") -> Table:
    """The number, what it was made from, and the terms of its sum."""
    header = ("what", "symbol", "name", "index", "value", "left operand", "right operand")
    first: list[Row] = [
        ("the model's number", "", explanation.stage.name, str(explanation.index), explanation.captured, None, None),
        ("recomputed", "", "", "", explanation.recomputed, None, None),
        *(("made from", o.symbol, o.place.name, str(o.place.index), o.value, None, None) for o in explanation.operands),
    ]
    terms = explanation.terms
    if terms is None:
        return table_of("arithmetic", header, first)

    def rows() -> Iterable[Row]:
        yield from first
        for place in range(len(terms)):
            yield _term(terms.term(place))

    return Table("arithmetic", header, len(first) + len(terms), rows)


def _term(term: "Term") -> Row:
    left, right = term.left, term.right
    names = [operand.place for operand in (left, right) if operand is not None]
    symbols = " · ".join(operand.symbol for operand in (left, right) if operand is not None)
    index = " · ".join(str(place.index) for place in names)
    return (
        "term",
        symbols,
        " · ".join(place.name for place in names),
        index,
        term.value,
        None if left is None else left.value,
        None if right is None else right.value,
    )


def steps_table(steps: "Sequence[GeneratedStep]", text: TokenText) -> Table:
    """The generated tokens of the present branch, with the likeliest others of each step."""
    most = max((len(step.candidates) for step in steps), default=0)
    ranked = (f"{what} {rank}" for rank in range(1, most + 1) for what in ("candidate", "its probability", "its logit"))
    header = (
        "step",
        "token ID",
        "token",
        "probability",
        "logit",
        "chance of the draw",
        "context (tokens)",
        "decoding",
        "time (ms)",
        *ranked,
    )

    def rows() -> Iterable[Row]:
        for number, step in enumerate(steps, 1):
            one = step.chosen
            others: list[Cell] = [cell for c in step.candidates for cell in (text(c.id), c.probability, c.logit)]
            others += [None] * (3 * most - len(others))
            how = "picked" if step.picked else step.decoding.brief
            yield (
                number,
                one.id,
                text(one.id),
                one.probability,
                one.logit,
                step.chance,
                step.context_tokens,
                how,
                step.ms,
                *others,
            )

    return Table("generation", header, len(steps), rows)


def costs_table(steps: "Sequence[GeneratedStep]", rows: "Sequence[CostRow]") -> Table:
    """What each step cost as it ran, and measured without and with the cache."""
    header = (
        "step",
        "as run (ms)",
        "positions computed",
        "context (tokens)",
        "without cache (ms)",
        "with cache (ms)",
        "positions computed with cache",
        "largest difference of a logit",
        "same token",
    )
    measured: list[Row] = [
        (row.context_tokens, row.plain_ms, row.cached_ms, row.computed, row.difference, str(row.agrees).lower())
        for row in rows
    ]
    measured += [(step.context_tokens, None, None, None, None, None) for step in steps[len(rows) :]]
    return table_of(
        "loop-cost",
        header,
        (
            (number, step.ms, step.computed, *found)
            for number, (step, found) in enumerate(zip(steps, measured, strict=False), 1)
        ),
    )


def parameters_table(tensors: "Sequence[TensorRow]", total: int) -> Table:
    """Every parameter tensor of a configuration."""
    header = ("component", "tensor", "shape", "formula", "with numbers", "tensors", "parameters", "share", "set by")
    return table_of(
        "parameters",
        header,
        (
            (
                row.component,
                row.name,
                str(row.shape),
                row.symbolic,
                row.numeric,
                row.times,
                row.total,
                row.total / total if total else None,
                " ".join(row.settings),
            )
            for row in tensors
        ),
    )


def _shape(sizes: tuple[int, ...] | None) -> str | None:
    return None if sizes is None else str(sizes)
