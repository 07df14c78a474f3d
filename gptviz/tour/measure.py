"""What the tour says of things that no pass computes: counted and computed in the worker, by what the labs use."""

from collections.abc import Mapping
from types import MappingProxyType

from gptviz.model.config import GPTConfig
from gptviz.model.parameters import count_parameters
from gptviz.tour.facts import Bytes, Part


def measure(config: GPTConfig) -> Mapping[str, object]:
    """Compute all figures whose names begin with ``parameters.`` or ``lab.``, for a model of ``config``."""
    return MappingProxyType({**_parameters(config)})


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
