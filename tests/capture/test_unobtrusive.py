"""Watching a model changes nothing: neither its numbers nor the model."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gptviz.capture import CaptureCancelled, CaptureError, StageRecord, Trace, capture
from gptviz.model import FeedForward, GPTModel, InputError

ROOMY = 2**30
HOOK_TABLES = [name for name in vars(nn.Module()) if re.search(r"(for|back)ward.*_hooks", name)]


def hooks_of(model: nn.Module) -> dict[str, list[Any]]:
    """Every hook that is registered on the model or a part of it."""
    return {
        f"{path}.{table}": list(getattr(module, table).values())
        for path, module in model.named_modules()
        for table in HOOK_TABLES
        if getattr(module, table)
    }


class Broken(FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        raise ZeroDivisionError("out of luck")


@pytest.mark.parametrize("budget", [0, ROOMY])
def test_the_logits_are_bit_identical_in_eval_mode(tiny_model: GPTModel, ids: Tensor, budget: int) -> None:
    assert torch.equal(capture(tiny_model, ids, budget=budget)["out_head"], tiny_model(ids))


@pytest.mark.parametrize("budget", [0, ROOMY])
def test_the_logits_are_bit_identical_in_training_mode(own_tiny_model: GPTModel, ids: Tensor, budget: int) -> None:
    model = own_tiny_model.train()
    torch.manual_seed(5)
    plain, next_random = model(ids), torch.rand(1)

    torch.manual_seed(5)
    trace = capture(model, ids, budget=budget)

    assert torch.equal(trace["out_head"], plain)
    assert torch.rand(1) == next_random


@pytest.mark.large
def test_the_124m_models_logits_are_bit_identical(small_model: GPTModel) -> None:
    ids = torch.arange(64)[None]

    assert torch.equal(capture(small_model, ids)["out_head"], small_model(ids))


def test_no_gradient_is_recorded(trace: Trace) -> None:
    assert [name for name in trace.names if trace[name].requires_grad] == []


def test_gradients_stay_on_for_the_caller(tiny_model: GPTModel, ids: Tensor) -> None:
    capture(tiny_model, ids)

    assert torch.is_grad_enabled()


@pytest.mark.parametrize("training", [False, True])
def test_the_models_mode_stays_as_it_is(own_tiny_model: GPTModel, ids: Tensor, training: bool) -> None:
    own_tiny_model.train(training)
    own_tiny_model.trf_blocks[1].att.train(not training)
    before = {path: module.training for path, module in own_tiny_model.named_modules()}

    capture(own_tiny_model, ids, budget=0)["trf_blocks.1.norm1"]

    assert {path: module.training for path, module in own_tiny_model.named_modules()} == before


@pytest.mark.parametrize("training", [False, True])
def test_the_hooks_are_gone_after_a_capture(own_tiny_model: GPTModel, ids: Tensor, training: bool) -> None:
    capture(own_tiny_model.train(training), ids)

    assert hooks_of(own_tiny_model) == {}


@pytest.mark.parametrize("training", [False, True])
def test_the_hooks_are_gone_after_a_replay(own_tiny_model: GPTModel, ids: Tensor, training: bool) -> None:
    capture(own_tiny_model.train(training), ids, budget=0).with_block(1)

    assert hooks_of(own_tiny_model) == {}


@pytest.mark.parametrize("training", [False, True])
def test_the_hooks_are_gone_after_a_failure_in_mid_pass(own_tiny_model: GPTModel, ids: Tensor, training: bool) -> None:
    own_tiny_model.trf_blocks[1].ff = Broken(32)

    with pytest.raises(CaptureError):
        capture(own_tiny_model.train(training), ids)

    assert hooks_of(own_tiny_model) == {}


def test_the_hooks_are_gone_after_a_failed_replay(own_tiny_model: GPTModel, ids: Tensor) -> None:
    trace = capture(own_tiny_model, ids, budget=0)
    own_tiny_model.trf_blocks[1].ff = Broken(32)

    with pytest.raises(ZeroDivisionError):
        trace.with_block(1)

    assert hooks_of(own_tiny_model) == {}


def test_the_hooks_are_gone_after_a_refused_input(own_tiny_model: GPTModel) -> None:
    with pytest.raises(InputError):
        capture(own_tiny_model, torch.tensor([[-1]]))

    assert hooks_of(own_tiny_model) == {}


def test_the_hooks_are_gone_after_an_interrupt(own_tiny_model: GPTModel, ids: Tensor) -> None:
    def interrupt(record: StageRecord) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(own_tiny_model, ids, on_stage=interrupt)

    assert hooks_of(own_tiny_model) == {}


def test_the_hooks_are_gone_after_a_cancel(own_tiny_model: GPTModel, ids: Tensor) -> None:
    class Set:
        def is_set(self) -> bool:
            return True

    with pytest.raises(CaptureCancelled):
        capture(own_tiny_model.train(), ids, cancel=Set())

    assert hooks_of(own_tiny_model) == {}


def test_the_hooks_are_gone_when_a_module_is_missing(own_tiny_model: GPTModel, ids: Tensor) -> None:
    own_tiny_model.trf_blocks[1].att = nn.Identity()

    with pytest.raises(CaptureError):
        capture(own_tiny_model, ids)

    assert hooks_of(own_tiny_model) == {}


def test_the_owners_hooks_survive_and_still_fire(own_tiny_model: GPTModel, ids: Tensor) -> None:
    fired: list[str] = []
    norm = own_tiny_model.trf_blocks[0].norm1
    norm.register_forward_pre_hook(lambda *_: fired.append("before"))
    norm.register_forward_hook(lambda *_: fired.append("after"))
    own_tiny_model.trf_blocks[0].drop_shortcut.register_forward_hook(lambda *_: fired.append("dropout"))
    before = hooks_of(own_tiny_model)
    assert len(before) == 3

    capture(own_tiny_model, ids)
    assert fired == ["before", "after", "dropout", "dropout"]

    assert hooks_of(own_tiny_model) == before
    own_tiny_model(ids)
    assert fired == ["before", "after", "dropout", "dropout"] * 2


def uniform_attention(module: nn.Module, args: tuple[Tensor, ...], weights: Tensor) -> Tensor:
    return torch.full_like(weights, 1 / weights.shape[-1])


@pytest.mark.parametrize("budget", [0, ROOMY])
def test_an_output_that_the_owners_hook_changes_is_recorded_as_changed(
    own_tiny_model: GPTModel, ids: Tensor, budget: int
) -> None:
    untouched = own_tiny_model(ids)
    own_tiny_model.trf_blocks[1].att.weights.register_forward_hook(uniform_attention)

    trace = capture(own_tiny_model, ids, budget=budget)

    assert (trace["trf_blocks.1.att.weights"] == 1 / 3).all()
    assert torch.equal(trace["out_head"], own_tiny_model(ids))
    assert not torch.equal(trace["out_head"], untouched)
