import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from gptviz.model import CONFIGS, GPT2_SMALL, TINY, GPTConfig, GPTModel, count_parameters, initialise
from gptviz.model.parameters import skeleton

FOUR_SIZES = ["gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl"]


class CancelledError(Exception):
    pass


def parameters_by_pytorch(config: GPTConfig) -> int:
    with torch.device("meta"):
        model = GPTModel(config)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", FOUR_SIZES)
@pytest.mark.parametrize(("qkv_bias", "suffix"), [(False, ""), (True, "_qkv_bias")])
def test_gpt2s_parameters_are_counted(name: str, qkv_bias: bool, suffix: str, figures: dict) -> None:
    expected = figures["sizes"][name]

    count = count_parameters(replace(CONFIGS[name], qkv_bias=qkv_bias))

    assert (count.total, count.total_tied) == (expected[f"untied{suffix}"], expected[f"tied{suffix}"])


def test_a_model_with_a_tied_head_has_the_tied_count(figures: dict) -> None:
    tied = replace(GPT2_SMALL, tie_weights=True)

    assert parameters_by_pytorch(GPT2_SMALL) == figures["sizes"]["gpt2-small"]["untied"]
    assert parameters_by_pytorch(tied) == figures["sizes"]["gpt2-small"]["tied"]


def test_both_totals_are_told_for_a_tied_model_too() -> None:
    assert count_parameters(replace(TINY, tie_weights=True)) == count_parameters(TINY)


def test_the_components_of_the_124m_model(figures: dict) -> None:
    expected = dict(figures["parameters_124m"])
    totals = expected.pop("total_untied"), expected.pop("total_tied")

    count = count_parameters(GPT2_SMALL)

    assert count.components == expected
    assert (count.total, count.total_tied) == totals


@pytest.mark.parametrize("on_progress", [None, lambda share: None])
def test_the_weights_are_those_that_the_seed_gives(on_progress: object) -> None:
    torch.manual_seed(7)
    expected = GPTModel(TINY).state_dict()

    weights = initialise(TINY, 7, on_progress).state_dict()  # type: ignore[arg-type]

    assert list(weights) == list(expected)
    assert [name for name in weights if not torch.equal(weights[name], expected[name])] == []


def test_another_seed_gives_other_weights() -> None:
    assert not torch.equal(initialise(TINY, 1).tok_emb.weight, initialise(TINY, 2).tok_emb.weight)


def test_a_new_model_is_in_eval_mode() -> None:
    assert not any(module.training for module in initialise(TINY, 123).modules())


@pytest.mark.parametrize("tie_weights", [False, True])
def test_progress_goes_from_nothing_to_all_without_a_step_back(tie_weights: bool) -> None:
    shares: list[float] = []

    initialise(replace(TINY, tie_weights=tie_weights), 123, shares.append)

    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares == sorted(shares)
    assert len(set(shares)) > 10


def test_no_progress_is_reported_once_the_model_is_there() -> None:
    shares: list[float] = []
    initialise(TINY, 123, shares.append)
    reported = len(shares)

    GPTModel(TINY)

    assert len(shares) == reported


def test_an_exception_in_the_progress_report_cancels() -> None:
    shares: list[float] = []

    def cancel_half_way(share: float) -> None:
        shares.append(share)
        if share > 0.5:
            raise CancelledError

    with pytest.raises(CancelledError):
        initialise(TINY, 123, cancel_half_way)
    assert shares[-1] < 1.0

    GPTModel(TINY)  # would raise CancelledError if something were left behind
    assert shares[-1] < 1.0


def test_counting_does_not_import_torchs_compiler() -> None:
    """Which takes seconds on a slow machine, before the first model is there."""
    script = (
        "import sys; from gptviz.model import GPT2_XL, count_parameters;"
        "print(count_parameters(GPT2_XL).total, 'torch._dynamo' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "1637792000 False\n"


def test_a_skeleton_has_the_models_shapes_and_no_memory(tiny_model: GPTModel) -> None:
    bare = skeleton(TINY)

    assert {name: p.shape for name, p in bare.named_parameters()} == {
        name: p.shape for name, p in tiny_model.named_parameters()
    }
    assert all(tensor.is_meta for tensor in (*bare.parameters(), *bare.buffers()))
