"""Logits of a broken model, NaN and infinite: every ranking goes by the model's own argmax, and nothing is drawn."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gptviz.analysis.candidates import ranking, runner_up, softmax
from gptviz.analysis.compared_tokens import rank_of, ranked_tokens
from gptviz.analysis.decoding import DrawError, choose, decode
from gptviz.analysis.decoding_settings import GREEDY, Decoding
from gptviz.analysis.logit_lens import begin, read_all, read_on, strongest
from gptviz.capture import capture
from gptviz.model import GPTModel

INF, NAN = math.inf, math.nan
HELLO = [15496, 11, 314, 716]
BROKEN = [
    [1.0, NAN, 3.0, 2.0],
    [NAN, INF, NAN, -INF],
    [INF, 1.0, NAN, 2.0],
    [1.0, INF, 3.0, INF],
    [-INF, 2.0, -INF, 1.0],
    [-INF, -INF, -INF, -INF],
    [NAN, NAN, NAN, NAN],
]


@pytest.mark.parametrize("logits", BROKEN)
def test_all_rankings_take_what_argmax_takes_again_and_again(logits: list[float]) -> None:
    left = dict(enumerate(logits))
    expected = []
    while left:  # torch's argmax of those that are left
        expected.append(list(left)[int(torch.tensor(list(left.values())).argmax())])
        del left[expected[-1]]
    values = np.array(logits, dtype=np.float32)

    assert ranking(values, 4).ids.tolist() == expected
    assert [token.id for token in ranked_tokens(values, values, 4)] == expected
    assert [rank_of(values, token) for token in expected] == [1, 2, 3, 4]
    assert strongest(values[None], 4)[0].tolist() == [expected]
    assert choose(values, GREEDY, 0, 4).chosen.id == expected[0]
    assert runner_up(values, expected[0]) == expected[1]


def test_a_vocabulary_of_one_has_no_other_token() -> None:
    assert runner_up(np.zeros(1, dtype=np.float32), 0) == 0


@pytest.mark.parametrize("logits", BROKEN)
def test_where_there_is_no_softmax_nothing_is_drawn(logits: list[float]) -> None:
    values = np.array(logits, dtype=np.float32)
    sample = Decoding(temperature=0.7, top_k=3, top_p=0.9)
    expected = torch.softmax(torch.tensor(logits, dtype=torch.float64), dim=0).numpy()

    assert np.allclose(softmax(values), expected, equal_nan=True)
    decoded = decode(ranking(values, 4), sample, 0)
    assert decoded.drawable == bool(np.isfinite(expected).all())
    if not decoded.drawable:
        assert np.isnan(decoded.after).all()
        assert decoded.kept == 4  # nothing is said to be cut
        with pytest.raises(DrawError, match="not all finite"):
            choose(values, sample, 0, 4)
        choose(values, replace(sample, temperature=0.0), 0, 4)


def test_a_token_without_probability_is_never_drawn() -> None:
    logits = np.array([0.0, -INF, 0.0, -INF], dtype=np.float32)

    drawn = {choose(logits, Decoding(temperature=1.0, seed=seed), 0, 1).chosen.id for seed in range(60)}

    assert drawn == {0, 2}


def test_the_lens_does_not_lose_a_nan_in_its_difference(own_tiny_model: GPTModel) -> None:
    """The weights are changed after the pass, so what is read now is not what the model computed."""
    trace = capture(own_tiny_model, torch.tensor([HELLO]))
    with torch.no_grad():
        own_tiny_model.get_parameter("final_norm.scale")[0] = NAN

    assert math.isnan(read_on(trace, begin(trace, 0), 0).difference)


def test_the_lens_takes_the_same_nan_for_the_same(own_tiny_model: GPTModel) -> None:
    with torch.no_grad():
        own_tiny_model.get_parameter("tok_emb.weight")[11].fill_(NAN)
    reading = read_all(capture(own_tiny_model, torch.tensor([HELLO])), 0)

    assert reading.difference == 0
    assert np.isnan(reading.probabilities[-1, -1, 0])
    assert np.isfinite(reading.probabilities[0, 0, 0])
