"""What a configuration would cost, before it is built."""

from dataclasses import replace

import pytest
import torch

from gptviz.capture import capture
from gptviz.labs import configuration
from gptviz.labs.configuration import check_buildable, needed_memory, report
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.timing import Basis
from gptviz.model import GPT2_SMALL, GPT2_XL, TINY, GPTConfig, GPTModel

BASIS = Basis(
    batch=1,
    tokens=4,
    block=0.003,
    block_parameters=7_085_568,
    small_block=0.0003,
    head_parameter=1e-9,
    normal=5e-9,
    uniform=2e-9,
)


def test_the_memory_of_weights_and_masks_is_that_of_the_model() -> None:
    weights, masks, _ = needed_memory(TINY, 1, 4)

    model = GPTModel(TINY)
    assert weights == sum(p.numel() * p.element_size() for p in model.parameters())
    assert masks == sum(b.numel() * b.element_size() for b in model.buffers())


def test_the_memory_of_a_pass_is_about_that_of_a_trace(tiny_model: GPTModel) -> None:
    trace = capture(tiny_model, torch.arange(60).reshape(2, 30))
    seen: dict[int, int] = {}
    for tensor in (*trace.kept.values(), *trace.replayed.values()):
        seen[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()

    _, _, one_pass = needed_memory(TINY, 2, 30)

    assert one_pass == pytest.approx(sum(seen.values()), rel=0.1)


def test_a_tied_head_needs_no_memory_of_its_own() -> None:
    weights, _, _ = needed_memory(replace(GPT2_SMALL, tie_weights=True), 1, 4)

    assert weights == 4 * 124_412_160


def test_the_shapes_are_those_of_a_trace(tiny_model: GPTModel) -> None:
    trace = capture(tiny_model, torch.tensor([[1, 2, 3]]))
    expected = {record.name: record.output_shape for record in trace.records}

    rows = report(TINY, GPT2_SMALL, 1, 3, replace(BASIS, tokens=3)).shapes

    assert {row.name.replace("{i}", "0"): row.shape for row in rows} == {
        name: shape for name, shape in expected.items() if not name.startswith("trf_blocks.1")
    }
    by_name = {row.name: row for row in rows}
    assert by_name["trf_blocks.{i}.att.weights"].present == (1, 12, 3, 3)


def test_the_times_follow_from_the_basis() -> None:
    small = report(GPT2_SMALL, None, 1, 4, BASIS).edited

    head = 50257 * 768
    assert small.pass_seconds == pytest.approx(12 * (0.0003 + 0.0027 * 7_085_568 / 7_085_568) + head * 1e-9, rel=1e-3)
    assert small.build_seconds == pytest.approx((50257 + 1024) * 768 * 5e-9 + (85_026_816 + head) * 2e-9)


def test_the_basis_is_measured_where_there_is_none() -> None:
    edited = report(TINY, TINY, 2, 3)

    assert (edited.basis.batch, edited.basis.tokens) == (2, 3)
    assert min(vars(edited.basis).values()) > 0
    assert edited.present == replace(edited.edited, free=edited.present.free)  # type: ignore[union-attr]


def test_measuring_leaves_torchs_random_numbers_alone() -> None:
    before = torch.get_rng_state()

    report(TINY, None, 1, 2)

    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (GPT2_XL, "emb_dim"),
        (GPTConfig(vocab_size=50_000_000, n_layers=1), "vocab_size"),
        (GPTConfig(emb_dim=8, n_heads=1, n_layers=50, vocab_size=10, context_length=9_000), "context_length"),
    ],
)
def test_what_needs_more_memory_than_there_is_is_refused_with_the_figures(
    config: GPTConfig, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration, "available_memory", lambda: 2_000_000_000)

    with pytest.raises(RefusedInputError, match=r"needs [\d,.]+ GB of memory, and 2\.0 GB are free") as refused:
        check_buildable(config)

    assert refused.value.field == field
    assert not report(config, None, 1, 4, BASIS).edited.fits


def test_what_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "available_memory", lambda: 2_000_000_000)

    check_buildable(GPT2_SMALL)
