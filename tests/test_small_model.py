"""The trained model in the box: what its card says is so, and it opens like every other checkpoint."""

import math
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from gptviz import resources
from gptviz.analysis.heads import SCORE_NAMES
from gptviz.checkpoints import load
from gptviz.commands.head_report import HeadReport, report_on_probe
from gptviz.model import GPTModel, initialise
from gptviz.tokenizer import gpt2_tokenizer

EXCERPT = Path(__file__).with_name("held_out_excerpt.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder() -> Path:
    return resources.path("shakespeare")


@pytest.fixture(scope="module")
def model(folder: Path) -> GPTModel:
    return load(folder).model


@pytest.fixture(scope="module")
def card(folder: Path) -> str:
    return (folder / "MODEL_CARD.md").read_text(encoding="utf-8")


def windows(context: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The excerpt in windows that don't overlap, and the token after each of theirs."""
    ids = torch.tensor(gpt2_tokenizer().encode(EXCERPT))
    count = (len(ids) - 1) // context
    return ids[: count * context].view(count, context), ids[1 : count * context + 1].view(count, context)


@pytest.fixture(scope="module")
def trained_loss(model: GPTModel) -> float:
    return loss(model)


@pytest.fixture(scope="module")
def report(model: GPTModel) -> HeadReport:
    return report_on_probe(model)


@torch.no_grad()
def loss(model: GPTModel) -> float:
    inputs, targets = windows(model.config.context_length)
    return float(cross_entropy(model(inputs).flatten(0, 1), targets.flatten()))


def figure(card: str, row: str) -> float:
    found = re.search(rf"^\| {re.escape(row)}[^|]*\| ([\d.]+) \|", card, re.MULTILINE)
    assert found is not None, f"the card has no row {row!r}"
    return float(found[1])


def test_the_loss_on_held_out_text_is_the_card_s(trained_loss: float, card: str) -> None:
    assert trained_loss == pytest.approx(figure(card, "the excerpt of"), rel=0.05)


def test_an_untrained_model_knows_nothing(model: GPTModel, trained_loss: float, card: str) -> None:
    untrained_loss = loss(initialise(replace(model.config, tie_weights=False), seed=123))

    assert untrained_loss == pytest.approx(figure(card, "the excerpt, an untrained model"), rel=0.01)
    assert untrained_loss == pytest.approx(math.log(50257), rel=0.03)
    assert trained_loss < 0.6 * untrained_loss


def test_the_card_s_losses_are_in_order(card: str) -> None:
    assert figure(card, "text that was trained on") < figure(card, "held-out text") < figure(card, "all tokens alike")


def test_it_is_small_and_opens_quickly(folder: Path) -> None:
    load(folder)  # whatever is imported at the first time
    begun = time.process_time()
    load(folder)

    assert time.process_time() - begun < 1
    assert sum(file.stat().st_size for file in folder.iterdir()) < 30_000_000


def test_its_head_is_its_embedding(model: GPTModel) -> None:
    assert model.config.tie_weights
    assert model.config.vocab_size == 50257


@torch.no_grad()
def test_tokens_that_never_occurred_stay_far_below(model: GPTModel) -> None:
    _, which, counts = model.tok_emb.weight.unique(dim=0, return_inverse=True, return_counts=True)
    never = counts[which] > 1
    assert 35_000 < int(never.sum()) < 45_000

    logits = model(windows(model.config.context_length)[0])
    shares = logits.softmax(dim=-1)[..., never].sum(dim=-1)
    assert float(shares.mean()) < 0.01
    assert not bool(never[logits.argmax(dim=-1)].any())


@pytest.mark.parametrize("score", ["previous", "induction"])
def test_the_card_tells_the_best_heads_score_and_the_uniform_one(report: HeadReport, card: str, score: str) -> None:
    place = SCORE_NAMES.index(score)
    best, uniform = float(report.scores[:, :, place].max()), float(report.uniform[place])

    assert f"{best:.3f} ({uniform:.3f})" in " ".join(card.split())


def test_some_head_looks_at_the_token_before(report: HeadReport) -> None:
    place = SCORE_NAMES.index("previous")

    assert float(report.scores[:, :, place].max()) > 2.5 * report.uniform[place]
