"""``gptviz trace``: one pass with all its stages and checks."""

import argparse
from typing import TYPE_CHECKING, Any

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import (
    TOP,
    UsageError,
    add_json,
    candidate_json,
    encode_prompt,
    listed,
    piece_json,
    print_json,
)

if TYPE_CHECKING:
    from gptviz.analysis.check import Check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("texts", metavar="TEXT", nargs="+", help="several texts make one batch of equal token counts")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.candidates import top_candidates
    from gptviz.analysis.checks import causality_check, run_checks
    from gptviz.capture import capture, perturbed_pass

    choice = chosen(options)
    tokenizer = choice.tokenizer
    rows = [encode_prompt(choice, text, choice.config.context_length) for text in options.texts]
    counts = [len(row) for row in rows]
    if len(set(counts)) > 1:
        raise UsageError(f"the texts of a batch need equal numbers of tokens, but these have {listed(counts)}")
    model = choice.model
    trace = capture(model, torch.tensor(rows))
    tokens = [{"row": row, **piece_json(piece)} for row, ids in enumerate(rows) for piece in tokenizer.pieces(ids)]
    top = [
        {"row": row, **candidate_json(candidate, tokenizer)}
        for row, logits in enumerate(trace.array("last"))
        for candidate in top_candidates(logits, TOP)
    ]
    stages = [
        {
            "index": record.stage.index,
            "name": record.name,
            "kind": record.stage.operation,
            "input_shape": list(record.input_shape),
            "output_shape": list(record.output_shape),
            "parameters": record.parameters,
            "ms": round(record.ms, 4),
        }
        for record in trace.records
    ]
    checks = (*run_checks(trace), causality_check(trace, perturbed_pass(model, trace.ids)))
    if options.json:
        shown = [_check(check) for check in checks]
        print_json({"model": choice.described, "tokens": tokens, "stages": stages, "top": top, "checks": shown})
        return 0
    for record in trace.records:
        shapes = f"{record.input_shape} → {record.output_shape}"
        print(
            f"{record.stage.index:>4}  {record.name:<32} {record.stage.operation:<18} {shapes:<44} {record.ms:8.2f} ms"
        )
    for entry in top:
        print(f"{entry['probability'] * 100:9.5f} %  {entry['logit']:9.5f}  {entry['id']:>6}  {entry['text']!r}")
    for check in checks:
        print(_check_line(check))
    return 0


def _check(check: "Check") -> dict[str, Any]:
    finite = check.max_error is not None and check.max_error < float("inf")
    error = check.max_error if finite else None  # JSON has no infinity
    return {"name": check.name, "max_error": error, "ok": check.ok, "where": check.where, "note": check.note}


def _check_line(check: "Check") -> str:
    if check.max_error is None:
        return f"not run  {check.name}: {check.note}"
    verdict = "ok" if check.ok else "BROKEN"
    return f"{verdict:<7}  {check.name}: largest error {check.max_error:.2g} at {check.where}"
