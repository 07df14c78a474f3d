"""The invariants hold for the model, and each turns red when its tensor is wrong."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gptviz.analysis.checks import Check, causality_check, run_checks
from gptviz.capture import Trace, capture, perturbed_pass
from gptviz.model import GPTModel

NAMES = {
    "attention rows sum to one",
    "nothing above the diagonal",
    "shortcut 1 adds the block's input",
    "shortcut 2 adds shortcut 1",
    "LayerNorm: mean 0 before scale and shift",
    "LayerNorm: variance that eps implies",
    "logits = head · final norm",
    "last = logits of the last position",
}


def by_name(trace: Trace) -> dict[str, Check]:
    return {check.name: check for check in run_checks(trace)}


def test_all_invariants_hold(trace: Trace) -> None:
    checks = run_checks(trace)

    assert {check.name for check in checks} == NAMES
    assert len(checks) == len(NAMES)
    assert [check for check in checks if not check.ok] == []


def test_all_invariants_hold_for_the_untrained_model_and_one_token(tiny_model: GPTModel) -> None:
    assert [check for check in run_checks(capture(tiny_model, torch.tensor([[15496]]))) if not check.ok] == []


@pytest.mark.large
def test_all_invariants_hold_for_the_124m_model(small_model: GPTModel, figures: dict) -> None:
    ids = torch.tensor([figures["untrained_124m_seed_123"]["ids"]])

    assert [check for check in run_checks(capture(small_model, ids)) if not check.ok] == []


def test_blocks_that_are_not_kept_are_checked_too(trace: Trace, lean: Trace) -> None:
    assert run_checks(lean) == run_checks(trace)


def test_what_is_exact_is_exact_and_what_is_rounded_is_not(trace: Trace) -> None:
    checks = by_name(trace)

    assert checks["shortcut 1 adds the block's input"].max_error == 0
    assert checks["last = logits of the last position"].max_error == 0
    rows = checks["attention rows sum to one"].max_error
    assert rows is not None
    assert 0 < rows < 1e-6


def add(amount: float) -> Callable[[Tensor], object]:
    """Add to the last feature of the last token, the one place that no other check looks at first."""
    return lambda tensor: tensor[..., -1, -1].add_(amount)


def look_ahead(weights: Tensor) -> None:
    """Give the first token's attention to the second."""
    weights[0, 0, 0, :2] = torch.tensor([0.5, 0.5])


def stretch(tensor: Tensor) -> None:
    tensor.mul_(1.01)


def one_nan(tensor: Tensor) -> None:
    tensor[..., -1, -1] = float("nan")


@pytest.mark.parametrize(
    ("check", "stage", "change"),
    [
        ("attention rows sum to one", "trf_blocks.1.att.weights", add(0.001)),
        ("attention rows sum to one", "trf_blocks.0.att.weights", one_nan),
        ("nothing above the diagonal", "trf_blocks.0.att.weights", look_ahead),
        ("shortcut 1 adds the block's input", "trf_blocks.0.shortcut1", add(0.001)),
        ("shortcut 1 adds the block's input", "trf_blocks.1.drop_shortcut1", add(0.001)),
        ("shortcut 1 adds the block's input", "drop_emb", add(0.001)),
        ("shortcut 2 adds shortcut 1", "trf_blocks.1.shortcut2", add(0.001)),
        ("shortcut 2 adds shortcut 1", "trf_blocks.0.drop_shortcut2", one_nan),
        ("LayerNorm: mean 0 before scale and shift", "trf_blocks.1.norm2", add(0.1)),
        ("LayerNorm: mean 0 before scale and shift", "trf_blocks.0.norm1", one_nan),
        ("LayerNorm: variance that eps implies", "final_norm", stretch),
        ("LayerNorm: variance that eps implies", "trf_blocks.0.norm1", stretch),
        ("logits = head · final norm", "last", add(0.01)),
        ("last = logits of the last position", "out_head", add(0.001)),
        ("last = logits of the last position", "last", one_nan),
    ],
)
def test_a_check_turns_red_when_the_tensor_is_wrong(
    tampered: Callable[..., Trace], check: str, stage: str, change: Callable[[Tensor], object]
) -> None:
    assert not by_name(tampered(stage, change))[check].ok


@pytest.mark.parametrize("layer", [0, 1])
def test_a_red_check_says_where_and_how_much(tampered: Callable[..., Trace], layer: int) -> None:
    stage = f"trf_blocks.{layer}.att.weights"

    check = by_name(tampered(stage, add(0.25)))["attention rows sum to one"]

    assert check.where == stage
    assert check.max_error == pytest.approx(0.25, abs=1e-5)


def test_a_single_nan_is_an_infinite_error(tampered: Callable[..., Trace]) -> None:
    check = by_name(tampered("trf_blocks.0.shortcut1", one_nan))["shortcut 1 adds the block's input"]

    assert check.max_error == float("inf")
    assert check.where == "trf_blocks.0.shortcut1"


def test_a_norm_whose_scale_has_a_zero_cannot_be_measured_and_the_others_are(own_tiny_model: GPTModel) -> None:
    torch.nn.init.zeros_(own_tiny_model.final_norm.scale)

    checks = by_name(capture(own_tiny_model, torch.tensor([[15496, 11]])))

    mean = checks["LayerNorm: mean 0 before scale and shift"]
    assert mean.where != "final_norm"
    assert mean.ok


def test_a_check_that_could_not_run_is_neither_good_nor_bad(own_tiny_model: GPTModel) -> None:
    for module in own_tiny_model.modules():
        if hasattr(module, "scale") and hasattr(module, "shift"):
            torch.nn.init.zeros_(module.scale)

    check = by_name(capture(own_tiny_model, torch.tensor([[15496, 11]])))["LayerNorm: variance that eps implies"]

    assert (check.max_error, check.ok) == (None, None)
    assert check.note == "a scale of 0 hides what was normalised"


# --- causality -------------------------------------------------------------------------------------------


def test_another_last_token_changes_no_earlier_position(taught_model: GPTModel, trace: Trace) -> None:
    check = causality_check(trace, perturbed_pass(taught_model, trace.ids))

    assert check.name == "causality: the last token changes no earlier position"
    assert check.ok


def test_a_model_that_looks_ahead_is_not_causal(own_tiny_model: GPTModel) -> None:
    own_tiny_model.trf_blocks[1].att.masked = torch.nn.Identity()  # the mask is left out
    ids = torch.tensor([[15496, 11, 314]])

    check = causality_check(capture(own_tiny_model, ids), perturbed_pass(own_tiny_model, ids))

    assert check.ok is False


def test_one_token_has_no_earlier_position(tiny_model: GPTModel) -> None:
    ids = torch.tensor([[15496]])

    check = causality_check(capture(tiny_model, ids), perturbed_pass(tiny_model, ids))

    assert (check.max_error, check.ok, check.note) == (None, None, "one token has no earlier position")
