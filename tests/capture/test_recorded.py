"""A run whose model is not here: what was kept is the same, and the rest says that it is missing."""

import pytest
import torch

from gptviz.capture import TraceError, capture, recorded
from gptviz.model import GPTModel

IDS = torch.tensor([[15496, 11, 314, 716]])


def test_all_that_was_kept_is_the_same(tiny_model: GPTModel) -> None:
    trace = capture(tiny_model, IDS)

    without = recorded(trace)

    assert without.names == trace.names
    assert all(torch.equal(without[name], trace[name]) for name in trace.names)


def test_scales_and_biases_are_there_and_matrices_are_not(tiny_model: GPTModel) -> None:
    without = recorded(capture(tiny_model, IDS))

    assert (without.parameter("final_norm.scale") == tiny_model.final_norm.scale.detach().numpy()).all()
    assert without.eps("final_norm") == tiny_model.final_norm.eps
    with pytest.raises(TraceError, match=r"out_head.weight is not in the recording"):
        without.parameter("out_head.weight")


def test_a_block_that_was_not_kept_cannot_run_again(tiny_model: GPTModel) -> None:
    without = recorded(capture(tiny_model, IDS, budget=0))

    assert not without.can_replay
    assert not without.has_block(0)
    with pytest.raises(TraceError, match="the recording does not have it"):
        without["trf_blocks.0.att.weights"]
