"""What the attention pane draws, against the trace's tensors."""

import numpy as np
import pytest
import torch

from gptviz.analysis.attention import head_map, layer_previews, tile_maximum, without_future
from gptviz.capture import Trace, capture
from gptviz.model import GPTModel

VIEWS = ["scores", "scaled", "masked", "weights"]


@pytest.mark.parametrize("view", VIEWS)
def test_a_heads_map_is_the_models_tensor(trace: Trace, view: str) -> None:
    shown = head_map(trace, layer=1, head=1, view=view, row=1)

    assert np.array_equal(shown, trace[f"trf_blocks.1.att.{view}"][1, 1].numpy())


def test_a_map_of_a_block_that_is_not_at_hand_is_none(lean: Trace) -> None:
    assert head_map(lean, 0, 0, "weights") is None
    assert layer_previews(lean, 0) is None


def test_previews_are_the_weights_of_all_heads(trace: Trace) -> None:
    assert np.array_equal(layer_previews(trace, 1, row=1), trace["trf_blocks.1.att.weights"][1].numpy())


def test_previews_come_from_the_digest_where_the_block_is_not_at_hand(trace: Trace, taught_model: GPTModel) -> None:
    lean = capture(
        taught_model, trace.ids, budget=0, digests={"att.weights": lambda weights: tile_maximum(weights.numpy())}
    )

    assert not lean.has_block(1)
    assert np.array_equal(layer_previews(lean, 1, row=1), trace["trf_blocks.1.att.weights"][1].numpy())


def test_a_small_map_is_its_own_preview() -> None:
    weights = np.arange(9.0).reshape(3, 3)

    assert tile_maximum(weights, size=3) is weights


def test_a_large_map_keeps_the_maximum_of_each_tile() -> None:
    weights = np.arange(25.0).reshape(1, 5, 5)

    reduced = tile_maximum(weights, size=3)  # tiles of 2 x 2, smaller ones at the right and below

    assert reduced.tolist() == [[[6.0, 8.0, 9.0], [16.0, 18.0, 19.0], [21.0, 23.0, 24.0]]]


@pytest.mark.parametrize(("T", "t"), [(64, 64), (65, 33), (128, 64), (129, 43), (1000, 63), (1024, 64)])
def test_a_preview_is_never_larger_than_64(T: int, t: int) -> None:
    weights = torch.rand(2, T, T, generator=torch.Generator().manual_seed(3))

    reduced = tile_maximum(weights.numpy())

    assert reduced.shape == (2, t, t)
    step = -(-T // 64)
    pooled = torch.nn.functional.max_pool2d(weights, step, ceil_mode=True)
    assert np.array_equal(reduced, pooled.numpy())


def test_the_future_has_no_number() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.0, 0.5]])

    shown = without_future(weights)

    assert np.isnan(shown).tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    assert shown[2].tolist() == [0.5, 0.0, 0.5]
    assert not np.isnan(weights).any()
