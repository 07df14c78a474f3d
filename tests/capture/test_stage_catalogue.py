"""Names, order and shapes of the stages, written out from the design."""

import subprocess
import sys

import pytest
import torch

from gptviz.capture import Trace, block_input_name, block_stages, capture, catalogue
from gptviz.model import GPT2_SMALL, TINY, GPTModel

START = {
    "ids": "B T",
    "tok_emb": "B T E",
    "pos_emb": "T E",
    "embeddings": "B T E",
    "drop_emb": "B T E",
}
BLOCK = {
    "norm1": "B T E",
    "att.W_query": "B T E",
    "att.W_key": "B T E",
    "att.W_value": "B T E",
    "att.queries": "B H T D",
    "att.keys": "B H T D",
    "att.values": "B H T D",
    "att.scores": "B H T T",
    "att.scaled": "B H T T",
    "att.masked": "B H T T",
    "att.weights": "B H T T",
    "att.dropout": "B H T T",
    "att.context": "B H T D",
    "att.merged": "B T E",
    "att.out_proj": "B T E",
    "drop_shortcut1": "B T E",
    "shortcut1": "B T E",
    "norm2": "B T E",
    "ff.layers.0": "B T 4E",
    "ff.layers.1": "B T 4E",
    "ff.layers.2": "B T E",
    "drop_shortcut2": "B T E",
    "shortcut2": "B T E",
}
END = {
    "final_norm": "B T E",
    "out_head": "B T V",
    "last": "B V",
    "next": "B 1",
}
TINY_STAGES = {
    **START,
    **{f"trf_blocks.0.{name}": dims for name, dims in BLOCK.items()},
    **{f"trf_blocks.1.{name}": dims for name, dims in BLOCK.items()},
    **END,
}


def tiny_shape(dims: str, B: int, T: int) -> tuple[int, ...]:
    sizes = {"B": B, "T": T, "E": 32, "4E": 128, "H": 2, "D": 16, "V": 50257, "1": 1}
    return tuple(sizes[letter] for letter in dims.split())


def test_the_catalogue_has_the_designs_names_in_the_designs_order() -> None:
    assert [stage.name for stage in catalogue(TINY)] == list(TINY_STAGES)


def test_the_124m_model_has_285_stages() -> None:
    assert len(catalogue(GPT2_SMALL)) == 285


def test_stages_are_numbered_in_execution_order() -> None:
    assert [stage.index for stage in catalogue(TINY)] == list(range(55))


def test_a_trace_has_the_catalogues_stages(trace: Trace) -> None:
    assert trace.names == tuple(TINY_STAGES)
    assert len(trace) == 55


@pytest.mark.parametrize(("B", "T"), [(1, 1), (2, 3), (1, 64)])
def test_every_stage_has_the_designs_shape(tiny_model: GPTModel, B: int, T: int) -> None:
    expected = {name: tiny_shape(dims, B, T) for name, dims in TINY_STAGES.items()}

    trace = capture(tiny_model, torch.zeros(B, T, dtype=torch.int64))

    assert {name: tuple(trace[name].shape) for name in trace.names} == expected
    assert {record.name: record.output_shape for record in trace.records} == expected
    assert {stage.name: stage.shape(TINY, B, T) for stage in catalogue(TINY)} == expected


def test_a_trace_knows_its_batch_and_its_tokens(trace: Trace, ids: torch.Tensor) -> None:
    assert torch.equal(trace.ids, ids)
    assert (trace.batch, trace.tokens) == (2, 3)


@pytest.mark.parametrize(
    ("name", "input_shape"),
    [
        ("tok_emb", (2, 3)),
        ("trf_blocks.0.att.queries", (2, 3, 32)),
        ("trf_blocks.0.att.scores", (2, 2, 3, 16)),
        ("trf_blocks.1.att.merged", (2, 2, 3, 16)),
        ("trf_blocks.1.ff.layers.2", (2, 3, 128)),
        ("last", (2, 3, 50257)),
        ("next", (2, 50257)),
    ],
)
def test_a_record_tells_what_shape_went_in(trace: Trace, name: str, input_shape: tuple[int, ...]) -> None:
    assert trace.record(name).input_shape == input_shape


def test_the_stages_parameters_are_the_models(trace: Trace, tiny_model: GPTModel) -> None:
    assert sum(record.parameters for record in trace.records) == sum(p.numel() for p in tiny_model.parameters())
    assert trace.record("trf_blocks.0.ff.layers.0").parameters == 32 * 128 + 128
    assert trace.record("trf_blocks.0.att.weights").parameters == 0


def test_a_blocks_stages_are_its_part_of_the_catalogue() -> None:
    assert [stage.name for stage in block_stages(TINY, 1)] == [f"trf_blocks.1.{name}" for name in BLOCK]
    assert [stage.local_name for stage in block_stages(TINY, 1)] == list(BLOCK)
    assert {stage.layer for stage in block_stages(TINY, 1)} == {1}


def test_stages_outside_the_blocks_have_no_layer() -> None:
    outside = [stage for stage in catalogue(TINY) if stage.layer is None]

    assert [stage.name for stage in outside] == [stage.local_name for stage in outside] == [*START, *END]


def test_the_input_of_a_block_is_the_stage_before_it() -> None:
    names = list(TINY_STAGES)

    assert block_input_name(0) == names[names.index("trf_blocks.0.norm1") - 1]
    assert block_input_name(1) == names[names.index("trf_blocks.1.norm1") - 1]


def test_the_catalogue_needs_no_torch() -> None:
    script = (
        "import sys; from gptviz.capture import catalogue; from gptviz.model import GPT2_SMALL;"
        "print(len(catalogue(GPT2_SMALL)), 'torch' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "285 False\n"
