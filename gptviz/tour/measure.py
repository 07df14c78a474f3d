"""What the tour says of things that no pass computes: counted and computed in the worker, by what the labs use."""

from collections.abc import Mapping
from types import MappingProxyType

from gptviz.labs.feed_forward_sizes import Sizes
from gptviz.labs.gelu import curves
from gptviz.labs.gradients import gradient_flow
from gptviz.labs.layer_norm import Settings, chapter_batch, normalise
from gptviz.model.config import GPTConfig
from gptviz.model.parameters import count_parameters
from gptviz.tour.facts import Bytes, Part, rounded

_SEED, _DEPTH, _WIDTH = 123, 5, 3  # of the network for gradients, as the lab begins


def measure(config: GPTConfig) -> Mapping[str, object]:
    """Compute all figures whose names begin with ``parameters.`` or ``lab.``, for a model of ``config``."""
    return MappingProxyType({**_parameters(config), **_layer_norm(), **_gelu(), **_feed_forward(), **_gradients()})


def _parameters(config: GPTConfig) -> dict[str, object]:
    count = count_parameters(config)
    parts = count.components
    return {
        "parameters.total": count.total,
        "parameters.tied": count.total_tied,
        "parameters.tokens": parts["tok_emb"],
        "parameters.positions": parts["pos_emb"],
        "parameters.blocks": parts["trf_blocks"],
        "parameters.block": parts["trf_blocks"] // config.n_layers,
        "parameters.blocks_share": Part(parts["trf_blocks"] / count.total),
        "parameters.norm": parts["final_norm"],
        "parameters.head": parts["out_head"],
        "parameters.memory": Bytes(4 * count.total),
    }


def _layer_norm() -> dict[str, object]:
    row = normalise(chapter_batch()[0].tolist(), Settings())
    return {
        "lab.norm.numbers": len(row.row),
        "lab.norm.mean": row.before.mean,
        "lab.norm.variance": row.before.variance,
        "lab.norm.variance_after": row.after.variance,
        "lab.norm.eps": rounded(row.settings.eps),
    }


def _gelu() -> dict[str, object]:
    drawn = curves()
    return {"lab.gelu.lowest_at": drawn.lowest[0], "lab.gelu.lowest": drawn.lowest[1]}


def _feed_forward() -> dict[str, object]:
    sizes = Sizes()
    return {
        "lab.feed.input": (sizes.batch, sizes.tokens, sizes.features),
        "lab.feed.middle": (sizes.batch, sizes.tokens, sizes.expand_out),
        "lab.feed.hidden": sizes.expand_out,
        "lab.feed.features": sizes.features,
    }


def _gradients() -> dict[str, object]:
    flow = gradient_flow(_SEED, _DEPTH, _WIDTH)
    plain, short = flow.plain, flow.with_shortcuts
    return {
        "lab.gradients.layers": len(plain.gradients),
        "lab.gradients.plain_first": plain.gradients[0],
        "lab.gradients.plain_last": plain.gradients[-1],
        "lab.gradients.plain_ratio": Part(plain.ratio),
        "lab.gradients.short_first": short.gradients[0],
        "lab.gradients.short_last": short.gradients[-1],
        "lab.gradients.short_ratio": Part(short.ratio),
    }
