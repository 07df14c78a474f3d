"""The logit lens: what the output head makes of the residual stream after each block."""

import numpy as np
import pytest
import torch

from gptviz.analysis.candidates import top_candidates
from gptviz.analysis.logit_lens import LensReading, begin, lens_stages, read_all, read_on, strongest
from gptviz.capture import Trace, capture
from gptviz.model import GPTModel

HELLO = [15496, 11, 314, 716]


@pytest.fixture
def trace(tiny_model: GPTModel) -> Trace:
    return capture(tiny_model, torch.tensor([HELLO, HELLO[::-1]]))


def read_places(reading: LensReading) -> set[tuple[int, int]]:
    places = np.argwhere(reading.ids[:, :, 0] >= 0)
    return {(int(stage), int(position)) for stage, position in places}


def test_rows_are_the_embeddings_and_the_blocks(trace: Trace) -> None:
    assert lens_stages(trace.config) == ("drop_emb", "trf_blocks.0.shortcut2", "trf_blocks.1.shortcut2")


def test_the_last_row_is_the_models_output_bit_for_bit(trace: Trace) -> None:
    reading = read_all(trace, 0)

    assert reading.difference == 0
    assert reading.ids[-1, -1, 0] == trace["next"][0, 0]
    for position in range(4):
        best = top_candidates(trace.array("out_head")[0, position], 5)
        assert reading.ids[-1, position].tolist() == [one.id for one in best]
        assert reading.logits[-1, position].tolist() == [one.logit for one in best]
        assert reading.probabilities[-1, position].tolist() == pytest.approx([one.probability for one in best])


@pytest.mark.parametrize(("row", "stage"), [(0, "drop_emb"), (1, "trf_blocks.0.shortcut2")])
def test_every_other_row_is_what_norm_and_head_make_of_the_stream(trace: Trace, row: int, stage: str) -> None:
    """Checked by the formulas, in double precision and without the model's own modules."""
    stream = trace[stage][row].double().numpy()
    centred = stream - stream.mean(axis=1, keepdims=True)
    norm = centred / np.sqrt(stream.var(axis=1, keepdims=True) + 1e-5)
    norm = norm * trace.parameter("final_norm.scale") + trace.parameter("final_norm.shift")
    logits = norm @ trace.parameter("out_head.weight").astype(np.float64).T
    exponentials = np.exp(logits)
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)

    reading = read_all(trace, row)
    place = reading.stages.index(stage)

    assert reading.ids[place].tolist() == np.argsort(-logits, axis=1)[:, :5].tolist()
    found = np.take_along_axis(expected, reading.ids[place], axis=1)
    assert np.allclose(reading.probabilities[place], found, rtol=1e-4, atol=0)


def test_the_last_row_is_read_first_and_near_the_given_position(tiny_model: GPTModel) -> None:
    trace = capture(tiny_model, torch.tensor([[*HELLO] * 16]))  # 64 tokens: two pieces
    reading = begin(trace, 0)
    assert (reading.done, reading.total) == (0, 3 * 64)

    reading = read_on(trace, reading, near=40)
    assert read_places(reading) == {(2, position) for position in range(32, 64)}
    reading = read_on(trace, reading, near=40)
    assert {stage for stage, _ in read_places(reading)} == {1, 2}
    reading = read_on(trace, reading, near=0)
    assert reading.has(2, 0)
    assert not reading.has(0, 0)
    assert not reading.complete


def test_a_piece_leaves_the_reading_before_as_it_was(trace: Trace) -> None:
    first = begin(trace, 0)
    second = read_on(trace, first, near=0)

    assert first.done == 0
    assert second.done == 4


def test_weights_that_were_changed_since_are_noticed(own_tiny_model: GPTModel) -> None:
    trace = capture(own_tiny_model, torch.tensor([HELLO]))
    with torch.no_grad():
        own_tiny_model.final_norm.shift.add_(1)

    assert read_all(trace, 0).difference > 0.01


def test_reading_leaves_no_gradient_and_no_hook(trace: Trace, tiny_model: GPTModel) -> None:
    read_all(trace, 0)

    assert all(parameter.grad is None for parameter in tiny_model.parameters())
    assert not any(module._forward_hooks for module in tiny_model.modules())


def test_equal_logits_are_ordered_by_id() -> None:
    logits = np.array([[1.0, 3.0, 2.0, 3.0]], dtype=np.float32)
    ids, found, probabilities = strongest(logits, 3)

    assert ids.tolist() == [[1, 3, 2]]
    assert found.tolist() == [[3.0, 3.0, 2.0]]
    assert probabilities[0, 0] == pytest.approx(np.exp(3) / (np.exp(1) + np.exp(2) + 2 * np.exp(3)))
    assert logits.tolist() == [[1.0, 3.0, 2.0, 3.0]]


def test_a_stream_that_is_no_number_has_no_probabilities() -> None:
    _, _, probabilities = strongest(np.full((1, 4), np.nan, dtype=np.float32), 2)

    assert np.isnan(probabilities).all()


@pytest.mark.large
def test_the_124m_models_last_row_is_its_output(small_model: GPTModel) -> None:
    trace = capture(small_model, torch.tensor([HELLO]))
    reading = read_all(trace, 0)

    assert reading.ids.shape == (13, 4, 5)
    assert reading.difference == 0
    assert reading.ids[-1, -1, 0] == 27018  # " Feature", as the chapter prints it
