"""The arithmetic of models that hold infinities, NaN, or hardly anything: those are looked at most closely."""

import json
import math
from collections.abc import Callable
from copy import deepcopy

import pytest
import torch

from gptviz.analysis.arithmetic import Explanation, explain
from gptviz.analysis.arithmetic.report import as_json, as_lines
from gptviz.capture import Trace, capture, catalogue
from gptviz.model import TINY, GPTConfig, GPTModel, initialise
from gptviz.panes.arithmetic_words import short_verdict, verdict, working_step

IDS = torch.tensor([[15496, 11, 314, 716]])
Broken = Callable[[GPTModel], object]


def broken(model: GPTModel, change: Broken) -> Trace:
    changed = deepcopy(model)
    with torch.no_grad():
        change(changed)
    return capture(changed, IDS, budget=2**30)


def explained(trace: Trace, name: str, *index: int) -> Explanation:
    explanation = explain(trace, name, index)
    assert explanation is not None
    return explanation


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.tok_emb.weight.fill_(math.nan),
        lambda model: model.tok_emb.weight.fill_(math.inf),
        lambda model: model.out_head.weight[77].fill_(math.nan),
        lambda model: model.out_head.weight[77].fill_(math.inf),
        lambda model: model.trf_blocks[0].att.W_query.weight[3].fill_(-math.inf),
        lambda model: model.trf_blocks[0].att.W_value.weight[3].fill_(math.inf),
        lambda model: model.final_norm.scale.fill_(math.nan),
        lambda model: [parameter.zero_() for parameter in model.parameters()],
    ],
    ids=["nan", "inf", "nan logit", "inf logit", "query", "value", "scale", "zeros"],
)
def test_every_stage_of_a_model_with_no_numbers_is_explained(tiny_model: GPTModel, change: Broken) -> None:
    trace = broken(tiny_model, change)

    for stage in catalogue(TINY):
        shape = stage.shape(TINY, 1, 4)
        for index in (tuple(0 for _ in shape), tuple(size - 1 for size in shape), tuple(size // 2 for size in shape)):
            explanation = explained(trace, stage.name, *index)

            assert explanation.ok, (stage.name, index)
            assert explanation.captured == pytest.approx(trace[stage.name][index].item(), nan_ok=True)
            assert len(list(as_lines(explanation))) > 3
            json.dumps(as_json(explanation, ""), allow_nan=False)
            assert verdict(explanation)
            assert short_verdict(explanation)[1] is False
            assert all(working_step(step, explanation).result for step in explanation.steps)


@pytest.mark.parametrize(("row", "wins"), [({}, 0), ({77: math.nan}, 77), ({77: math.inf, 500: math.nan}, 500)])
def test_argmax_takes_the_first_logit_that_is_no_number(tiny_model: GPTModel, row: dict[int, float], wins: int) -> None:
    def change(model: GPTModel) -> None:
        model.final_norm.scale.zero_()
        model.final_norm.shift.fill_(1.0)
        if not row:
            model.out_head.weight.fill_(math.nan)
        for token, value in row.items():
            model.out_head.weight[token].fill_(value)

    found = explained(broken(tiny_model, change), "next", 0, 0)

    assert found.captured == found.recomputed == wins
    assert found.terms is not None
    assert found.terms.largest(2).tolist() == found.terms.order[:2].tolist()
    if any(map(math.isnan, row.values())) or not row:
        assert "NaN" in found.sentence


def test_a_vocabulary_of_one_token_has_no_runner_up() -> None:
    config = GPTConfig(vocab_size=1, emb_dim=8, n_heads=2, n_layers=1, context_length=4)

    found = explained(capture(initialise(config, seed=1), torch.tensor([[0, 0]])), "next", 0, 0)

    assert [step.name for step in found.steps] == ["largest logit", "its ID"]
    assert found.recomputed == found.captured == 0


def test_a_share_of_scores_that_are_no_numbers_is_not_called_masked(tiny_model: GPTModel) -> None:
    trace = broken(tiny_model, lambda model: model.tok_emb.weight.fill_(math.nan))

    nothing = explained(trace, "trf_blocks.0.att.weights", 0, 0, 2, 1)
    assert math.isnan(nothing.recomputed)
    assert "NaN" in nothing.sentence
    assert "masked" not in nothing.sentence


def test_what_single_precision_cannot_hold_is_an_error_that_says_so(tiny_model: GPTModel) -> None:
    def change(model: GPTModel) -> None:
        for layer in (model.trf_blocks[0].att.W_query, model.trf_blocks[0].att.W_key):
            layer.weight.fill_(1e30)

    trace = broken(tiny_model, change)
    found = explained(trace, "trf_blocks.0.att.scores", 0, 1, 0, 2)

    assert math.isinf(found.captured)
    assert not found.ok
    assert "3.4e38" in verdict(found)
    assert "weights changed" not in verdict(found)


def test_a_zero_in_training_is_not_said_to_be_drawn(own_tiny_model: GPTModel) -> None:
    own_tiny_model.train()
    trace = capture(own_tiny_model, IDS, budget=2**30)

    future = explained(trace, "trf_blocks.0.att.dropout", 0, 0, 1, 3)

    assert future.ok
    assert "stays 0" in future.sentence
