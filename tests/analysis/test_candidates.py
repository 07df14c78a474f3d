"""The likeliest next tokens, against torch."""

import numpy as np
import pytest
import torch

from gptviz.analysis.candidates import Candidate, ranking, softmax, top_candidates

LOGITS = torch.randn(1000, generator=torch.Generator().manual_seed(1)) * 5


def test_the_ranking_is_torchs() -> None:
    ranked = ranking(LOGITS.numpy(), 7)

    best = torch.topk(LOGITS, 7)
    assert ranked.ids.tolist() == best.indices.tolist()
    assert ranked.logits.tolist() == best.values.tolist()


def test_the_probabilities_are_those_of_a_softmax_over_all_tokens() -> None:
    expected = torch.softmax(LOGITS.double(), dim=0)

    assert np.allclose(softmax(LOGITS.numpy()), expected.numpy(), rtol=1e-12, atol=0)
    ranked = ranking(LOGITS.numpy(), 3)
    assert np.allclose(ranked.probabilities, expected[ranked.ids].numpy(), rtol=1e-12, atol=0)


def test_equal_logits_are_ordered_by_id_as_argmax_does() -> None:
    logits = np.array([1.0, 3.0, 2.0, 3.0, 3.0], dtype=np.float32)

    assert ranking(logits, 5).ids.tolist() == [1, 3, 4, 2, 0]
    assert ranking(logits, 1).ids.tolist() == [int(np.argmax(logits))]


def test_a_few_of_many_are_those_that_a_whole_ordering_gives() -> None:
    logits = np.repeat(np.float32([0.5, 2.0, -1.0, 2.0, 1.0]), 40)  # 80 share the first place
    in_order = np.argsort(-logits, kind="stable")

    for k in (1, 3, 24):
        assert ranking(logits, k).ids.tolist() == in_order[:k].tolist()
    logits[7] = np.nan
    assert ranking(logits, 3).ids.tolist() == [7, 40, 41]


@pytest.mark.parametrize(("k", "length"), [(-1, 0), (0, 0), (1, 1), (3, 3), (4, 3), (10**6, 3)])
def test_there_are_never_more_candidates_than_tokens(k: int, length: int) -> None:
    logits = np.array([0.0, 1.0, 2.0], dtype=np.float32)

    assert len(ranking(logits, k)) == length
    assert len(top_candidates(logits, k)) == length


def test_a_candidate_has_its_id_logit_and_probability() -> None:
    logits = np.log(np.array([0.25, 0.75]))

    assert top_candidates(logits, 2) == (
        Candidate(1, pytest.approx(np.log(0.75)), pytest.approx(0.75)),
        Candidate(0, pytest.approx(np.log(0.25)), pytest.approx(0.25)),
    )


def test_huge_logits_do_not_overflow() -> None:
    assert softmax(np.array([1e4, 1e4, -1e4], dtype=np.float32)).tolist() == [0.5, 0.5, 0.0]


def test_the_references_top_ten_are_ranked_as_printed(figures: dict) -> None:
    printed = figures["untrained_124m_seed_123"]["last_position_top10"]
    logits = np.full(50257, -1e9, dtype=np.float32)
    for entry in printed:
        logits[entry["id"]] = entry["logit"]

    assert [candidate.id for candidate in top_candidates(logits, 10)] == [entry["id"] for entry in printed]
