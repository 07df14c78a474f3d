"""The labs' questions: four different answers, and the right one is what the lab computes."""

import math
from collections.abc import Callable
from itertools import product

import pytest

from gptviz.labs.feed_forward import run
from gptviz.labs.feed_forward_sizes import PRESETS, Sizes
from gptviz.labs.layer_norm import Settings, normalise
from gptviz.model import GPT2_SMALL, GPTConfig
from gptviz.model.parameters import count_parameters
from gptviz.tour.lab_questions import Spread, feed_forward, tied_head, variance_after
from gptviz.tour.question import Question
from gptviz.widgets.text import number


def five(value: float) -> str:
    return number(value, 5)


def right_answer(asked: Question) -> str:
    return asked.answers[asked.right].text


def is_sound(asked: Question) -> bool:
    texts = {answer.text for answer in asked.answers}
    return (
        len(texts) == 4 and sum(answer.right for answer in asked.answers) == 1 and all(a.reason for a in asked.answers)
    )


@pytest.mark.parametrize("sizes", [preset.sizes for preset in PRESETS], ids=[preset.key for preset in PRESETS])
def test_what_comes_out_of_the_layers_is_what_torch_gives(sizes: Sizes) -> None:
    steps = {step.key: step for step in run(sizes).steps}
    if steps["expand"].error:
        wanted = "An error from the first Linear"
    elif steps["contract"].error:
        wanted = "An error from the second Linear"
    else:
        wanted = str(steps["contract"].gives)

    assert right_answer(feed_forward(sizes, 0)) == wanted


def test_any_sizes_give_four_different_answers() -> None:
    for values in product((1, 2), (1, 2), (1, 4), (1, 4), (1, 2, 4), (1, 2, 4), (1, 2, 4)):
        assert is_sound(feed_forward(Sizes(*values), 3)), values


def test_a_tied_head_saves_what_is_counted() -> None:
    for V, C, (E, H) in product((1, 2, 50257), (1, 2, 8), ((1, 1), (2, 1), (2, 2), (8, 4))):
        config = GPTConfig(vocab_size=V, context_length=C, emb_dim=E, n_heads=H, n_layers=1)
        asked, count = tied_head(config, 5), count_parameters(config)
        assert is_sound(asked), config
        assert right_answer(asked) == f"{count.total - count.total_tied:,}"
    assert right_answer(tied_head(GPT2_SMALL, 1)) == "38,597,376"


@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize(
    "row", [[5.0], [0.1] * 7, [0.0, 0.0], [1.0, -1.0], [0.226, 0.347, 0.0, 0.2216, 0.0, 0.0], [3e14, 1]]
)
def test_the_variance_after_is_what_is_measured(row: list[float], unbiased: bool, eps: float) -> None:
    steps = normalise(row, Settings(unbiased=unbiased, eps=eps))
    spread = Spread(len(row), steps.before.variance, steps.root, eps, steps.after.variance)

    for seed in range(4):
        asked = variance_after(spread, five, seed)
        assert is_sound(asked)
        measured = steps.after.variance
        assert right_answer(asked) == ("NaN, no number" if math.isnan(measured) else five(measured))
    assert len({variance_after(spread, five, seed).right for seed in range(20)}) == 4


@pytest.mark.parametrize("make", [lambda s: feed_forward(Sizes(), s), lambda s: tied_head(GPT2_SMALL, s)])
def test_the_place_of_the_right_answer_changes(make: Callable[[int], Question]) -> None:
    assert {make(seed).right for seed in range(40)} == {0, 1, 2, 3}
