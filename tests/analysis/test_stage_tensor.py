"""Which matrix of a stage is shown, and its statistics compared with torch's."""

import numpy as np
import pytest
import torch

from gptviz.analysis import stage_tensor
from gptviz.analysis.stage_tensor import limit, part_shown, rows_around, stage_matrix, statistics, token_ids, unchanged
from gptviz.capture import Trace
from gptviz.capture.stages import Stage

BLOCK = "trf_blocks.1"
B, T, H, E, D, V = 2, 5, 2, 32, 16, 50257


def stage(trace: Trace, name: str) -> Stage:
    return trace.record(name).stage


@pytest.mark.parametrize(
    ("name", "shape", "columns"),
    [
        ("tok_emb", (T, E), "feature"),
        ("pos_emb", (T, E), "feature"),
        (f"{BLOCK}.norm1", (T, E), "feature"),
        (f"{BLOCK}.att.queries", (T, D), "feature"),
        (f"{BLOCK}.att.scores", (T, T), "key"),
        (f"{BLOCK}.ff.layers.1", (T, 4 * E), "feature"),
        ("out_head", (T, V), "token"),
        ("last", (1, V), "token"),
    ],
)
def test_tokens_are_rows(trace: Trace, name: str, shape: tuple[int, int], columns: str) -> None:
    matrix = stage_matrix(trace, stage(trace, name), row=1, head=1, token=2)

    assert matrix is not None
    assert (matrix.values.shape, matrix.columns) == (shape, columns)


def test_it_is_the_selected_sequences_and_heads(trace: Trace) -> None:
    name = f"{BLOCK}.att.context"
    matrix = stage_matrix(trace, stage(trace, name), row=1, head=1, token=0)

    assert matrix is not None
    assert torch.equal(torch.from_numpy(matrix.values), trace[name][1, 1])


def test_it_shares_the_traces_memory(trace: Trace) -> None:
    matrix = stage_matrix(trace, stage(trace, "out_head"), 0, 0, 0)

    assert matrix is not None
    assert np.shares_memory(matrix.values, trace.array("out_head"))


def test_the_future_has_no_colour_in_weights(trace: Trace) -> None:
    matrix = stage_matrix(trace, stage(trace, f"{BLOCK}.att.weights"), 0, 0, 0)

    assert matrix is not None
    assert np.isnan(matrix.shown)[np.triu_indices(T, 1)].all()
    assert np.isfinite(matrix.shown)[np.tril_indices(T)].all()
    assert (matrix.values[np.triu_indices(T, 1)] == 0).all()


def test_a_stage_that_is_not_at_hand_has_no_matrix(lean: Trace) -> None:
    assert stage_matrix(lean, stage(lean, f"{BLOCK}.norm1"), 0, 0, 0) is None


def test_token_ids_are_the_sequences(trace: Trace) -> None:
    assert token_ids(trace, stage(trace, "ids"), 1) == tuple(trace.ids[1].tolist())
    assert token_ids(trace, stage(trace, "next"), 1) == (int(trace["last"][1].argmax()),)


def test_a_dropout_is_compared_with_its_input(trace: Trace) -> None:
    before, after, other = (
        stage_matrix(trace, stage(trace, f"{BLOCK}.{name}"), 0, 0, 0)
        for name in ("att.out_proj", "drop_shortcut1", "norm2")
    )
    assert before is not None
    assert after is not None
    assert other is not None

    assert unchanged(before, after)
    assert not unchanged(before, other)


def test_the_part_that_is_shown_is_named(trace: Trace) -> None:
    weights, positions = (
        stage_matrix(trace, stage(trace, name), 1, 0, 0) for name in (f"{BLOCK}.att.weights", "pos_emb")
    )
    assert weights is not None
    assert positions is not None

    assert part_shown(weights, batch=2, row=1, head=0) == "sequence 2, head 1"
    assert part_shown(positions, batch=2, row=1, head=0) == ""


# --- large matrices --------------------------------------------------------------------------------------


def test_a_matrix_that_is_too_large_keeps_the_rows_around_the_token(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_tensor, "MOST_VALUES", 3 * V)
    matrix = stage_matrix(trace, stage(trace, "out_head"), 0, 0, token=3)

    assert matrix is not None
    assert (matrix.positions, matrix.whole) == (range(2, 5), False)
    assert torch.equal(torch.from_numpy(matrix.values), trace["out_head"][0, 2:5])


@pytest.mark.parametrize(("token", "shown"), [(0, range(83)), (512, range(471, 554)), (1023, range(941, 1024))])
def test_logits_of_a_long_text_are_shown_in_part(token: int, shown: range) -> None:
    assert rows_around(token, 1024, V) == shown


def test_residual_streams_of_a_long_text_are_shown_whole() -> None:
    assert rows_around(3, 1024, 4 * 768) == range(1024)


# --- statistics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tok_emb", f"{BLOCK}.norm1", f"{BLOCK}.ff.layers.1", "out_head", "last"])
def test_statistics_are_torchs(trace: Trace, name: str) -> None:
    tensor = trace[name][0]
    exact = tensor.double()

    measured = statistics(tensor.numpy())

    assert (measured.minimum, measured.maximum) == (float(tensor.min()), float(tensor.max()))
    assert measured.mean == pytest.approx(float(exact.mean()), abs=1e-9)
    assert measured.deviation == pytest.approx(float(exact.std(unbiased=False)), rel=1e-5)
    assert (measured.count, measured.minus_infinite, measured.others) == (tensor.numel(), 0, 0)


def test_masked_scores_are_counted_apart(trace: Trace) -> None:
    tensor = trace[f"{BLOCK}.att.masked"][0, 0]
    finite = tensor[torch.isfinite(tensor)].double()

    measured = statistics(tensor.numpy())

    assert (measured.count, measured.minus_infinite) == (15, 10)
    assert measured.mean == pytest.approx(float(finite.mean()), abs=1e-9)
    assert measured.deviation == pytest.approx(float(finite.std(unbiased=False)), rel=1e-5)
    assert limit(tensor.numpy()) == float(finite.abs().max())


def test_statistics_hold_far_from_zero() -> None:
    values = np.array([1e4, 1e4 + 1, 1e4 + 2], dtype=np.float32)

    assert statistics(values).deviation == pytest.approx((2 / 3) ** 0.5, rel=1e-6)


def test_what_is_no_number_at_all_can_be_measured() -> None:
    measured = statistics(np.array([np.nan, np.inf, -np.inf], dtype=np.float32))

    assert (measured.count, measured.minus_infinite, measured.others) == (0, 1, 2)
    assert limit(np.array([-np.inf], dtype=np.float32)) == 1.0
    assert limit(np.zeros(3, dtype=np.float32)) == 1.0
