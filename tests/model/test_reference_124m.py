"""The chapter's figures for the untrained 124M model: seed 123, "Hello, I am"."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from gptviz.model import GPTModel, greedy_steps
from gptviz.tokenizer import gpt2_tokenizer

pytestmark = pytest.mark.large


@pytest.fixture(scope="module")
def expected(figures: dict) -> dict:
    return figures["untrained_124m_seed_123"]


@pytest.fixture(scope="module")
def ids(expected: dict) -> Tensor:
    return torch.tensor([gpt2_tokenizer().encode(expected["prompt"])])


@pytest.fixture(scope="module")
def logits(small_model: GPTModel, ids: Tensor) -> Tensor:
    with torch.no_grad():
        return small_model(ids)


def test_the_prompt_and_the_logits_have_the_chapters_ids_and_shape(ids: Tensor, logits: Tensor, expected: dict) -> None:
    assert ids.tolist() == [expected["ids"]]
    assert list(logits.shape) == expected["logits_shape"]


def test_the_ten_most_likely_next_tokens(logits: Tensor, expected: dict) -> None:
    top = logits[0, -1].topk(10)
    probabilities = logits[0, -1].softmax(dim=-1)[top.indices]
    rows = expected["last_position_top10"]

    assert top.indices.tolist() == [row["id"] for row in rows]
    assert [gpt2_tokenizer().token_text(token) for token in top.indices.tolist()] == [row["text"] for row in rows]
    assert_close(top.values, torch.tensor([row["logit"] for row in rows]), atol=1e-5, rtol=0)
    assert_close(probabilities, torch.tensor([row["probability"] for row in rows]), atol=2e-9, rtol=0)


def test_ten_greedy_tokens_and_their_text(small_model: GPTModel, ids: Tensor, expected: dict) -> None:
    steps = greedy_steps(small_model, ids, 10)

    generated = ids[0].tolist() + [int(step.next_ids) for step in steps]

    assert generated == expected["greedy_10_ids"]
    assert gpt2_tokenizer().decode(generated) == expected["greedy_10_text"]


def test_the_model_has_the_counted_parameters(small_model: GPTModel, figures: dict) -> None:
    assert sum(p.numel() for p in small_model.parameters()) == figures["parameters_124m"]["total_untied"]
