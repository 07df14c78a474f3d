"""What differs between two runs, and by how much."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from gptviz.analysis.compared_tokens import head_map, map_difference, rank_of, ranked_tokens
from gptviz.analysis.comparison import (
    ROUNDING,
    Run,
    StageDifference,
    compare_part,
    in_order,
    parts,
    relative_difference,
)
from gptviz.capture import capture, catalogue
from gptviz.model import TINY, GPTModel, initialise

HELLO = [15496, 11, 314, 716]
INF = float("inf")


def run(model: GPTModel, ids: list[int], budget: int = 2**25) -> Run:
    return Run(capture(model, torch.tensor([ids]), budget=budget))


def compared(a: Run, b: Run) -> dict[str, StageDifference]:
    found = [one for part in range(parts(a.config, b.config)) for one in compare_part(a, b, part)]
    return {one.name: one for one in in_order(found)}


@pytest.fixture(scope="module")
def shallow() -> GPTModel:
    """A model with one block, wider and with more heads than the small one."""
    config = replace(TINY, emb_dim=48, n_heads=4, n_layers=1)
    return initialise(config, seed=1)


# --- the size of a difference ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "relative", "largest"),
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0, 0.0),
        ([3.0, 4.0], [3.0, 9.0], 1.0, 5.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0, 0.0),
        ([0.0, 0.0], [0.0, 1.0], INF, 1.0),
        ([3.0, 4.0, -INF], [0.0, 0.0, -INF], 1.0, 4.0),  # masked in both
        ([3.0, 4.0, 1.0], [3.0, 4.0, -INF], INF, INF),
        ([], [], 0.0, 0.0),
    ],
)
def test_relative_difference(a: list[float], b: list[float], relative: float, largest: float) -> None:
    found = relative_difference(np.array(a, dtype=np.float32), np.array(b, dtype=np.float32))

    assert found == (relative, largest)


def test_what_is_no_number_in_one_run_alone_is_told() -> None:
    relative, largest = relative_difference(np.array([1.0, 2.0]), np.array([1.0, np.nan]))
    assert np.isnan(relative)
    assert np.isnan(largest)
    both = np.array([2.0, np.nan])
    assert relative_difference(both, both) == (0.0, 0.0)


def test_many_numbers_are_added_up_in_pieces() -> None:
    a = np.ones(2**21 + 3, dtype=np.float32)
    relative, largest = relative_difference(a, 3 * a)

    assert relative == pytest.approx(2.0)
    assert largest == 2.0


# --- stages ----------------------------------------------------------------------------------------------


def test_a_run_does_not_differ_from_itself(tiny_model: GPTModel) -> None:
    found = compared(run(tiny_model, HELLO), run(tiny_model, HELLO))

    assert tuple(found) == tuple(stage.name for stage in catalogue(TINY))
    assert all(one.same_shape and not one.relative and not one.differing for one in found.values())


def test_the_difference_of_each_stage_is_what_torch_says(tiny_model: GPTModel) -> None:
    a, b = run(tiny_model, HELLO), run(tiny_model, [15496, 11, 345, 389])
    found = compared(a, b)

    assert found["ids"].differing == 2
    assert found["pos_emb"].relative == 0
    for name in ("tok_emb", "trf_blocks.0.att.scores", "trf_blocks.1.ff.layers.1", "out_head"):
        one, other = a.trace[name].double(), b.trace[name].double()
        assert found[name].relative == pytest.approx(float((other - one).norm() / one.norm()))
        assert found[name].largest == pytest.approx(float((other - one).abs().max()))
    assert found["trf_blocks.0.att.masked"].largest is not None
    assert np.isfinite(found["trf_blocks.0.att.masked"].largest)


def test_another_number_of_tokens_is_compared_over_those_that_both_have(tiny_model: GPTModel) -> None:
    """Later tokens change nothing at earlier positions, so a longer text differs by rounding alone."""
    found = compared(run(tiny_model, HELLO), run(tiny_model, [*HELLO, 257, 3797]))
    inside = found["trf_blocks.1.shortcut2"]

    assert (inside.shape_a, inside.shape_b) == ((1, 4, 32), (1, 6, 32))
    assert inside.note == "first 4 tokens"
    assert inside.relative is not None
    assert inside.relative < ROUNDING
    assert found["last"].note == "the last token of each"
    assert found["last"].relative is not None
    assert found["last"].relative > 0.1


def test_a_single_token_is_one_token(tiny_model: GPTModel) -> None:
    one, more = (Run(capture(tiny_model, torch.tensor([ids]))) for ids in ([15496], [15496, 11]))

    assert next(found.note for found in compare_part(one, more, 0) if found.name == "ids") == "first token"


def test_models_of_other_sizes_are_compared_as_far_as_they_go(tiny_model: GPTModel, shallow: GPTModel) -> None:
    found = compared(run(tiny_model, HELLO), run(shallow, HELLO))

    assert found["tok_emb"].note == "32 and 48 features"
    assert found["tok_emb"].relative is None
    assert found["trf_blocks.0.att.weights"].note == "2 and 4 heads"
    assert found["trf_blocks.1.norm1"].note == "only in A"
    assert found["trf_blocks.1.norm1"].shape_b is None
    assert found["out_head"].relative is not None
    assert list(found)[-1] == "next"


def test_another_seed_differs_in_every_number(tiny_model: GPTModel) -> None:
    found = compared(run(tiny_model, HELLO), run(initialise(TINY, seed=7), HELLO))

    assert found["ids"].differing == 0
    assert all(one.relative > 0.01 for name, one in found.items() if one.relative is not None and "mask" not in name)


def test_blocks_that_were_not_kept_run_again(tiny_model: GPTModel) -> None:
    kept = compared(run(tiny_model, HELLO), run(tiny_model, HELLO[::-1]))
    lean = compared(run(tiny_model, HELLO, budget=0), run(tiny_model, HELLO[::-1], budget=0))

    assert kept == lean


def test_without_its_model_a_run_has_what_was_kept(tiny_model: GPTModel) -> None:
    lean = run(tiny_model, HELLO, budget=0)
    alone = Run(lean.trace.without_model())
    found = compared(alone, run(tiny_model, HELLO))

    assert found["trf_blocks.0.norm1"].relative is None
    assert found["trf_blocks.0.norm1"].note == "not kept, and its model is gone"
    assert found["trf_blocks.0.shortcut2"].relative == 0
    kept = Run(lean.trace.with_block(0).keeping().without_model())
    assert compared(kept, run(tiny_model, HELLO))["trf_blocks.0.norm1"].relative == 0


def test_rows_of_batches_are_compared(tiny_model: GPTModel) -> None:
    trace = capture(tiny_model, torch.tensor([HELLO, HELLO[::-1]]))
    found = compared(Run(trace, 0), Run(trace, 1))

    assert found["ids"].differing == 4
    assert found["pos_emb"].relative == 0


# --- tokens and heads ------------------------------------------------------------------------------------


def test_ranks_are_counted_from_one_and_equal_logits_ordered_by_id() -> None:
    logits = np.array([1.0, 5.0, 5.0, 2.0])

    assert [rank_of(logits, token) for token in range(4)] == [4, 1, 2, 3]


def test_each_token_knows_its_place_in_the_other_run(tiny_model: GPTModel) -> None:
    a, b = run(tiny_model, HELLO), run(tiny_model, HELLO[::-1])
    ranked = ranked_tokens(b.last_logits, a.last_logits, 3)
    order = torch.argsort(a.trace["last"][0], descending=True).tolist()
    shares = torch.softmax(a.trace["last"][0].double(), 0)

    assert [one.rank for one in ranked] == [1, 2, 3]
    assert ranked[0].id == int(b.trace["next"])
    for one in ranked:
        assert one.other_rank == order.index(one.id) + 1
        assert one.other_probability == pytest.approx(float(shares[one.id]))


def test_a_token_that_the_other_vocabulary_lacks_has_no_place_there() -> None:
    ranked = ranked_tokens(np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0]), 2)

    assert [(one.id, one.other_rank) for one in ranked] == [(2, None), (1, 1)]


def test_heads_that_a_run_lacks_are_named(tiny_model: GPTModel) -> None:
    a = run(tiny_model, HELLO)

    assert head_map(a, 2, 0, "weights") == (None, "It has no block 3.")
    assert head_map(a, 0, 2, "weights") == (None, "It has no head 3.")
    values, why = head_map(a, 1, 1, "weights")
    assert values is not None
    assert (values.tolist(), why) == (a.trace["trf_blocks.1.att.weights"][0, 1].tolist(), "")


def test_maps_are_subtracted_over_the_tokens_that_both_have(tiny_model: GPTModel) -> None:
    a, b = run(tiny_model, HELLO), run(tiny_model, [40, 716, 257, 3797, 11])
    one, other = head_map(a, 0, 1, "masked")[0], head_map(b, 0, 1, "masked")[0]
    assert one is not None
    assert other is not None
    difference = map_difference(one, other)

    assert difference.shape == (4, 4)
    assert np.isnan(difference[0, 1])
    assert difference[2, 1] == other[2, 1] - one[2, 1]


def test_comparing_changes_no_run(tiny_model: GPTModel) -> None:
    a, b = run(tiny_model, HELLO), run(tiny_model, HELLO[::-1])
    before = copy.deepcopy(dict(a.trace.kept))
    compared(a, b)

    assert all(torch.equal(a.trace.kept[name], tensor) for name, tensor in before.items())
