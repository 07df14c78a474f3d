"""Models that differ from GPT-2 in a setting: what is written about them is true of them."""

from dataclasses import replace

import pytest
import torch

from gptviz.analysis.checks import run_checks
from gptviz.analysis.flow import river
from gptviz.analysis.formulas import Sizes
from gptviz.analysis.layer_norm import layer_norm_view
from gptviz.analysis.source import stage_source
from gptviz.analysis.stage_text import StageText, short_title, stage_text
from gptviz.capture import Trace, capture, catalogue
from gptviz.model import GPTConfig, GPTModel

SMALL = GPTConfig(vocab_size=61, context_length=10, emb_dim=12, n_heads=3, n_layers=2)
WITHOUT_BIAS = replace(SMALL, bias=False)


def trace_of(config: GPTConfig) -> Trace:
    torch.manual_seed(0)
    model = GPTModel(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return capture(model, torch.tensor([[7, 3, 60, 0]]))


def text_of(config: GPTConfig, name: str) -> StageText:
    stage = next(stage for stage in catalogue(config) if stage.name == name)
    return stage_text(Sizes(stage, config, 1, 4))


VARIANTS = [
    WITHOUT_BIAS,
    replace(SMALL, n_inner=20),
    replace(SMALL, activation="gelu"),
    replace(SMALL, activation="relu"),
    replace(SMALL, scale_attn_weights=False),
    replace(SMALL, scale_attn_by_inverse_layer_idx=True),
    replace(SMALL, norm_eps=0.1),
    replace(SMALL, tie_weights=True),
]


@pytest.mark.parametrize("config", VARIANTS)
def test_every_stage_has_its_catalogued_shape_and_all_checks_hold(config: GPTConfig) -> None:
    trace = trace_of(config)

    assert {record.name: record.output_shape for record in trace.records} == {
        stage.name: stage.shape(config, 1, 4) for stage in catalogue(config)
    }
    assert [check.name for check in run_checks(trace) if not check.ok] == []


@pytest.mark.parametrize("config", VARIANTS)
def test_every_formula_names_the_shape_of_its_stage(config: GPTConfig) -> None:
    for stage in catalogue(config):
        text = stage_text(Sizes(stage, config, 1, 4))
        assert f"({', '.join(map(str, stage.shape(config, 1, 4)))})" in text.formula
        assert "{" not in text.sentence


@pytest.mark.parametrize(
    ("activation", "operation", "function", "line"),
    [
        ("gelu_tanh", "GELU", "GELU.forward", "torch.tanh(inner)"),
        ("gelu", "exact GELU", "ExactGELU.forward", "torch.erf(x / math.sqrt(2.0))"),
        ("relu", "ReLU", "ReLU.forward", "torch.relu(x)"),
    ],
)
def test_the_activation_is_named_and_its_own_code_is_shown(
    activation: str, operation: str, function: str, line: str
) -> None:
    trace = trace_of(replace(SMALL, activation=activation))
    stage = trace.record("trf_blocks.1.ff.layers.1").stage
    source = stage_source(trace, stage)

    assert stage.operation == short_title(stage) == operation
    assert source is not None
    assert source.code.name == function
    assert line in source.code.marked_text


@pytest.mark.parametrize(
    ("activation", "before", "after"),
    [
        ("relu", [-2.0, -0.5, 0.0, 3.0], [0.0, 0.0, 0.0, 3.0]),
        ("gelu", [-1.0, 0.0, 1.0], [-0.15865525, 0.0, 0.84134475]),  # ± 1 · Φ(± 1)
    ],
)
def test_activations_compute_what_they_are_called(activation: str, before: list[float], after: list[float]) -> None:
    model = GPTModel(replace(SMALL, activation=activation))

    bent = model.trf_blocks[0].ff.layers[1](torch.tensor(before))

    torch.testing.assert_close(bent, torch.tensor(after))


@pytest.mark.parametrize(
    ("changed", "operations", "divisors"),
    [
        ({}, ["÷ √D", "÷ √D"], [2.0, 2.0]),
        ({"scale_attn_weights": False}, ["not scaled", "not scaled"], [1.0, 1.0]),
        ({"scale_attn_by_inverse_layer_idx": True}, ["÷ (√D · 1)", "÷ (√D · 2)"], [2.0, 4.0]),
        (
            {"scale_attn_by_inverse_layer_idx": True, "scale_attn_weights": False},
            ["÷ 1", "÷ 2"],
            [1.0, 2.0],
        ),
    ],
)
def test_scores_are_divided_by_what_the_stage_says(
    changed: dict[str, bool], operations: list[str], divisors: list[float]
) -> None:
    trace = trace_of(replace(SMALL, **changed))  # heads of 4 features: √D is 2

    for layer in (0, 1):
        name = f"trf_blocks.{layer}.att"
        assert trace.record(f"{name}.scaled").stage.operation == operations[layer]
        torch.testing.assert_close(trace[f"{name}.scaled"], trace[f"{name}.scores"] / divisors[layer])


def test_the_flow_calls_them_so_too() -> None:
    config = replace(SMALL, activation="relu", scale_attn_weights=False)

    titles = {place.stage.local_name: place.title for place in river(config, 0)}

    assert (titles["ff.layers.1"], titles["att.scaled"]) == ("ReLU", "not scaled")


def test_a_model_without_bias_is_written_without_one() -> None:
    for name in ("att.out_proj", "ff.layers.0", "ff.layers.2", "att.W_query"):
        formula = text_of(WITHOUT_BIAS, f"trf_blocks.0.{name}").formula
        assert r"+ \under{b}" not in formula
    assert r"+ \under{b}" in text_of(SMALL, "trf_blocks.0.att.out_proj").formula
    for name in ("final_norm", "trf_blocks.0.norm1"):
        assert "shift" not in text_of(WITHOUT_BIAS, name).formula + text_of(WITHOUT_BIAS, name).sentence


def test_a_layer_norm_without_shift_shows_none_and_its_code_has_none() -> None:
    trace = trace_of(WITHOUT_BIAS)
    view = layer_norm_view(trace, "final_norm", 3)
    source = stage_source(trace, trace.record("final_norm").stage)

    assert view is not None
    assert not view.shifts
    assert view.error < 1e-5
    assert source is not None
    assert source.code.marked_text == "return self.scale * norm_x"


def test_sentences_follow_the_settings() -> None:
    assert "from 12 to 20 features" in text_of(replace(SMALL, n_inner=20), "trf_blocks.0.ff.layers.0").sentence
    assert "four times its features: 48" in text_of(SMALL, "trf_blocks.0.ff.layers.0").sentence
    tied = text_of(replace(SMALL, tie_weights=True), "out_head").sentence
    assert "61 rows of the token embedding again" in tied
    by_layer = replace(SMALL, scale_attn_by_inverse_layer_idx=True)
    assert "by √4 and by 2, the block's number" in text_of(by_layer, "trf_blocks.1.att.scaled").sentence
