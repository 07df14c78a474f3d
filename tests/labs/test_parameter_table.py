"""Where the parameters are: formulas against the counted tensors, and the published figures."""

from dataclasses import replace

import pytest

from gptviz.labs.parameters import CALLED, four_sizes, parameter_table
from gptviz.labs.refusal import RefusedInputError
from gptviz.model import GPT2_SMALL, GPT2_XL, TINY, GPTConfig, GPTModel

ODD = GPTConfig(vocab_size=11, context_length=5, emb_dim=6, n_heads=3, n_layers=4, qkv_bias=True)  # all sizes different


def test_the_components_of_the_124m_model(figures: dict) -> None:
    table = parameter_table(GPT2_SMALL)

    expected = dict(figures["parameters_124m"])
    assert (table.size.as_coded, table.size.tied) == (expected.pop("total_untied"), expected.pop("total_tied"))
    assert table.components() == expected
    assert table.total == 163_009_536
    assert table.head == 163_009_536 - 124_412_160


def test_the_four_sizes_in_three_ways(figures: dict) -> None:
    for size in four_sizes():
        expected = figures["sizes"][size.key]
        assert size.as_coded == expected["untied"]
        assert size.tied == expected["tied"]
        assert size.as_published == expected["tied_qkv_bias"]
        assert (size.config.emb_dim, size.config.n_layers, size.config.n_heads) == (
            expected["emb_dim"], expected["n_layers"], expected["n_heads"],
        )  # fmt: skip


def test_the_names_are_the_published_counts_in_millions() -> None:
    for size in four_sizes():
        assert CALLED[size.key] == f"{round(size.as_published / 1e6)}M"


@pytest.mark.parametrize("config", [ODD, replace(ODD, qkv_bias=False), replace(ODD, tie_weights=True)])
def test_the_rows_add_up_to_the_real_model(config: GPTConfig) -> None:
    table = parameter_table(config)

    assert sum(row.total for row in table.tensors) == sum(p.numel() for p in GPTModel(config).parameters())


def test_every_formula_gives_its_tensor() -> None:
    letters = {"V": 11, "C": 5, "E": 6, "4E": 24, "L": 4, "F": 17}

    for row in (*parameter_table(ODD).tensors, *parameter_table(replace(ODD, n_inner=17)).tensors):
        product = 1
        for letter in row.symbolic.split(" · "):
            product *= letters[letter]
        assert product == row.total, row.name
        assert row.numeric == " · ".join(str(letters[letter]) for letter in row.symbolic.split(" · "))


@pytest.mark.parametrize(
    ("setting", "other"),
    [("vocab_size", 12), ("context_length", 7), ("emb_dim", 9), ("n_layers", 5)],
)
def test_a_setting_controls_the_tensors_that_it_changes(setting: str, other: int) -> None:
    before = {row.name: row for row in parameter_table(ODD).tensors}

    after = parameter_table(replace(ODD, **{setting: other})).tensors

    changed = {row.name for row in after if row.total != before[row.name].total}
    assert changed == {row.name for row in after if setting in row.settings}


def test_qkv_bias_controls_the_tensors_that_come_with_it() -> None:
    without = {row.name for row in parameter_table(replace(ODD, qkv_bias=False)).tensors}

    table = parameter_table(ODD)

    came = {row.name for row in table.tensors if row.name not in without}
    assert came == {row.name for row in table.tensors if "qkv_bias" in row.settings}
    assert len(came) == 3


def test_heads_change_no_tensor() -> None:
    assert parameter_table(replace(ODD, n_heads=1)).tensors == parameter_table(ODD).tensors


def test_a_configuration_of_its_own_has_no_name() -> None:
    size = parameter_table(TINY).size

    assert (size.key, size.called) == ("", "")
    assert parameter_table(replace(GPT2_XL, drop_rate=0.0)).size.called == "1558M"


@pytest.mark.parametrize(
    ("what", "field"),
    [
        ({"vocab_size": 10**20}, "vocab_size"),
        ({"emb_dim": 10**9, "n_heads": 1}, "emb_dim"),
        ({"n_layers": 201}, "n_layers"),
    ],
)
def test_absurd_sizes_are_refused(what: dict[str, int], field: str) -> None:
    with pytest.raises(RefusedInputError) as refused:
        parameter_table(replace(GPT2_SMALL, **what))

    assert refused.value.field == field


def test_the_largest_that_is_taken_does_not_overflow() -> None:
    largest = GPTConfig(vocab_size=10**8, context_length=10**8, emb_dim=10**8, n_heads=1, n_layers=1)

    assert parameter_table(largest).total == 15 * 10**16 + 12 * 10**8
