"""What all heads of a model do, on a prompt and on the built-in probe, without a window."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gptviz.analysis.attention import WEIGHTS
from gptviz.analysis.heads import SCORE_NAMES, SCORES, head_scores, probe_ids, uniform_scores
from gptviz.capture import capture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gptviz.model.gpt import GPTModel

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class HeadReport:
    """Scores (L, H, S) on ``ids``, and those of uniform attention (S,); NaN where no token counts for a score."""

    ids: tuple[int, ...]
    scores: Array
    uniform: Array

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows; a score that is not there is null."""
        heads = [
            {"layer": layer, "head": head, **_named(self.scores[layer, head])}
            for layer, head in np.ndindex(*self.scores.shape[:2])
        ]
        return {"ids": list(self.ids), "uniform": _named(self.uniform), "heads": heads}

    def lines(self) -> list[str]:
        """Return it as a table for a terminal, block by block."""
        rows = [("block", "head", *SCORE_NAMES), ("uniform", "", *map(_written, self.uniform.tolist()))]
        for layer, head in np.ndindex(*self.scores.shape[:2]):
            rows.append((str(layer + 1), str(head + 1), *map(_written, self.scores[layer, head].tolist())))
        return [f"{row[0]:>7} {row[1]:>5} " + " ".join(f"{cell:>10}" for cell in row[2:]) for row in rows]


def report_on(model: "GPTModel", ids: "Sequence[int]") -> HeadReport:
    """Run ``model`` on the token IDs and score its heads; of each block no more than its scores are kept."""
    row = np.array(ids)
    digests = {WEIGHTS: lambda weights: head_scores(weights[0].numpy(), row)}
    trace = capture(model, torch.tensor([list(ids)]), budget=0, digests=digests)
    scores = [trace.digests[f"trf_blocks.{layer}.{WEIGHTS}"] for layer in range(model.config.n_layers)]
    return HeadReport(tuple(ids), np.stack(scores), uniform_scores(row))


def report_on_probe(model: "GPTModel") -> HeadReport:
    """Do the same on random tokens that are said twice."""
    ids = probe_ids(model.tok_emb.weight.detach().numpy(), model.config.context_length)
    return report_on(model, ids.tolist())


def definitions() -> list[dict[str, str]]:
    """Return what each score means."""
    return [{"name": score.name, "unit": score.unit, "meaning": score.words} for score in SCORES]


def _named(scores: Array) -> dict[str, float | None]:
    values = [None if np.isnan(value) else float(value) for value in scores]
    return dict(zip(SCORE_NAMES, values, strict=True))


def _written(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"
