"""What heads do: the scores on attention patterns whose scores are known by hand."""

import math

import numpy as np
import pytest
import torch

from gptviz.analysis.heads import SCORE_NAMES, SCORES, block_scores, head_scores, probe_ids, uniform_scores
from gptviz.capture import capture
from gptviz.model import GPTModel
from gptviz.widgets.math_markup import spoken

T = 8
TWICE = np.array([5, 6, 7, 8, 5, 6, 7, 8])


def looking_at(keys: list[int]) -> np.ndarray:
    """Attention of one head whose query q looks at ``keys[q]`` alone: (1, T, T)."""
    return np.eye(T)[keys][None]


def scores(weights: np.ndarray, ids: np.ndarray = TWICE) -> dict[str, float]:
    return dict(zip(SCORE_NAMES, head_scores(weights, ids)[0].tolist(), strict=True))


def test_a_previous_token_head_scores_one() -> None:
    found = scores(looking_at([0, 0, 1, 2, 3, 4, 5, 6]))

    assert found["previous"] == 1
    assert found["distance"] == 1
    assert found["entropy"] == 0
    assert found["same"] == 0


def test_a_sink_scores_one() -> None:
    found = scores(looking_at([0] * T))

    assert found["first"] == 1
    assert found["previous"] == pytest.approx(1 / 7)  # token 1 alone has the first one just before it
    assert found["distance"] == pytest.approx(np.arange(1, T).mean())


def test_a_head_that_finds_the_same_token_scores_one() -> None:
    assert scores(looking_at([0, 1, 2, 3, 0, 1, 2, 3]))["same"] == 1


def test_an_induction_head_looks_one_after_the_earlier_occurrence() -> None:
    found = scores(looking_at([0, 1, 2, 3, 1, 2, 3, 4]))

    assert found["induction"] == 1
    assert found["same"] == 0


def test_looking_one_too_far_is_no_induction() -> None:
    assert scores(looking_at([0, 1, 2, 3, 2, 3, 4, 5]))["induction"] == 0


def test_all_earlier_occurrences_count() -> None:
    ids = np.array([9, 1, 9, 2, 9, 3, 4, 5])
    weights = looking_at([0, 0, 0, 0, 0, 0, 0, 0])
    weights[0, 4] = [0.25, 0, 0.75, 0, 0, 0, 0, 0]  # the third 9 looks at both of the others

    assert scores(weights, ids)["same"] == 1


def test_a_token_does_not_follow_itself() -> None:
    ids = np.array([1, 1, 2, 3, 4, 5, 6, 7])  # what follows the first 1 is the query itself

    assert math.isnan(scores(looking_at(list(range(T))), ids)["induction"])


def test_without_a_repetition_there_is_no_same_token_score() -> None:
    found = scores(looking_at([0] * T), np.arange(T))

    assert math.isnan(found["same"])
    assert math.isnan(found["induction"])
    assert found["first"] == 1


def test_one_token_has_no_choice_and_no_scores() -> None:
    assert np.isnan(head_scores(np.ones((3, 1, 1)), np.array([7]))).all()


def test_uniform_attention_scores_what_theory_says() -> None:
    found = dict(zip(SCORE_NAMES, uniform_scores(TWICE).tolist(), strict=True))
    queries = np.arange(1, T)

    assert found["previous"] == pytest.approx(np.mean(1 / (queries + 1)))
    assert found["first"] == pytest.approx(found["previous"])
    assert found["entropy"] == pytest.approx(np.mean(np.log2(queries + 1)))
    assert found["distance"] == pytest.approx(np.mean(queries / 2))
    assert found["same"] == pytest.approx(np.mean(1 / np.arange(5, 9)))


def test_random_weights_score_like_uniform_attention(tiny_model: GPTModel) -> None:
    ids = probe_ids(tiny_model.tok_emb.weight.detach().numpy(), 64)
    trace = capture(tiny_model, torch.from_numpy(ids)[None])
    found = np.stack([block_scores(trace, layer)[0] for layer in range(2)])

    np.testing.assert_allclose(found, np.broadcast_to(uniform_scores(ids), found.shape), rtol=0.5)


def test_a_batch_has_scores_of_its_own_for_each_row(tiny_model: GPTModel) -> None:
    ids = torch.tensor([[1, 2, 1, 2], [3, 4, 5, 6]])
    found = block_scores(capture(tiny_model, ids), 0)
    alone = block_scores(capture(tiny_model, ids[:1]), 0)

    np.testing.assert_allclose(found[0], alone[0], rtol=1e-5)
    assert np.isnan(found[1, :, SCORE_NAMES.index("induction")]).all()


def test_the_probe_says_different_tokens_twice() -> None:
    ids = probe_ids(np.random.default_rng(1).standard_normal((500, 4)), 64)

    assert len(ids) == 64
    assert len(set(ids[:32])) == 32
    np.testing.assert_array_equal(ids[:32], ids[32:])
    np.testing.assert_array_equal(ids, probe_ids(np.random.default_rng(1).standard_normal((500, 4)), 64))


def test_the_probe_fits_a_short_context() -> None:
    assert len(probe_ids(np.eye(20), 7)) == 6


def test_the_probe_leaves_out_tokens_that_share_a_row() -> None:
    embedding = np.random.default_rng(1).standard_normal((200, 4))
    embedding[:150] = embedding[0]

    assert probe_ids(embedding, 64).min() >= 150


def test_the_probe_needs_room_for_a_repetition() -> None:
    with pytest.raises(ValueError, match="no room"):
        probe_ids(np.eye(20), 1)


@pytest.mark.parametrize("score", SCORES, ids=SCORE_NAMES)
def test_each_formula_can_be_set(score: object, qapp: object) -> None:
    from gptviz.widgets.math_markup import set_formula

    assert set_formula(score.formula, 17)  # type: ignore[attr-defined]
    assert spoken(score.formula)  # type: ignore[attr-defined]
