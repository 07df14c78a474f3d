"""Blocks whose inside is not kept run again when they are read, and give the same numbers."""

import numpy as np
import pytest
import torch
from torch import Tensor

from gptviz.capture import Trace, TraceError, block_bytes, capture
from gptviz.model import TINY, GPTModel

ROOMY = 2**30
INSIDE = "trf_blocks.{}.att.weights"


@pytest.fixture
def lean(tiny_model: GPTModel, ids: Tensor) -> Trace:
    """A trace that keeps no block's inside."""
    return capture(tiny_model, ids, budget=0)


def differing(one: Trace, other: Trace, layer: int) -> list[str]:
    names = [name for name in one.names if name.startswith(f"trf_blocks.{layer}.")]
    assert len(names) == 23
    return [name for name in names if not torch.equal(one[name], other[name])]


@pytest.mark.parametrize("layer", [0, 1])
def test_a_replayed_block_is_bit_identical_in_eval_mode(lean: Trace, trace: Trace, layer: int) -> None:
    assert differing(lean.with_block(layer), trace, layer) == []


@pytest.mark.parametrize("layer", [0, 1])
def test_a_replayed_block_is_bit_identical_in_training_mode(own_tiny_model: GPTModel, ids: Tensor, layer: int) -> None:
    model = own_tiny_model.train()
    torch.manual_seed(5)
    roomy = capture(model, ids, budget=ROOMY)
    torch.manual_seed(5)
    lean = capture(model, ids, budget=0)

    assert not torch.equal(roomy[f"trf_blocks.{layer}.att.dropout"], roomy[INSIDE.format(layer)])
    assert differing(lean.with_block(layer), roomy, layer) == []


@pytest.mark.large
def test_a_replayed_block_of_the_124m_model_is_bit_identical(small_model: GPTModel) -> None:
    ids = torch.arange(64)[None]
    roomy, lean = (capture(small_model, ids, budget=budget) for budget in (ROOMY, 0))

    assert differing(lean.with_block(7), roomy, 7) == []


def test_reading_a_stage_replays_its_block(lean: Trace, trace: Trace) -> None:
    assert not lean.has("trf_blocks.1.att.weights")

    assert torch.equal(lean["trf_blocks.1.att.weights"], trace["trf_blocks.1.att.weights"])


def test_a_replay_draws_no_randomness_from_the_caller(own_tiny_model: GPTModel, ids: Tensor) -> None:
    lean = capture(own_tiny_model.train(), ids, budget=0)
    before = torch.get_rng_state()

    lean.with_block(0)

    assert torch.equal(torch.get_rng_state(), before)


def test_a_block_is_replayed_in_the_mode_of_the_capture(own_tiny_model: GPTModel, ids: Tensor, trace: Trace) -> None:
    lean = capture(own_tiny_model.eval(), ids, budget=0)

    own_tiny_model.train()

    assert differing(lean.with_block(1), trace, 1) == []
    assert all(module.training for module in own_tiny_model.modules())


def test_what_is_outside_the_blocks_is_always_at_hand(lean: Trace) -> None:
    names = ["ids", "tok_emb", "pos_emb", "embeddings", "drop_emb", "final_norm", "out_head", "last", "next"]

    assert [name for name in names if not lean.has(name)] == []


def test_every_blocks_output_is_always_at_hand_and_nothing_else_of_it(lean: Trace) -> None:
    of_blocks = [name for name in lean.names if name.startswith("trf_blocks.")]

    assert [name for name in of_blocks if lean.has(name)] == ["trf_blocks.0.shortcut2", "trf_blocks.1.shortcut2"]


def test_a_roomy_budget_keeps_everything(trace: Trace) -> None:
    assert [name for name in trace.names if not trace.has(name)] == []


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_the_budget_decides_how_many_blocks_are_kept(tiny_model: GPTModel, ids: Tensor, blocks: int) -> None:
    one_block = block_bytes(TINY, *ids.shape)

    exact = capture(tiny_model, ids, budget=blocks * one_block)
    below = capture(tiny_model, ids, budget=max(0, blocks * one_block - 1))

    assert [exact.has_block(layer) for layer in (0, 1)] == [blocks > 0, blocks > 1]
    assert [below.has_block(layer) for layer in (0, 1)] == [blocks > 1, False]


def test_with_block_gives_a_new_trace_that_has_the_block(lean: Trace) -> None:
    fuller = lean.with_block(1)

    assert (fuller.has_block(1), fuller.has("trf_blocks.1.att.weights")) == (True, True)
    assert (lean.has_block(1), lean.has("trf_blocks.1.att.weights")) == (False, False)


