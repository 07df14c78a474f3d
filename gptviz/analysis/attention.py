"""Attention maps of a trace, ready to be drawn."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

Array = np.ndarray[Any, np.dtype[Any]]

PREVIEW_SIZE = 64  # cells along a side of a preview, at most
WEIGHTS = "att.weights"


def head_map(trace: "Trace", layer: int, head: int, view: str, row: int = 0) -> Array | None:
    """Return one head's map (T, T), queries down, keys across; None while its block is not at hand.

    ``view`` is one of scores, scaled, masked, weights.
    """
    values = weights_at_hand(trace, layer) if view == "weights" else None
    name = f"trf_blocks.{layer}.att.{view}"
    if values is None and trace.has(name):
        values = trace.array(name)
    if values is None:
        return None
    result: Array = values[row, head]
    return result


def weights_at_hand(trace: "Trace", layer: int) -> Array | None:
    """Return the attention weights (B, H, T, T) of a block; None while they are not at hand.

    Where the block can't run again, its previews are as good: up to PREVIEW_SIZE tokens they are the weights.
    """
    name = f"trf_blocks.{layer}.{WEIGHTS}"
    if trace.has(name):
        return trace.array(name)
    preview = None if trace.can_replay else trace.digests.get(name)
    return preview if preview is not None and preview.shape[-1] == trace.tokens else None


def layer_previews(trace: "Trace", layer: int, row: int = 0) -> Array | None:
    """Return the attention weights of all heads of a layer (H, t, t) with t at most PREVIEW_SIZE.

    Where T is larger, each cell is the largest weight of the tile that it stands for.
    """
    name = f"trf_blocks.{layer}.{WEIGHTS}"
    digest = trace.digests.get(name)
    if digest is not None:
        result: Array = digest[row]
        return result
    if not trace.has(name):
        return None
    weights: Array = trace.array(name)[row]
    return tile_maximum(weights)


def tile_maximum(weights: Array, size: int = PREVIEW_SIZE) -> Array:
    """Reduce maps (..., T, T) to (..., t, t), t ≤ ``size``, keeping the maximum of each tile.

    Tiles are ⌈T / size⌉ cells wide; those at the right and lower edge may be smaller.
    """
    T = weights.shape[-1]
    if size >= T:
        return weights
    step = -(-T // size)
    rows = np.stack([weights[..., start : start + step, :].max(axis=-2) for start in range(0, T, step)], axis=-2)
    return np.stack([rows[..., start : start + step].max(axis=-1) for start in range(0, T, step)], axis=-1)


def without_future(weights: Array) -> Array:
    """Return a map (T, T) in which the masked cells, above the diagonal, hold NaN instead of softmax's zero."""
    result: Array = weights.copy()
    result[np.triu(np.ones(result.shape, dtype=bool), 1)] = np.nan
    return result
