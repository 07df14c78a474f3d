"""The words and bars of an answer: which part added how much, and what became of the sum."""

from collections.abc import Sequence

from gptviz.analysis.attribution import Attribution, Kind, Part, Share, by_size
from gptviz.analysis.attribution_answer import Answer
from gptviz.capture.stages import Family
from gptviz.widgets.text import number
from gptviz.widgets.waterfall_model import WaterfallRow

TOTAL = "total"


def key_of(part: Part) -> str:
    """Return what tells a part from all others."""
    return f"{part.kind}/{part.layer}/{part.head}"


def parts_by_key(attribution: Attribution) -> dict[str, Part]:
    """List the parts of an answer, heads and biases included."""
    shares = [more for share in attribution.shares for more in (share, *share.inner)]
    return {key_of(share.part): share.part for share in shares}


def rows_of(answer: Answer, title: str, ordered: str) -> tuple[WaterfallRow, ...]:
    """Return a row for each share and one for their sum, ``title``; ``ordered`` by execution or by size.

    In the order of execution each bar begins where the one before ended; by size, each begins at zero.
    """
    attribution = answer.attribution
    joined = ordered == "execution"
    shares = attribution.shares if joined else by_size(attribution.shares)
    captured = attribution.captured
    total = WaterfallRow(
        TOTAL,
        title,
        Family.SHORTCUT.value if answer.question.kind == "stream" else Family.HEAD.value,
        0.0,
        captured,
        number(captured, 5),
        f"{title}: {number(captured, 7)}, as the model computed it",
        total=True,
    )
    return (*_rows(shares, 0.0, captured, joined), total)


def _rows(shares: Sequence[Share], start: float, whole: float, joined: bool) -> tuple[WaterfallRow, ...]:
    rows = []
    for share in shares:
        begin = start if joined else 0.0
        end = begin + share.value
        rows.append(
            WaterfallRow(
                key_of(share.part),
                share.part.title,
                share.part.family.value,
                begin,
                end,
                signed(share.value),
                _tip(share, whole),
                _rows(share.inner, begin, whole, joined),
            )
        )
        start = end
    return tuple(rows)


def _tip(share: Share, whole: float) -> str:
    part = share.part
    name = part.title
    if part.kind in (Kind.HEAD, Kind.BIAS) and part.layer is not None:
        name = f"block {part.layer + 1} attention, {name}"
    lines = [f"{name}: {signed(share.value, 7)}"]
    if whole and abs(share.value / whole) < 1000:
        lines.append(f"{number(100 * share.value / whole, 3)} % of the value")
    if share.inner:
        left = share.value - sum(inner.value for inner in share.inner)
        lines.append(f"its heads and bias differ from it by {number(left, 2)}")
    lines.append(f"Click: {part.stage} · double click or Enter opens it")
    return "\n".join(lines)


def signed(value: float, digits: int = 4) -> str:
    """Write a number with its sign, also if that is a plus."""
    written = number(value, digits)
    return f"+{written}" if value > 0 else written


def figures_of(attribution: Attribution) -> list[tuple[str, str]]:
    """Name the sum, the captured value and what is left."""
    return [
        ("sum of the parts", number(attribution.total, 7)),
        ("captured", number(attribution.captured, 7)),
        ("difference", number(attribution.difference, 2)),
    ]


def note_of(attribution: Attribution) -> str:
    """Say how far the shares can be trusted."""
    if attribution.deviation is None:
        return "The residual stream is a sum: these shares are exact."
    deviation = number(attribution.deviation)
    return f"LayerNorm's scale is frozen at σ = {deviation}, although σ depends on all parts together."


def problem_of(attribution: Attribution) -> str:
    """Say that the parts don't explain the value; empty if they do."""
    if attribution.holds:
        return ""
    return (
        f"✗ The parts don't add up: {number(attribution.difference, 3)} of {number(attribution.captured)} is "
        "unexplained, more than rounding. A hook or changed weights may alter the stream; run the prompt again."
    )
