"""From a question to its answer: the number, its shares, and both as JSON."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gptviz.analysis.attribution import (
    Attribution,
    Share,
    StreamParts,
    logit_attribution,
    read_parts,
    stream_attribution,
)
from gptviz.analysis.attribution_question import Question
from gptviz.analysis.candidates import runner_up
from gptviz.analysis.operands import stream_stages
from gptviz.capture.errors import NotRecordedError

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace


@dataclass(frozen=True)
class Answer:
    """What was asked, with every choice made, and what it comes from."""

    question: Question
    attribution: Attribution


def answer(trace: "Trace", parts: StreamParts, question: Question) -> Answer | None:
    """Take apart what ``question`` asks for; None while a block that it needs was not read.

    What the model does not have is replaced by the default choice: another model's last block, for example.

    Raises
    ------
    NotRecordedError
        If it takes something that was not recorded, and the model is not loaded.
    """
    if question.kind == "stream":
        return _stream_answer(trace, parts, question)
    config = trace.config
    logits = trace.array("out_head")[parts.row, parts.position]
    token = question.token
    if token is None or not 0 <= token < config.vocab_size:
        token = int(logits.argmax())
    minus = None
    if question.kind == "lead":
        minus = question.minus
        if minus is None or minus == token or not 0 <= minus < config.vocab_size:
            minus = runner_up(logits, token)
    found = logit_attribution(trace, parts, token, minus)
    return None if found is None else Answer(replace(question, token=token, minus=minus), found)


def full_answer(trace: "Trace", row: int, position: int, question: Question) -> Answer:
    """Read all parts at ``position`` of sequence ``row``, and answer."""
    found = answer(trace, read_parts(trace, row, position), question)
    assert found is not None
    return found


def _stream_answer(trace: "Trace", parts: StreamParts, question: Question) -> Answer | None:
    stages = stream_stages(trace.config)
    stage = question.stage if question.stage in stages else stages[-1]
    point = parts.point(stage)
    if point is None:
        if trace.is_recorded and not trace.has(stage):
            raise NotRecordedError(trace.missing(stage))
        return None
    feature = question.feature
    if feature is None or not 0 <= feature < trace.config.emb_dim:
        feature = int(np.abs(point.values).argmax())
    found = stream_attribution(parts, stage, feature)
    return None if found is None else Answer(replace(question, stage=stage, feature=feature), found)


def as_json(found: Answer, position: int, text_of: Callable[[int], str]) -> dict[str, Any]:
    """Describe an answer at token ``position`` in what JSON knows; a number that is not finite is null."""
    question, attribution = found.question, found.attribution
    asked: dict[str, Any] = {"kind": question.kind, "position": position}
    if question.kind == "stream":
        asked |= {"stage": question.stage, "feature": question.feature}
    else:
        asked["token"] = {"id": question.token, "text": text_of(question.token or 0)}
    if question.minus is not None:
        asked["minus"] = {"id": question.minus, "text": text_of(question.minus)}
    return {
        "question": asked,
        "value": _finite(attribution.captured),
        "sum": _finite(attribution.total),
        "difference": _finite(attribution.difference),
        "ok": attribution.holds,
        "frozen_deviation": _finite(attribution.deviation),
        "parts": [_share(share) for share in attribution.shares],
    }


def as_lines(found: Answer) -> list[str]:
    """Write an answer for a person: a line for each share, then the sum and the captured value."""
    attribution = found.attribution
    lines = []
    for share in attribution.shares:
        lines.append(_line(share.value, share.part.title, share.part.stage))
        lines += [_line(inner.value, f"  {inner.part.title}", inner.part.stage) for inner in share.inner]
    lines.append(_line(attribution.total, "sum", ""))
    verdict = "ok" if attribution.holds else "BROKEN: more than rounding"
    lines.append(_line(attribution.captured, "captured", f"difference {attribution.difference:.2g}, {verdict}"))
    if attribution.deviation is not None:
        lines.append(f"LayerNorm's scale is frozen at the whole stream's deviation {attribution.deviation:.6g}")
    return lines


def _line(value: float, title: str, note: str) -> str:
    return f"{value:>12.6f}  {title:<24} {note}".rstrip()


def _share(share: Share) -> dict[str, Any]:
    part = share.part
    described: dict[str, Any] = {
        "kind": part.kind.value,
        "block": part.layer,
        "head": part.head,
        "stage": part.stage,
        "value": _finite(share.value),
    }
    if share.inner:
        described["parts"] = [_share(inner) for inner in share.inner]
    return described


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
