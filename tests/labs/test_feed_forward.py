"""The feed-forward chain: a real run up to the first place where numbers don't match."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from gptviz.labs import feed_forward
from gptviz.labs.feed_forward import run
from gptviz.labs.feed_forward_sizes import PRESETS, Sizes, State, Verdict
from gptviz.labs.refusal import RefusedInputError

BY_KEY = {preset.key: preset.sizes for preset in PRESETS}


def test_the_chapters_shapes(figures: dict) -> None:
    result = run(Sizes())

    expected = [tuple(shape) for _, shape in figures["feed_forward_shapes"]]
    assert [step.gives for step in result.steps[:4]] == expected
    assert result.verdict is Verdict.FITS
    assert result.first_mismatch is None
    assert result.parameters == 768 * 3072 + 3072 + 3072 * 768 + 768


@pytest.mark.parametrize(
    ("preset", "verdict", "first"),
    [
        ("not-expanded", Verdict.BREAKS_INSIDE, "contract"),
        ("returns-1024", Verdict.WRONG_OUTSIDE, "shortcut"),
        ("not-contracted", Verdict.WRONG_OUTSIDE, "shortcut"),
        ("swapped", Verdict.BREAKS_INSIDE, "expand"),
        ("other-model", Verdict.BREAKS_INSIDE, "expand"),
        ("transposed", Verdict.BREAKS_INSIDE, "expand"),
        ("returns-1", Verdict.SILENT, "shortcut"),
    ],
)
def test_the_classic_mistakes_start_where_they_should(preset: str, verdict: Verdict, first: str) -> None:
    result = run(BY_KEY[preset])

    assert result.verdict is verdict
    assert result.first_mismatch is not None
    assert result.first_mismatch.key == first


def test_any_middle_is_right_as_long_as_both_agree() -> None:
    assert run(BY_KEY["other-middle"]).verdict is Verdict.FITS


def test_the_error_is_torchs_own() -> None:
    with pytest.raises(RuntimeError) as raised, torch.no_grad():
        nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(768, 768))(torch.rand(2, 3, 768))

    step = run(Sizes(contract_in=768)).first_mismatch

    assert step is not None
    assert step.error == str(raised.value)


def test_a_module_that_runs_fails_at_the_shortcut_with_torchs_words() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.rand(2, 3, 768) + torch.rand(2, 3, 1024)

    result = run(Sizes(contract_out=1024))

    assert result.steps[3].gives == (2, 3, 1024)
    assert result.steps[3].state is State.FITS
    assert result.first_mismatch is not None
    assert result.first_mismatch.error == str(raised.value)
    assert result.headline == "The module runs, but returns 1,024 where 768 are expected"


def test_what_comes_after_the_break_is_not_reached() -> None:
    states = [step.state for step in run(Sizes(contract_in=768)).steps]

    assert states == [State.FITS, State.FITS, State.FITS, State.BROKEN, State.NOT_REACHED, State.NOT_REACHED]


def test_the_numbers_in_torchs_message_are_explained() -> None:
    result = run(Sizes(batch=4, tokens=5, contract_in=1024))

    assert "(20x3072 and 1024x768)" in result.first_mismatch.error  # type: ignore[union-attr]
    assert "4 · 5 = 20 rows of 3,072 numbers" in result.reason
    assert "1,024 rows of 768" in result.reason
    assert result.remedy.endswith("Linear(3072, 768).")


def test_the_remedy_knows_a_swap_and_a_turned_batch() -> None:
    assert "Swap the two numbers" in run(BY_KEY["swapped"]).remedy
    assert "as the number of tokens" in run(BY_KEY["transposed"]).remedy


@pytest.mark.parametrize(
    ("sizes", "field"),
    [
        (Sizes(batch=0), "batch"),
        (Sizes(contract_out=-3), "contract_out"),
        (Sizes(expand_out=999_999_999), "expand_out"),
        (Sizes(expand_in=20_000, expand_out=30_000), "expand_out"),
        (Sizes(tokens=500_000), "tokens"),
    ],
)
def test_sizes_that_cannot_be_run_are_refused(sizes: Sizes, field: str) -> None:
    with pytest.raises(RefusedInputError) as refused:
        run(sizes)

    assert refused.value.field == field


def test_the_memory_of_the_machine_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_forward, "available_memory", lambda: 10_000_000)

    run(replace(Sizes(), expand_out=100, contract_in=100))
    with pytest.raises(RefusedInputError, match="GB are free"):
        run(Sizes())