def test_only_one_replayed_block_is_at_hand_at_a_time(lean: Trace) -> None:
    moved_on = lean.with_block(0).with_block(1)

    assert [moved_on.has_block(layer) for layer in (0, 1)] == [False, True]


def test_a_block_that_is_kept_does_not_run_again(own_tiny_model: GPTModel, ids: Tensor) -> None:
    roomy = capture(own_tiny_model, ids, budget=ROOMY)
    ran: list[int] = []
    own_tiny_model.trf_blocks[1].register_forward_hook(lambda *_: ran.append(1))

    assert roomy.with_block(1) is roomy
    roomy[INSIDE.format(1)]

    assert ran == []


def test_only_the_block_that_is_read_runs_again(own_tiny_model: GPTModel, ids: Tensor) -> None:
    lean = capture(own_tiny_model, ids, budget=0)
    ran: list[int] = []
    for layer, block in enumerate(own_tiny_model.trf_blocks):
        block.register_forward_hook(lambda *_, layer=layer: ran.append(layer))

    lean[INSIDE.format(1)]

    assert ran == [1]


@pytest.mark.parametrize("name", ["out_head", "trf_blocks.1.att.weights", "trf_blocks.0.att.queries", "ids"])
def test_an_array_shares_the_tensors_memory(trace: Trace, name: str) -> None:
    array = trace.array(name)

    assert array.ctypes.data == trace[name].data_ptr()
    assert np.array_equal(array, trace[name].numpy())


def test_an_array_is_had_of_a_replayed_block_too(lean: Trace, trace: Trace) -> None:
    name = INSIDE.format(1)

    assert np.array_equal(lean.with_block(1).array(name), trace.array(name))


def test_asking_for_an_array_never_runs_a_block(lean: Trace) -> None:
    with pytest.raises(TraceError, match=r"trf_blocks\.1\.att\.weights is not at hand"):
        lean.array("trf_blocks.1.att.weights")


def test_a_stage_that_does_not_exist_is_a_key_error(trace: Trace) -> None:
    assert "trf_blocks.2.norm1" not in trace
    assert not trace.has("trf_blocks.2.norm1")
    with pytest.raises(KeyError, match=r"there is no stage 'trf_blocks\.2\.norm1'"):
        trace["trf_blocks.2.norm1"]


@pytest.mark.parametrize("weight", ["att.W_query.weight", "att.out_proj.bias", "norm2.scale", "ff.layers.2.weight"])
def test_a_block_whose_weights_were_changed_since_is_not_shown(
    own_tiny_model: GPTModel, ids: Tensor, weight: str
) -> None:
    lean = capture(own_tiny_model, ids, budget=0)

    with torch.no_grad():
        own_tiny_model.trf_blocks[1].get_parameter(weight).mul_(1.5)

    with pytest.raises(TraceError, match=r"^block 2 ran again and gave other numbers.* weights were changed"):
        lean["trf_blocks.1.att.weights"]


def test_blocks_whose_weights_were_not_changed_can_still_be_read(own_tiny_model: GPTModel, ids: Tensor) -> None:
    lean = capture(own_tiny_model, ids, budget=0)

    torch.nn.init.zeros_(own_tiny_model.trf_blocks[1].att.out_proj.bias)

    assert lean["trf_blocks.0.att.weights"].shape == (2, 2, 3, 3)


def test_what_is_kept_outlives_a_change_of_the_weights(own_tiny_model: GPTModel, ids: Tensor, trace: Trace) -> None:
    roomy = capture(own_tiny_model, ids, budget=ROOMY)

    for parameter in own_tiny_model.parameters():
        torch.nn.init.zeros_(parameter)

    assert differing(roomy, trace, 1) == []
    assert torch.equal(roomy["pos_emb"], trace["pos_emb"])


def test_a_block_that_gives_nan_can_be_replayed(own_tiny_model: GPTModel, ids: Tensor) -> None:
    torch.nn.init.constant_(own_tiny_model.trf_blocks[0].ff.layers[2].bias, float("nan"))
    lean = capture(own_tiny_model, ids, budget=0)

    assert lean["trf_blocks.0.ff.layers.2"].isnan().all()
    assert lean["trf_blocks.1.att.weights"].isnan().any()


def test_a_trace_keeps_its_ids_when_the_caller_reuses_the_tensor(tiny_model: GPTModel) -> None:
    reused = torch.tensor([[15496, 11]])
    trace = capture(tiny_model, reused)

    reused.zero_()

    assert trace.ids.tolist() == [[15496, 11]]
