"""What the worker measures on a trace. torch and NumPy are imported inside the functions, as in ``jobs``."""

from typing import TYPE_CHECKING

from gptviz.session.state import Probe
from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.capture.trace import Array, Trace


def measure_heads(trace: "Trace", layer: int, context: JobContext) -> "tuple[Array, ...]":
    """Score the heads of block ``layer`` (B, H, S); with block 0 also what uniform attention has in each row."""
    from gptviz.analysis.heads import block_scores, uniform_scores

    scores = block_scores(trace.with_block_if_it_can(layer), layer)
    return (scores, *(uniform_scores(row) for row in trace.array("ids"))) if layer == 0 else (scores,)


def measure_surprisal(trace: "Trace", context: JobContext) -> tuple[tuple[float, ...], ...]:
    """Return the surprisal of each token in bits, for each row of the batch."""
    from gptviz.analysis.surprisal import surprisals

    rows = zip(trace.array("out_head"), trace.array("ids"), strict=True)
    return tuple(tuple(surprisals(logits, ids, lambda: context.report("")).tolist()) for logits, ids in rows)


def probe_heads(trace: "Trace", context: JobContext) -> Probe:
    """Run the trace's model on random tokens said twice; of each block no more than the attention is kept."""
    import numpy as np
    import torch

    from gptviz.analysis.attention import WEIGHTS
    from gptviz.analysis.heads import head_scores, probe_ids, uniform_scores
    from gptviz.capture.recorder import capture

    model = trace.replay.model
    model.eval()
    ids = probe_ids(model.tok_emb.weight.detach().numpy(), model.config.context_length)
    digests = {WEIGHTS: lambda weights: weights[0].numpy()}
    run = capture(model, torch.from_numpy(ids)[None], budget=0, cancel=context.cancel, digests=digests)
    maps = np.stack([run.digests[f"trf_blocks.{layer}.{WEIGHTS}"] for layer in range(model.config.n_layers)])
    scores = np.stack([head_scores(weights, ids) for weights in maps])
    return Probe(tuple(ids.tolist()), scores, uniform_scores(ids), maps)
