"""What is written about each stage: title, sentence, formula."""

from typing import Any

import pytest

from gptviz.analysis.formulas import Sizes
from gptviz.analysis.stage_text import dropout_text, input_title, is_dropout, stage_text
from gptviz.capture.stages import Stage, catalogue
from gptviz.model import GPT2_SMALL, TINY

STAGES = catalogue(TINY)


def text_of(name: str, tokens: int = 4, **more: Any) -> Any:
    stage = next(stage for stage in catalogue(GPT2_SMALL) if stage.name == name)
    return stage_text(Sizes(stage, GPT2_SMALL, 1, tokens, **more))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_each_stage_has_a_title_a_sentence_and_a_formula_with_its_shape(stage: Stage) -> None:
    text = stage_text(Sizes(stage, TINY, 2, 5))

    assert text.title
    assert text.sentence.endswith(".")
    assert "{" not in text.sentence
    assert f"({', '.join(map(str, stage.shape(TINY, 2, 5)))})" in text.formula


def test_a_stage_of_a_block_is_named_with_its_block_counted_from_one() -> None:
    assert text_of("trf_blocks.0.att.scores").title == "Block 1 · attention · scores"
    assert text_of("final_norm").title == "Final LayerNorm"


def test_scores_are_written_with_the_sizes_of_the_run() -> None:
    formula = text_of("trf_blocks.0.att.scores").formula

    left, right = r"\under{\word{scores}}{(1, 12, 4, 4)}", r"\under{\bold{Q}}{(1, 12, 4, 64)}"
    assert formula == left + " = " + right + r" · \under{\bold{K}^{T}}{(1, 12, 64, 4)}"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("trf_blocks.0.att.scaled", r"\root{64}} = \under{\word{scores}}{(1, 12, 4, 4)} ÷ 8"),
        ("trf_blocks.0.norm1", r"+ 10^{−5}"),
        ("trf_blocks.0.norm1", "E = 768"),
        ("trf_blocks.0.att.weights", r"\sum{j = 0}{3}"),
        ("trf_blocks.0.ff.layers.1", r"x + 0.044715 x^{3}"),
        ("trf_blocks.0.att.W_query", r"\under{\bold{W}_{q}^{T}}{(768, 768)}"),
        ("out_head", r"\under{x}{(1, 4, 768)} · \under{\bold{W}^{T}}{(768, 50257)}"),
        ("last", r"t=3"),
    ],
)
def test_formulas_tell_what_the_model_does(name: str, part: str) -> None:
    assert part in text_of(name).formula


def test_only_layers_with_a_bias_are_written_with_one() -> None:
    assert "b" not in text_of("trf_blocks.0.att.W_key").formula.replace(r"\bold", "")
    assert text_of("trf_blocks.0.att.out_proj").formula.endswith(r"+ \under{b}{(768)}")


def test_eps_is_the_running_norms() -> None:
    assert r"10^{−12}" in text_of("final_norm", eps=1e-12).formula


def test_what_goes_into_a_shortcut_is_told_apart() -> None:
    stages = {stage.name: stage for stage in STAGES}

    assert input_title(stages["trf_blocks.0.drop_shortcut1"]) == "attention branch"
    assert input_title(stages["drop_emb"]) == "embeddings"


# --- dropout ---------------------------------------------------------------------------------------------


def test_the_dropouts_of_the_catalogue_are_known() -> None:
    assert {stage.local_name for stage in STAGES if is_dropout(stage)} == {
        "drop_emb",
        "att.dropout",
        "drop_shortcut1",
        "drop_shortcut2",
    }


def test_dropout_tells_that_it_does_nothing_now_and_what_it_would_do() -> None:
    text = dropout_text(0.1, training=False, unchanged=True)

    assert "Eval mode: dropout is the identity. The output equals the input" in text
    assert "set to 0 with probability 0.1 and the others multiplied by 1 ÷ (1 − 0.1) = 1.111" in text


def test_dropout_claims_only_what_was_found() -> None:
    assert "differs" in dropout_text(0.1, training=False, unchanged=False)
    assert "equals" not in dropout_text(0.1, training=False, unchanged=None)


def test_a_dropout_that_is_on_is_told() -> None:
    assert dropout_text(0.5, training=True, unchanged=False).startswith("The module is in training mode")
