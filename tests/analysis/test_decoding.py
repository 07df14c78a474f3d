"""Temperature, top-k, top-p and the seeded draw, against the definitions and against PyTorch's own arithmetic."""

import numpy as np
import pytest
import torch

from gptviz.analysis.candidates import ranking
from gptviz.analysis.decoding import Decoded, choose, decode, draw
from gptviz.analysis.decoding_settings import GREEDY, Decoding, DecodingError

V = 300
SETTINGS = [
    Decoding(temperature=1.0),
    Decoding(temperature=0.3),
    Decoding(temperature=2.5, top_k=7),
    Decoding(temperature=1.0, top_p=0.9),
    Decoding(temperature=0.7, top_k=40, top_p=0.8),
    Decoding(temperature=1.0, top_k=10_000, top_p=1e-9),
]


def logits(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, V).astype(np.float32)


def decoded(row: np.ndarray, decoding: Decoding, position: int = 4) -> Decoded:
    return decode(ranking(row, row.size), decoding, position)


def by_torch(row: np.ndarray, decoding: Decoding) -> torch.Tensor:
    """Compute what the token is drawn from as a definition reads: by ID, mask what is cut, softmax again."""
    scores = torch.from_numpy(row).double() / decoding.temperature
    if decoding.top_k is not None and decoding.top_k < V:
        scores[scores < scores.topk(decoding.top_k).values[-1]] = -torch.inf
    shares = torch.softmax(scores, 0)
    for token in shares.argsort(descending=True):
        if shares[shares > shares[token]].sum() >= decoding.top_p:
            scores[token] = -torch.inf
    return torch.softmax(scores, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decoding", SETTINGS, ids=lambda decoding: decoding.description)
def test_the_distribution_after_is_that_of_the_definition(decoding: Decoding, seed: int) -> None:
    made = decoded(logits(seed), decoding)

    after = np.zeros(V)
    after[made.ranking.ids] = made.after
    assert after == pytest.approx(by_torch(logits(seed), decoding).numpy(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decoding", SETTINGS, ids=lambda decoding: decoding.description)
def test_what_is_left_sums_to_one_and_keeps_its_proportions(decoding: Decoding, seed: int) -> None:
    made = decoded(logits(seed), decoding)

    assert made.after.sum() == pytest.approx(1)
    assert (made.after[made.kept :] == 0).all()
    assert 1 <= made.kept <= made.kept_by_k <= V
    kept = made.after[: made.kept]
    assert kept == pytest.approx(made.tempered[: made.kept] / made.mass_kept)
    assert (np.diff(kept) <= 0).all()


@pytest.mark.parametrize("top_p", [0.01, 0.5, 0.9, 0.999])
def test_top_p_keeps_no_more_than_it_needs(top_p: float) -> None:
    made = decoded(logits(5), Decoding(temperature=1.0, top_p=top_p))

    shares = np.cumsum(made.tempered)
    assert shares[made.kept - 1] >= top_p
    assert made.kept == 1 or shares[made.kept - 2] < top_p


def test_greedy_takes_the_likeliest_and_draws_nothing() -> None:
    made = decoded(logits(1), GREEDY)

    assert made.chosen.id == logits(1).argmax()
    assert (made.chance, made.draw, made.kept) == (1.0, None, 1)


@pytest.mark.parametrize("temperature", [1e-3, 1e-9, 5e-324])
def test_a_temperature_near_zero_is_greedy(temperature: float) -> None:
    for position in range(20):
        made = decoded(logits(2), Decoding(temperature=temperature), position)

        assert made.chosen.id == logits(2).argmax()
        assert np.isfinite(made.after).all()


def test_a_high_temperature_makes_all_tokens_alike() -> None:
    assert decoded(logits(2), Decoding(temperature=1e9)).after == pytest.approx(np.full(V, 1 / V), rel=1e-6)


def test_equal_logits_go_by_id() -> None:
    row = np.zeros(V, np.float32)

    made = decoded(row, Decoding(temperature=1.0, top_k=3))

    assert made.ranking.ids[:3].tolist() == [0, 1, 2]
    assert made.after[:4] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_tokens_are_drawn_as_often_as_their_probability_says() -> None:
    row = np.log(np.array([0.5, 0.25, 0.125, 0.125], np.float32))
    decoding = Decoding(temperature=1.0, seed=7)

    drawn = np.bincount([decoded(row, decoding, position).chosen.id for position in range(4000)], minlength=4)

    assert drawn / 4000 == pytest.approx([0.5, 0.25, 0.125, 0.125], abs=0.03)


def test_the_draw_follows_from_seed_and_position_alone() -> None:
    draws = [draw(seed, position) for seed in range(20) for position in range(20)]

    assert draws == [draw(seed, position) for seed in range(20) for position in range(20)]
    assert len(set(draws)) == 400
    assert 0 <= min(draws) < 0.05
    assert 0.95 < max(draws) < 1
    assert (
        abs(np.corrcoef(np.reshape(draws, (20, 20))[:-1].ravel(), np.reshape(draws, (20, 20))[1:].ravel())[0, 1]) < 0.2
    )


def philox(seed: int, position: int) -> int:
    """Compute Philox 4×64-10 as its authors define it; NumPy counts one on before it begins."""
    mask = 2**64 - 1
    x, key = [position + 1, 0, 0, 0], [seed, 0]
    for _ in range(10):
        one, two = x[0] * 0xD2E7470EE14C6C93, x[2] * 0xCA5A826395121157
        x = [(two >> 64) ^ x[1] ^ key[0], two & mask, (one >> 64) ^ x[3] ^ key[1], one & mask]
        key = [(key[0] + 0x9E3779B97F4A7C15) & mask, (key[1] + 0xBB67AE8584CAA73B) & mask]
    return x[0]


@pytest.mark.parametrize(("seed", "position"), [(0, 0), (42, 4), (123, 1023), (2**63 - 1, 10_000)])
def test_the_draw_is_philox_so_that_text_can_be_had_again_anywhere(seed: int, position: int) -> None:
    assert draw(seed, position) == (philox(seed, position) >> 11) / 2**53


def test_choosing_tells_the_token_its_chance_and_the_likeliest() -> None:
    row, decoding = logits(3), Decoding(temperature=0.9, top_k=20, seed=5)

    choice, made = choose(row, decoding, 11, 5), decoded(row, decoding, 11)

    assert (choice.chosen, choice.chance) == (made.chosen, made.chance)
    assert [candidate.id for candidate in choice.candidates] == np.argsort(-row, kind="stable")[:5].tolist()
    assert choose(row, GREEDY, 11, 5).chosen == choice.candidates[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -0.1}, "the temperature must be a finite number of at least 0, but is -0.1"),
        ({"temperature": float("nan")}, "the temperature must be a finite number of at least 0, but is nan"),
        ({"temperature": float("inf")}, "the temperature must be a finite number of at least 0, but is inf"),
        ({"top_k": 0}, "top-k must be at least 1, so that a token is left, but is 0"),
        ({"top_p": 0.0}, "top-p must be above 0 and at most 1, but is 0.0"),
        ({"top_p": 1.5}, "top-p must be above 0 and at most 1, but is 1.5"),
        ({"top_p": float("nan")}, "top-p must be above 0 and at most 1, but is nan"),
        ({"seed": -1}, "the seed must be between 0 and 2^63 - 1, but is -1"),
    ],
)
def test_settings_without_sense_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(DecodingError) as refused:
        Decoding(**settings)  # type: ignore[arg-type]

    assert str(refused.value) == message


def test_the_settings_can_be_read() -> None:
    assert GREEDY.description == "greedy, deterministic"
    assert Decoding(temperature=0.8, top_k=1000, top_p=0.9, seed=3).description == (
        "temperature 0.8 · top-k 1,000 · top-p 0.9 · seed 3"
    )
