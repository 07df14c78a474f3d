"""The lab of parameters: the published figures, and any edited configuration."""

from collections.abc import Callable

import pytest
from user import User

from gptviz.panes.lab_parameters import ParametersLabPane
from gptviz.panes.pane import Pane

Types = Callable[[str, str], None]


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> ParametersLabPane:
    pane = open_lab("lab-parameters")
    assert isinstance(pane, ParametersLabPane)
    return pane


@pytest.fixture
def types(pane: ParametersLabPane, lab_user: User, answered: Callable[[], None]) -> Types:
    """A function that replaces what stands in a field, and waits for the answer."""

    def types(field: str, text: str) -> None:
        lab_user.pastes(pane.form.fields[field].edit, text)  # at once: each digit would be counted
        answered()

    return types


def marked(pane: ParametersLabPane) -> list[str]:
    """The tensors that stand out."""
    return [row.cells[0].strip() for row in pane.tensors.rows if row.tones[0] == "accent"]


def test_it_opens_with_the_chapters_figures(pane: ParametersLabPane, figures: dict) -> None:
    expected = figures["parameters_124m"]

    assert pane.figures.texts == ("163,009,536", "124,412,160", "652 MB", "326 MB")
    rows = {row.cells[0]: row.cells[4] for row in pane.tensors.rows}
    assert rows["Token embedding"] == f"{expected['tok_emb']:,}"
    assert rows["Blocks × 12"] == f"{expected['trf_blocks']:,}"
    assert "163,009,536 − 38,597,376 = 124,412,160" in pane.why.text()
    assert pane.why.text().endswith("hence 124M.")


def test_all_four_sizes_are_listed(pane: ParametersLabPane, figures: dict) -> None:
    listed = {row.cells[0].lower().replace(" ", "-").replace("gpt-2", "gpt2"): row.cells for row in pane.sizes.rows}

    for name, size in figures["sizes"].items():
        assert listed[name][4:7] == (f"{size['untied']:,}", f"{size['tied']:,}", f"{size['tied_qkv_bias']:,}")


def test_an_edit_counts_anew(pane: ParametersLabPane, types: Types) -> None:
    types("n_layers", "6")

    assert pane.figures.texts[0] == f"{163_009_536 - 85_026_816 // 2:,}"
    assert [row.cells[0] for row in pane.sizes.rows][-1] == "as edited"
    formulas = {row.cells[0].strip(): row.cells[3] for row in pane.tensors.rows}
    assert formulas["ff.layers.0.weight"] == "6 · 3,072 · 768"
    assert not pane.presets.button("gpt2-small").isChecked()


def test_a_size_is_one_click_away(pane: ParametersLabPane, lab_user: User, answered: Callable[[], None]) -> None:
    lab_user.clicks(pane.presets.button("gpt2-xl"))
    answered()

    assert pane.figures.texts == ("1,637,792,000", "1,557,380,800", "6.55 GB", "3.28 GB")
    assert pane.form.fields["emb_dim"].edit.text() == "1600"
    assert pane.why.text().endswith("hence 1558M.")


def test_a_tied_head_costs_nothing(pane: ParametersLabPane, lab_user: User, answered: Callable[[], None]) -> None:
    lab_user.clicks(pane.form.switches["tie_weights"].button("True"))
    answered()

    shared = {row.cells[0].strip(): row.cells[4] for row in pane.tensors.rows}
    assert shared["out_head.weight"] == "shared"
    assert pane.figures.texts[2] == "498 MB"


def test_the_setting_in_focus_marks_its_tensors(pane: ParametersLabPane, lab_user: User) -> None:
    lab_user.clicks(pane.form.fields["vocab_size"].edit)
    assert marked(pane) == ["tok_emb.weight", "out_head.weight"]

    lab_user.clicks(pane.form.fields["context_length"].edit)
    assert marked(pane) == ["pos_emb.weight"]

    lab_user.clicks(pane.form.fields["n_heads"].edit)
    assert marked(pane) == []
    assert "12 heads of 64 features" in pane.controls.text()


def test_bad_input_is_explained_at_its_field_and_the_last_result_stays(pane: ParametersLabPane, types: Types) -> None:
    before = pane.figures.texts

    for field, text, reason in (
        ("emb_dim", "770", "Must be divisible by n_heads"),
        ("n_layers", "0", "Must be at least 1"),
        ("vocab_size", "-5", "Must be at least 1"),
        ("n_heads", "many", "no number"),
        ("drop_rate", "1", "below 1"),
        ("n_layers", "100000", "At most 200"),
        ("context_length", "9" * 20, "Too large"),
        ("emb_dim", "9" * 300, "Must be divisible"),
        ("n_heads", "9" * 300, "Must be divisible"),
    ):
        good = pane.form.fields[field].edit.text()
        types(field, text)
        assert reason in pane.form.message
        assert len(pane.form.message) < 220
        assert pane.figures.texts == before
        types(field, good)
        assert pane.form.message == ""


def test_reset_brings_the_chapters_figures_back(
    pane: ParametersLabPane, types: Types, lab_user: User, answered: Callable[[], None]
) -> None:
    types("emb_dim", "770")
    lab_user.clicks(pane.header.button)
    answered()

    assert pane.form.message == ""
    assert pane.figures.texts[:2] == ("163,009,536", "124,412,160")
