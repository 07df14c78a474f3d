"""What is computed from a recorded run: the same numbers as with its model, and what is missing is named."""

import numpy as np
import pytest
import torch

from gptviz.analysis.arithmetic import explain
from gptviz.analysis.attention import head_map
from gptviz.analysis.attribution import read_parts
from gptviz.analysis.attribution_answer import answer
from gptviz.analysis.attribution_question import Question
from gptviz.analysis.checks import CAUSALITY, HEAD, run_checks
from gptviz.analysis.heads import block_scores
from gptviz.analysis.layer_norm import layer_norm_view
from gptviz.analysis.logit_lens import read_all
from gptviz.analysis.source import stage_source
from gptviz.capture import NotRecordedError, Trace, capture, catalogue, recorded
from gptviz.model import TINY, GPTModel

IDS = torch.tensor([[15496, 11, 314, 716, 11, 314]])
STAGES = [stage.name for stage in catalogue(TINY)]
TAKES_A_MATRIX = (
    "tok_emb",
    "pos_emb",
    "W_query",
    "W_key",
    "W_value",
    "out_proj",
    "ff.layers.0",
    "ff.layers.2",
    "out_head",
)


@pytest.fixture(scope="module")
def whole(tiny_model: GPTModel) -> Trace:
    weights = {"att.weights": lambda tensor: tensor.numpy()}
    return capture(tiny_model, IDS, digests=weights)


@pytest.fixture(scope="module")
def outside(tiny_model: GPTModel) -> Trace:
    """A recording without the inside of any block."""
    weights = {"att.weights": lambda tensor: tensor.numpy()}
    return recorded(capture(tiny_model, IDS, budget=0, digests=weights))


@pytest.mark.parametrize("name", STAGES)
def test_every_number_is_explained_as_with_the_model_unless_that_takes_a_matrix(whole: Trace, name: str) -> None:
    shape = whole.record(name).output_shape
    index = tuple(size - 1 for size in shape)

    live, found = explain(whole, name, index), explain(recorded(whole), name, index)

    assert live is not None
    assert found is not None
    assert found.captured == live.captured
    assert found.ok
    if name.endswith(TAKES_A_MATRIX):
        assert found.lacks.endswith(".weight is not in the recording, and its model is not loaded")
        assert [step.equation for step in found.steps] == [step.equation for step in live.steps]
    else:
        assert not found.lacks
        assert (found.recomputed, found.steps) == (live.recomputed, live.steps)
    assert found.onward == live.onward
    assert found.code == live.code


@pytest.mark.parametrize("name", STAGES)
def test_the_source_of_every_stage_is_there(whole: Trace, name: str) -> None:
    stage = whole.record(name).stage
    source = stage_source(recorded(whole), stage)

    assert source is not None
    assert source == stage_source(whole, stage)


def test_checks_agree_and_those_that_take_the_model_are_not_measured(whole: Trace, outside: Trace) -> None:
    live = {check.name: check for check in run_checks(whole)}
    found = {check.name: check for check in run_checks(recorded(whole))}

    unmeasured = {name for name, check in found.items() if check.max_error is None}
    assert unmeasured == {HEAD, CAUSALITY}
    assert all(found[name] == live[name] for name in live if name not in unmeasured)
    few = {check.name: check for check in run_checks(outside)}
    assert few["attention rows sum to one"].max_error is None
    assert few["attention rows sum to one"].note == "the inside of block 1 is not in the recording"
    norm = few["LayerNorm: mean 0 before scale and shift"]
    assert norm.max_error is not None
    assert norm.note == "the inside of block 1 is not in the recording"


def test_norms_scores_and_attention_agree(whole: Trace, outside: Trace) -> None:
    without = recorded(whole)
    for norm in ("trf_blocks.1.norm2", "final_norm"):
        one, other = layer_norm_view(whole, norm, 2), layer_norm_view(without, norm, 2)
        assert one is not None
        assert other is not None
        assert np.array_equal(one.normalised, other.normalised)
        assert one.error == other.error
    for layer in range(TINY.n_layers):
        assert np.array_equal(block_scores(whole, layer), block_scores(outside, layer), equal_nan=True)
        weights = head_map(outside, layer, 1, "weights")
        assert weights is not None
        assert np.array_equal(weights, whole.array(f"trf_blocks.{layer}.att.weights")[0, 1])
        assert head_map(outside, layer, 1, "scores") is None


def test_the_lens_has_the_models_output_in_its_last_row(whole: Trace) -> None:
    live, found = read_all(whole, 0), read_all(recorded(whole), 0)

    assert found.complete
    assert np.array_equal(found.ids[-1], live.ids[-1])
    assert np.array_equal(found.probabilities[-1], live.probabilities[-1])
    assert not any(found.has(row, position) for row in range(TINY.n_layers) for position in range(6))
    assert found.lacks.startswith("out_head.weight is not in the recording")


def test_a_value_of_the_stream_is_taken_apart_block_by_block(whole: Trace, outside: Trace) -> None:
    question = Question("stream", stage="trf_blocks.1.shortcut2", feature=5)
    live = answer(whole, read_parts(whole, 0, 3), question)
    found = answer(outside, read_parts(outside, 0, 3), question)

    assert live is not None
    assert found is not None
    assert found.attribution.holds
    assert found.attribution.captured == live.attribution.captured
    blocks = {share.part.title: share.value for share in found.attribution.shares}
    parts = {share.part.title: share.value for share in live.attribution.shares}
    added = parts["block 1 attention"] + parts["block 1 feed-forward"]
    assert blocks["block 1, all of it"] == pytest.approx(added, abs=1e-6)


@pytest.mark.parametrize("question", [Question("logit", token=11), Question("stream", stage="trf_blocks.0.shortcut1")])
def test_what_cannot_be_taken_apart_says_why(outside: Trace, question: Question) -> None:
    with pytest.raises(NotRecordedError, match=r"is not in the recording, and its model is not loaded$"):
        answer(outside, read_parts(outside, 0, 3), question)
