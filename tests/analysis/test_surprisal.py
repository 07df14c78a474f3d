"""Surprisal, against torch's cross-entropy and against models whose surprise is known by hand."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from gptviz.analysis.perplexity import mean_surprisal, perplexity
from gptviz.analysis.surprisal import surprisals
from gptviz.capture import capture
from gptviz.model import GPTModel


@pytest.mark.parametrize("tokens", [2, 5, 64])
def test_the_mean_is_the_cross_entropy_of_the_next_token(tiny_model: GPTModel, tokens: int) -> None:
    ids = torch.randint(0, 50257, (1, tokens), generator=torch.Generator().manual_seed(1))
    logits = capture(tiny_model, ids)["out_head"][0]

    bits = surprisals(logits.numpy(), ids[0].numpy())

    each = cross_entropy(logits[:-1].double(), ids[0, 1:], reduction="none") / math.log(2)
    np.testing.assert_allclose(bits[1:], each.numpy(), rtol=1e-9)
    assert mean_surprisal(bits.tolist()) == pytest.approx(float(each.mean()))


def test_the_first_token_has_none() -> None:
    assert math.isnan(surprisals(np.zeros((3, 5)), np.array([1, 2, 3]))[0])


def test_one_token_has_no_mean() -> None:
    bits = surprisals(np.zeros((1, 5)), np.array([1]))

    assert np.isnan(bits).tolist() == [True]
    assert mean_surprisal(bits.tolist()) is None


def test_each_token_is_judged_by_the_position_before_it() -> None:
    logits = np.full((3, 4), -50.0)
    ids = np.array([0, 1, 2])
    logits[0, 1] = 50  # sure of token 1, and right
    logits[1, 3] = 50  # sure of another one than token 2

    bits = surprisals(logits, ids)

    assert bits[1] == pytest.approx(0, abs=1e-9)
    assert bits[2] == pytest.approx(100 / math.log(2))


def test_a_model_without_preference_is_as_unsure_as_its_vocabulary_is_large() -> None:
    mean = mean_surprisal(surprisals(np.zeros((6, 50257)), np.arange(6)).tolist())

    assert mean == pytest.approx(math.log2(50257))
    assert mean is not None
    assert perplexity(mean) == pytest.approx(50257)


def test_a_perplexity_beyond_all_numbers_is_infinite() -> None:
    assert perplexity(1e6) == math.inf
