"""Questions: four different answers, one of them right, whatever the sizes are."""

import re
from itertools import product

import pytest
import torch

from gptviz.capture import capture
from gptviz.model import GPT2_SMALL, GPTConfig, initialise
from gptviz.tour.question import Answer, Question, ask
from gptviz.tour.questions import QUESTIONS, question
from gptviz.tour.sizes import Sizes

every_question = pytest.mark.parametrize("name", QUESTIONS)
# vocab_size, context_length, emb_dim, n_heads, n_layers: with ones, and with sizes that coincide
CONFIGS = [
    GPTConfig(vocab_size=V, context_length=C, emb_dim=E, n_heads=H, n_layers=L)
    for V, C, (E, H), L in product((1, 4, 11), (4, 8), ((1, 1), (2, 1), (4, 1), (4, 2), (4, 4), (8, 2)), (1, 2))
]
CONFIGS += [
    GPTConfig(vocab_size=11, context_length=4, emb_dim=4, n_heads=2, n_layers=2, n_inner=F, activation="relu")
    for F in (1, 2, 3, 4, 5, 8, 16)
]
SIZES = [Sizes(config, B, T) for config in CONFIGS for B in (1, 2, 4) for T in (1, 2, 4)]
SHAPES = {
    "tok_emb": "tok_emb",
    "embeddings": "embeddings",
    "norm": "trf_blocks.0.norm1",
    "queries": "trf_blocks.0.att.queries",
    "scores": "trf_blocks.0.att.scores",
    "context": "trf_blocks.0.att.context",
    "merged": "trf_blocks.0.att.merged",
    "expand": "trf_blocks.0.ff.layers.0",
    "gelu": "trf_blocks.0.ff.layers.1",
    "feed_forward": "trf_blocks.0.ff.layers.2",
    "shortcut": "trf_blocks.0.shortcut1",
    "logits": "out_head",
    "last": "last",
}


def right_answer(asked: Question) -> str:
    return asked.answers[asked.right].text


@every_question
def test_there_are_four_different_answers_and_one_is_right(name: str) -> None:
    for sizes in SIZES:
        answers = question(name, sizes, 7).answers
        assert len({answer.text for answer in answers}) == 4
        assert [answer.right for answer in answers].count(True) == 1
        assert all(answer.reason for answer in answers)


@every_question
def test_the_order_follows_the_seed_alone(name: str) -> None:
    sizes = Sizes(GPT2_SMALL, 2, 4)
    orders = [tuple(answer.text for answer in question(name, sizes, seed).answers) for seed in range(40)]

    assert orders == [tuple(answer.text for answer in question(name, sizes, seed).answers) for seed in range(40)]
    assert len({frozenset(order) for order in orders}) == 1
    assert {question(name, sizes, seed).right for seed in range(40)} == {0, 1, 2, 3}


@every_question
def test_at_usual_sizes_the_wrong_answers_are_misconceptions(name: str) -> None:
    text, right, wrong = QUESTIONS[name](Sizes(GPT2_SMALL, 2, 4))

    assert text.endswith("?")
    assert len({answer.text for answer in wrong} - {right.text}) >= 3
    assert not re.search(
        r"Off by one: count once more|nothing does",
        " ".join(a.reason for a in question(name, Sizes(GPT2_SMALL, 2, 4), 1).answers),
    )


@pytest.mark.parametrize(
    ("config", "batch", "tokens"),
    [
        (GPTConfig(vocab_size=11, context_length=8, emb_dim=8, n_heads=2, n_layers=2), 2, 3),
        (GPTConfig(vocab_size=11, context_length=8, emb_dim=4, n_heads=1, n_layers=1), 1, 1),
        (GPTConfig(vocab_size=4, context_length=4, emb_dim=4, n_heads=4, n_layers=3), 4, 4),
        (GPTConfig(vocab_size=11, context_length=8, emb_dim=8, n_heads=2, n_layers=2, n_inner=12), 2, 3),
        (GPTConfig(vocab_size=11, context_length=8, emb_dim=8, n_heads=2, n_layers=2, n_inner=3), 1, 2),
    ],
)
def test_the_right_answers_are_what_a_real_pass_gives(config: GPTConfig, batch: int, tokens: int) -> None:
    model = initialise(config, 123)
    trace = capture(model, torch.zeros(batch, tokens, dtype=torch.int64))
    sizes = Sizes(config, batch, tokens)

    def right(name: str) -> str:
        return right_answer(question(name, sizes, 0))

    for name, stage in SHAPES.items():
        assert right(name) == str(tuple(trace[stage].shape)), name
    assert right("stack") == str(tuple(trace[f"trf_blocks.{config.n_layers - 1}.shortcut2"].shape))
    assert int(right("masked")) == int(torch.isinf(trace["trf_blocks.0.att.masked"][0, 0]).sum())
    assert int(right("means")) == trace["embeddings"].mean(dim=-1).numel()
    assert int(right("table")) == model.tok_emb.weight.numel()
    after = torch.cat([trace.ids, trace["next"]], dim=1)[:, -config.context_length :]
    assert int(right("next_context")) == after.shape[1]


def test_every_question_is_checked_against_a_pass() -> None:
    assert set(QUESTIONS) == {*SHAPES, "stack", "masked", "means", "table", "next_context"}


def test_a_question_with_too_few_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="2 different answers"):
        ask("some", "What?", Answer("1", "so"), [Answer("1", "no"), Answer("2", "no"), Answer("2", "no")], 0)
