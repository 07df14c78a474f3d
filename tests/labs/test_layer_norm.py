"""LayerNorm by hand, and what batch normalisation averages over."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gptviz.labs.layer_norm import Settings, both_ways, chapter_batch, layer_norm, normalise

CHAPTER = Settings()


def test_the_chapter_has_the_same_activations(figures: dict[str, Any]) -> None:
    chapter = np.array(figures["layernorm_example_seed_123"]["activations"])

    assert chapter_batch() == pytest.approx(chapter, abs=5e-7)


@pytest.mark.parametrize("place", [0, 1])
def test_the_chapter_has_the_same_steps(figures: dict[str, Any], place: int) -> None:
    chapter = figures["layernorm_example_seed_123"]

    steps = layer_norm(None, place, CHAPTER).steps

    assert steps.before.mean == pytest.approx(chapter["mean"][place], abs=5e-7)
    assert steps.before.variance == pytest.approx(chapter["variance_population"][place], abs=5e-7)
    assert steps.normalised == pytest.approx(np.array(chapter["normalized"][place]), abs=5e-6)
    assert steps.after.variance == pytest.approx(chapter["variance_after"][place], abs=5e-7)
    assert steps.after.mean == pytest.approx(0.0, abs=1e-6)


def test_the_variance_after_is_short_of_one_by_the_share_of_eps() -> None:
    steps = layer_norm(None, 0, CHAPTER).steps

    assert steps.predicted_variance == pytest.approx(steps.after.variance, abs=1e-6)
    assert layer_norm(None, 0, Settings(eps=0.0)).steps.after.variance == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("settings", [CHAPTER, Settings(eps=1e-3, scale=2.5, shift=-1.0), Settings(eps=0.0)])
def test_the_steps_are_the_models_own(settings: Settings) -> None:
    row = [0.3, -2.0, 5.0, 0.0]
    ours = normalise(row, settings)
    wanted = functional.layer_norm(torch.tensor(row), (4,), eps=settings.eps) * settings.scale + settings.shift

    assert ours.module_error == 0.0
    assert ours.output == pytest.approx(wanted.numpy(), abs=1e-6)


def test_the_sample_variance_divides_by_one_less() -> None:
    row = [1.0, 2.0, 4.0]

    steps = normalise(row, Settings(unbiased=True))

    assert steps.before.variance == pytest.approx(np.var(row, ddof=1))
    assert steps.module_error is None  # the model's rule is another


def test_eps_keeps_a_constant_row_from_dividing_by_zero() -> None:
    with_eps, without = normalise([0.5] * 6, CHAPTER), normalise([0.5] * 6, Settings(eps=0.0))

    assert with_eps.is_constant
    assert with_eps.output.tolist() == [0.0] * 6
    assert np.isnan(without.output).all()


def test_a_single_number_has_no_sample_variance() -> None:
    assert np.isnan(normalise([2.0], Settings(unbiased=True)).before.variance)
    assert normalise([2.0], CHAPTER).output.tolist() == [0.0]


def test_batch_normalisation_averages_over_columns() -> None:
    batch = torch.from_numpy(chapter_batch())

    both = both_ways(batch, CHAPTER)

    assert both.by_row == pytest.approx(functional.layer_norm(batch, (6,)).numpy(), abs=1e-5)
    assert both.by_column == pytest.approx(functional.batch_norm(batch, None, None, training=True).numpy(), abs=1e-5)
    assert [m.mean for m in both.columns] == pytest.approx(batch.mean(dim=0).tolist())
    assert [m.variance for m in both.rows] == pytest.approx(batch.var(dim=1, unbiased=False).tolist())


def test_another_number_changes_its_own_row_alone_with_layer_norm_and_both_with_batch_norm() -> None:
    before = layer_norm(None, 0, CHAPTER).both
    row = [5.0, *before.batch[0, 1:].tolist()]

    after = layer_norm(row, 0, CHAPTER).both

    assert (after.by_row[1] == before.by_row[1]).all()
    assert after.by_column[1, 0] != before.by_column[1, 0]


def test_a_row_of_another_length_leaves_the_batch_as_it_was() -> None:
    result = layer_norm([1.0, 2.0], 0, CHAPTER)

    assert not result.replaced
    assert (result.both.batch == chapter_batch()).all()
