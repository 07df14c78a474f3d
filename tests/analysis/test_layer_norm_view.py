"""What a LayerNorm does to one token, against torch."""

import numpy as np
import pytest
import torch

from gptviz.analysis.layer_norm import layer_norm_view, moments
from gptviz.capture import Trace

SOURCES = {
    "trf_blocks.0.norm1": "drop_emb",
    "trf_blocks.1.norm1": "trf_blocks.0.shortcut2",
    "trf_blocks.0.norm2": "trf_blocks.0.shortcut1",
    "trf_blocks.1.norm2": "trf_blocks.1.shortcut1",
    "final_norm": "trf_blocks.1.shortcut2",
}


@pytest.mark.parametrize(("norm", "source"), list(SOURCES.items()))
def test_before_and_after_are_the_models_tensors(trace: Trace, norm: str, source: str) -> None:
    view = layer_norm_view(trace, norm, token=2, row=1)

    assert view is not None
    assert view.source == source
    assert np.array_equal(view.before, trace[source][1, 2].numpy())
    assert np.array_equal(view.after, trace[norm][1, 2].numpy())


@pytest.mark.parametrize(("norm", "source"), list(SOURCES.items()))
def test_the_halves_are_those_of_torchs_layer_norm(trace: Trace, norm: str, source: str) -> None:
    view = layer_norm_view(trace, norm, token=3)
    before = trace[source][0, 3].double()

    assert view is not None
    normalised = torch.nn.functional.layer_norm(before, (32,), eps=1e-5)
    assert np.allclose(view.normalised, normalised.numpy(), rtol=1e-10, atol=1e-12)
    whole = torch.nn.functional.layer_norm(
        before, (32,), torch.from_numpy(view.scale).double(), torch.from_numpy(view.shift).double(), eps=1e-5
    )
    assert np.allclose(view.after, whole.numpy(), atol=1e-5)
    assert view.eps == 1e-5
    assert 0 < view.error < 1e-5


def test_the_moments_are_mean_and_population_variance(trace: Trace) -> None:
    view = layer_norm_view(trace, "final_norm", token=0)
    before = trace["trf_blocks.1.shortcut2"][0, 0].double()

    assert view is not None
    assert view.moments_before.mean == pytest.approx(before.mean().item(), rel=1e-12)
    assert view.moments_before.variance == pytest.approx(before.var(unbiased=False).item(), rel=1e-12)
    assert view.moments_normalised.mean == pytest.approx(0, abs=1e-12)
    assert view.moments_normalised.variance == pytest.approx(1, abs=1e-3)
    assert view.moments_after.variance == pytest.approx(view.after.astype(float).var(), rel=1e-12)


def test_the_error_tells_when_the_output_is_not_the_formulas(tampered, trace: Trace) -> None:
    wrong = tampered("final_norm", lambda tensor: tensor[0, 1, 7].add_(0.5))

    view = layer_norm_view(wrong, "final_norm", token=1)

    assert view is not None
    assert view.error == pytest.approx(0.5, abs=1e-4)


def test_a_norm_of_a_block_that_is_not_at_hand_is_none(lean: Trace) -> None:
    assert layer_norm_view(lean, "trf_blocks.1.norm1", token=0) is None
    assert layer_norm_view(lean, "final_norm", token=0) is not None


def test_the_chapters_example_has_the_printed_moments(figures: dict) -> None:
    printed = figures["layernorm_example_seed_123"]

    for activations, mean, variance in zip(
        printed["activations"], printed["mean"], printed["variance_population"], strict=True
    ):
        found = moments(np.array(activations))
        assert (found.mean, found.variance) == (pytest.approx(mean, abs=1e-6), pytest.approx(variance, abs=1e-6))
