"""What is in the file of a run, without its tensors."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gptviz.session.recorded_view import RecordedView

if TYPE_CHECKING:
    from gptviz.runs.header import PassEntry


def description(path: Path) -> dict[str, Any]:
    """Return what the file at ``path`` holds, for JSON; all of the file is checked.

    Raises
    ------
    RunFileError
        If it is no run file, damaged, or newer than this gptviz.
    """
    from gptviz.session.run_opening_jobs import checked_header, tokenizer_of  # noqa: PLC0415 - imports torch

    header, view = checked_header(path)
    tokenizer, generation = tokenizer_of(header), view.generation
    branches = []
    for place, branch in enumerate(generation.branches):
        ids = [generation.nodes[node].chosen.id for node in generation.path(place)]
        branches.append({"name": branch.name, "ids": ids, "text": tokenizer.decode(ids)})
    return {
        "format": 1,
        "gptviz": header.gptviz,
        "written": header.written,
        "bytes": path.stat().st_size,
        "prompts": list(view.prompts),
        "rows": [list(row) for row in header.passes[0].rows],
        "model": _model(view),
        "weights_sha256": header.weights,
        "branches": branches,
        "branch": generation.branch,
        "decoding": asdict(view.decoding),
        "passes": [_pass(entry, header.config.n_layers) for entry in header.passes],
        "checks": [{"name": check.name, "ok": check.ok} for check in view.checks.results],
        "view": {"selection": asdict(view.selection), "options": asdict(view.options)},
    }


def _model(view: RecordedView) -> dict[str, Any]:
    model = view.model
    return {
        "title": model.title,
        "seed": model.seed,
        "trained": model.trained,
        "source": model.source,
        "format": model.format,
        "stored_as": model.stored_as,
        "vocabulary": model.vocabulary,
        "parameters": model.parameters,
        **asdict(model.config),
    }


def _pass(entry: "PassEntry", layers: int) -> dict[str, Any]:
    kept = set(entry.kept)
    blocks = [layer for layer in range(layers) if f"trf_blocks.{layer}.drop_shortcut2" in kept]
    return {"tokens": len(entry.rows[0]), "rows": len(entry.rows), "blocks": blocks, "ms": sum(entry.ms)}
