"""The arithmetic behind each number: recomputed from its operands, and compared with the model's."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from gptviz.analysis.arithmetic import CellError, Explanation, Operand, explain
from gptviz.analysis.arithmetic.writing import plain
from gptviz.capture import Stage, Trace, capture, catalogue
from gptviz.model import TINY, GPTConfig, GPTModel, initialise

STAGES = catalogue(TINY)
CELLS = 200  # of each stage
Tampered = Callable[[str, Callable[[Tensor], object]], Trace]


def explained(trace: Trace, name: str, *index: int) -> Explanation:
    explanation = explain(trace, name, index)
    assert explanation is not None
    return explanation


def random_cells(trace: Trace, stage: Stage, count: int = CELLS) -> list[tuple[int, ...]]:
    """Return ``count`` cells of a stage, or all if it has no more."""
    random = np.random.default_rng(stage.index)
    shape = stage.shape(trace.config, trace.batch, trace.tokens)
    cells = random.choice(math.prod(shape), min(count, math.prod(shape)), replace=False)
    return [tuple(int(at) for at in np.unravel_index(cell, shape)) for cell in cells]


def operands_of(explanation: Explanation) -> list[Operand]:
    """All that the number was made from: single numbers, and the first and the last of each row."""
    rows = [
        Operand(vector.symbol, vector.place(i), float(vector.values[i]))
        for vector in explanation.vectors
        for i in (0, len(vector.values) - 1)
    ]
    return [*explanation.operands, *rows]


def value_at(trace: Trace, operand: Operand) -> float:
    place = operand.place
    tensor = trace.replay.model.get_parameter(place.name) if place.parameter else trace[place.name]
    return tensor[place.index].item()


# --- every stage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_two_hundred_random_cells_agree_with_the_model(trace: Trace, stage: Stage) -> None:
    for index in random_cells(trace, stage):
        explanation = explained(trace, stage.name, *index)
        assert explanation.captured == trace[stage.name][index].item()
        assert explanation.relative <= 1e-4, index
        assert explanation.ok
        assert explanation.recomputed == explanation.steps[-1].value


@pytest.mark.large
def test_two_hundred_random_cells_of_each_stage_agree_with_the_124m_model(small_model: GPTModel) -> None:
    ids = torch.tensor([[15496, 11, 314, 716, 257, 1332], [40, 716, 257, 1332, 13, 50256]])
    trace = capture(small_model, ids, budget=2**31)

    for stage in catalogue(trace.config):
        worst = max(explained(trace, stage.name, *index).relative for index in random_cells(trace, stage))
        assert worst <= 1e-4, stage.name


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_operands_are_where_they_are_said_to_be(trace: Trace, stage: Stage) -> None:
    for index in random_cells(trace, stage, 5):
        explanation = explained(trace, stage.name, *index)
        assert (operands_of(explanation) != []) == (stage.name not in ("ids",))
        for operand in operands_of(explanation):
            assert operand.value == value_at(trace, operand)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage.name != "ids"], ids=lambda stage: stage.name)
def test_a_corrupted_trace_is_found_out(trace: Trace, tampered: Tampered, stage: Stage) -> None:
    index = random_cells(trace, stage, 1)[0]

    def corrupt(tensor: Tensor) -> None:
        tensor[index] = tensor[index] + 1 if torch.isfinite(tensor[index]) else 3.0

    explanation = explained(tampered(stage.name, corrupt), stage.name, *index)

    assert not explanation.ok
    assert explanation.difference != 0


@pytest.mark.parametrize(
    "name", ["trf_blocks.1.norm1", "trf_blocks.0.att.W_key", "trf_blocks.1.ff.layers.2", "out_head"]
)
def test_a_fault_of_a_thousandth_is_found_out_where_terms_cancel(trace: Trace, tampered: Tampered, name: str) -> None:
    index = random_cells(trace, trace.record(name).stage, 1)[0]
    size = explained(trace, name, *index).size

    explanation = explained(tampered(name, lambda tensor: tensor[index].add_(size / 1000)), name, *index)

    assert not explanation.ok
    assert explanation.relative == pytest.approx(1e-3, rel=0.02)


def test_one_can_walk_back_from_the_next_token_to_the_embedding_tables(trace: Trace) -> None:
    seen, ends = [], set()
    here: Operand = explained(trace, "next", 1, 0).operands[0]
    while not here.place.parameter:
        seen.append(here.place.name)
        operands = operands_of(explained(trace, here.place.name, *here.place.index))
        ends |= {operand.place.name for operand in operands if operand.place.parameter}
        stages = [operand for operand in operands if not operand.place.parameter and operand.place.name != "ids"]
        here = (stages or operands[-1:])[-1]

    assert seen[:3] == ["last", "out_head", "final_norm"]
    assert {"tok_emb.weight", "pos_emb.weight"} & ends
    assert "out_head.weight" in ends


# --- what the lines say ----------------------------------------------------------------------------------


def written(explanation: Explanation) -> list[str]:
    return [f"{plain(step.equation)} = {plain(step.numbers)}" for step in explanation.steps]


def test_a_layer_norm_has_five_lines(trace: Trace) -> None:
    explanation = explained(trace, "trf_blocks.1.norm2", 1, 3, 7)
    x = trace["trf_blocks.1.shortcut1"][1, 3].double()
    norm = trace.replay.model.trf_blocks[1].norm2
    normalised = (x[7] - x.mean()) / torch.sqrt(x.var(unbiased=False) + 1e-5)
    scaled = normalised * norm.scale[7].double()

    assert [step.name for step in explanation.steps] == ["mean", "variance", "normalise", "scale", "shift"]
    values = [x.mean(), x.var(unbiased=False), normalised, scaled, scaled + norm.shift[7].double()]
    assert [step.value for step in explanation.steps] == pytest.approx([value.item() for value in values])
    assert "+ eps" in written(explanation)[2]
    assert "+ 10^(−5)" in written(explanation)[2]


def test_a_softmax_subtracts_the_maximum_and_sums_the_exponentials(trace: Trace) -> None:
    explanation = explained(trace, "trf_blocks.0.att.weights", 1, 1, 3, 1)
    scores = trace["trf_blocks.0.att.masked"][1, 1, 3, :4].double()
    powers = torch.exp(scores - scores.max())

    assert [step.name for step in explanation.steps] == ["largest score", "this key", "all keys", "its share"]
    assert explanation.terms is not None
    assert explanation.terms.values == pytest.approx(powers.numpy())
    assert explanation.steps[2].value == pytest.approx(powers.sum().item())
    assert [(vector.mark, len(vector.values)) for vector in explanation.vectors] == [(1, 4)]  # a masked one is left out


def test_a_masked_cell_is_explained_by_its_place(trace: Trace) -> None:
    masked = explained(trace, "trf_blocks.0.att.masked", 0, 0, 1, 4)
    weight = explained(trace, "trf_blocks.0.att.weights", 0, 0, 1, 4)

    assert masked.recomputed == masked.captured == -np.inf
    assert masked.difference == 0
    assert "key 4 > query 1" in written(masked)[0]
    assert weight.captured == weight.recomputed == 0
    assert "masked" in weight.sentence


def test_a_dot_product_lists_its_largest_terms_and_sums_the_rest(trace: Trace) -> None:
    explanation = explained(trace, "trf_blocks.0.ff.layers.2", 0, 2, 5)
    terms = explanation.terms
    assert terms is not None
    assert terms.extra is not None
    layer = trace.replay.model.trf_blocks[0].ff.layers[2]
    products = (trace["trf_blocks.0.ff.layers.1"][0, 2].double() * layer.weight[5].double()).detach()

    assert len(terms) == 128
    sizes = [abs(terms.term(int(i)).value) for i in terms.order]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == pytest.approx(products.abs().max().item())
    largest = sum(terms.term(int(i)).value for i in terms.order[:8])
    assert largest + terms.rest(8) == pytest.approx(products.sum().item())
    assert explanation.recomputed == pytest.approx(products.sum().item() + layer.bias[5].item())
    assert "125 others" in written(explanation)[0]
    assert "[bias]" in written(explanation)[0]


def test_a_layer_without_bias_says_nothing_of_one(trace: Trace) -> None:
    explanation = explained(trace, "trf_blocks.0.att.W_query", 0, 2, 5)

    assert explanation.operands == ()
    assert "bias" not in written(explanation)[0]
    assert "bias" not in explanation.code[-1]


@pytest.mark.parametrize(
    ("name", "index", "source"),
    [
        ("trf_blocks.0.att.keys", (1, 1, 2, 5), "trf_blocks.0.att.W_key[1, 2, 21]"),
        ("trf_blocks.0.att.merged", (1, 2, 21), "trf_blocks.0.att.context[1, 1, 2, 5]"),
        ("pos_emb", (3, 9), "pos_emb.weight[3, 9]"),
        ("tok_emb", (0, 3, 9), "tok_emb.weight[716, 9]"),
        ("last", (1, 40000), "out_head[1, 4, 40000]"),
    ],
)
def test_what_is_only_moved_comes_from_one_place(trace: Trace, name: str, index: tuple[int, ...], source: str) -> None:
    explanation = explained(trace, name, *index)

    assert str(explanation.operands[-1].place) == source
    assert explanation.tolerance == explanation.difference == 0


def test_the_next_token_has_a_runner_up_and_a_margin(trace: Trace) -> None:
    explanation = explained(trace, "next", 1, 0)
    two = trace["last"][1].topk(2)

    assert explanation.whole
    assert explanation.recomputed == two.indices[0]
    assert [step.value for step in explanation.steps[:2]] == pytest.approx(two.values.tolist())
    assert explanation.steps[2].value == pytest.approx((two.values[0] - two.values[1]).item(), abs=1e-6)


def test_position_embeddings_are_added_to_every_sequence(trace: Trace) -> None:
    explanation = explained(trace, "embeddings", 1, 2, 3)

    assert [str(operand.place) for operand in explanation.operands] == ["tok_emb[1, 2, 3]", "pos_emb[2, 3]"]


def test_dropout_that_is_on_is_told_from_dropout_that_is_off(own_tiny_model: GPTModel) -> None:
    own_tiny_model.train()
    torch.manual_seed(1)
    trace = capture(own_tiny_model, torch.tensor([[15496, 11, 314]]), budget=2**30)
    stage = trace.record("trf_blocks.0.drop_shortcut1").stage
    explanations = [explained(trace, stage.name, *index) for index in random_cells(trace, stage)]
    out = [e for e in explanations if e.captured == 0]
    kept = [e for e in explanations if e.captured != 0]

    assert all(e.ok and "training" in e.sentence.lower() for e in explanations)
    assert all("left out" in e.sentence for e in out)
    assert all(e.captured == pytest.approx(e.operands[0].value / 0.9) for e in kept)
    assert out
    assert kept


# --- models with other settings --------------------------------------------------------------------------

SMALL = {"vocab_size": 61, "context_length": 8, "emb_dim": 12, "n_heads": 3, "n_layers": 2}
OTHERS = [
    {"activation": "gelu", "n_inner": 20},
    {"activation": "relu", "qkv_bias": True, "tie_weights": True},
    {"bias": False, "scale_attn_weights": False},
    {"scale_attn_by_inverse_layer_idx": True, "norm_eps": 1e-3},
    {"scale_attn_by_inverse_layer_idx": True, "scale_attn_weights": False},
]


@pytest.mark.parametrize("settings", OTHERS, ids=", ".join)
def test_every_stage_of_a_model_with_other_settings_agrees(settings: dict[str, object]) -> None:
    model = initialise(GPTConfig.from_dict({**SMALL, **settings}), seed=3)
    trace = capture(model, torch.tensor([[4, 8, 15, 16], [23, 42, 7, 60]]))

    for stage in catalogue(trace.config):
        for index in random_cells(trace, stage, 20):
            assert explained(trace, stage.name, *index).ok, (stage.name, index)


def other(name: str, index: tuple[int, ...], **settings: object) -> Explanation:
    model = initialise(GPTConfig.from_dict({**SMALL, **settings}), seed=3)
    return explained(capture(model, torch.tensor([[4, 8, 15, 16]])), name, *index)


def test_the_operation_is_read_from_the_model_and_not_assumed() -> None:
    exact = other("trf_blocks.0.ff.layers.1", (0, 1, 2), activation="gelu")
    relu = other("trf_blocks.0.ff.layers.1", (0, 1, 2), activation="relu")
    unscaled = other("trf_blocks.1.att.scaled", (0, 0, 1, 1), scale_attn_weights=False)
    by_block = other("trf_blocks.1.att.scaled", (0, 0, 1, 1), scale_attn_by_inverse_layer_idx=True)
    bare = other("trf_blocks.1.norm1", (0, 1, 2), bias=False)

    assert [step.name for step in exact.steps] == ["erf", "result"]
    assert (relu.operation, written(relu)[0].split(" = ")[1]) == ("ReLU", "max(0, x)")
    assert unscaled.recomputed == unscaled.operands[0].value
    assert by_block.recomputed == pytest.approx(by_block.operands[0].value / (2 * 4**0.5))
    assert [step.name for step in bare.steps][-1] == "scale"


# --- what can't be explained -----------------------------------------------------------------------------


def test_a_block_that_is_not_at_hand_is_not_run(lean: Trace) -> None:
    name = "trf_blocks.1.att.weights"

    assert explain(lean, name, (0, 0, 1, 1)) is None
    assert explain(lean.with_block(1), name, (0, 0, 1, 1)) is not None
    assert explain(lean, "out_head", (0, 0, 1)) is not None


def test_a_stage_that_has_not_run_has_no_arithmetic_yet(trace: Trace) -> None:
    held = replace(trace, records=trace.records[:3], kept={name: trace.kept[name] for name in trace.names[:3]})

    assert explain(held, "tok_emb", (0, 0, 0)) is not None
    assert explain(held, "embeddings", (0, 0, 0)) is None


@pytest.mark.parametrize(
    ("name", "index", "reason"),
    [
        ("attention", (0,), "no stage 'attention'"),
        ("ids", (0, 0, 0), r"ids has the shape \(2, 5\): an index has 2 numbers, but this one has 3"),
        ("trf_blocks.0.att.scores", (0, 2, 0, 0), "number 2 of the index goes from 0 to 1, but is 2"),
        ("tok_emb", (0, 0, -1), "number 3 of the index goes from 0 to 31, but is -1"),
    ],
)
def test_a_cell_that_is_not_there_is_refused(trace: Trace, name: str, index: tuple[int, ...], reason: str) -> None:
    with pytest.raises(CellError, match=reason):
        explain(trace, name, index)


def test_numbers_that_are_none_are_compared_as_such(trace: Trace, tampered: Tampered) -> None:
    nothing = tampered("tok_emb", lambda tensor: tensor[0, 0].fill_(torch.nan))

    first = explained(nothing, "tok_emb", 0, 0, 3)
    assert not first.ok  # the table holds a number
    assert not explained(nothing, "embeddings", 0, 0, 3).ok
    both = replace(nothing, kept={**nothing.kept, "embeddings": nothing["tok_emb"]})
    assert explained(both, "embeddings", 0, 0, 3).difference == 0


def test_the_largest_of_many_are_those_that_sorting_all_gives(trace: Trace) -> None:
    terms = explained(trace, "next", 0, 0).terms
    assert terms is not None
    tied = replace(terms, values=np.round(terms.values, 1))

    for each in (terms, tied):
        assert each.largest(20).tolist() == each.order[:20].tolist()
        assert each.rest(20) == pytest.approx(each.values[each.order[20:]].sum())
