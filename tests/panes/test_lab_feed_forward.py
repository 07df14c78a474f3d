"""The lab of the feed-forward network: sizes, mistakes, and messages at their fields."""

from collections.abc import Callable

import pytest
from reading import painted_words
from user import User

from gptviz.panes.lab_feed_forward import FeedForwardLabPane
from gptviz.panes.pane import Pane

Types = Callable[[str, str], None]


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> FeedForwardLabPane:
    pane = open_lab("lab-feed-forward")
    assert isinstance(pane, FeedForwardLabPane)
    return pane


@pytest.fixture
def types(pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None]) -> Types:
    """A function that replaces what stands in a field, and waits for the answer."""

    def types(field: str, text: str) -> None:
        lab_user.types(pane.fields[field].edit, text)
        answered()

    return types


def test_it_opens_with_the_chapters_shapes(pane: FeedForwardLabPane) -> None:
    words = painted_words(pane.chain)

    assert [word for word in words if word.startswith("(")][:4] == [
        "(2, 3, 768)", "(2, 3, 3072)", "(2, 3, 3072)", "(2, 3, 768)",
    ]  # fmt: skip
    assert "All numbers match" in pane.verdict.text()
    assert not pane.error.isVisible()


def test_a_size_that_breaks_inside_is_marked_where_it_starts(pane: FeedForwardLabPane, types: Types) -> None:
    types("contract_in", "1024")

    assert "3,072 ≠ 1,024" in painted_words(pane.chain)
    assert [link.title for link in pane.chain.links if link.wrong] == ["Linear, contract"]
    assert pane.error.text() == "RuntimeError: mat1 and mat2 shapes cannot be multiplied (6x3072 and 1024x768)"
    assert "breaks inside" in pane.verdict.text()
    assert painted_words(pane.chain).count("not reached") == 2


def test_a_module_that_returns_another_width_runs_first(pane: FeedForwardLabPane, types: Types) -> None:
    types("contract_out", "1024")

    assert "(2, 3, 1024)" in painted_words(pane.chain)
    assert "1,024 ≠ 768" in painted_words(pane.chain)
    assert "The module runs, but returns 1,024 where 768 are expected" in pane.verdict.text()
    assert pane.presets.button("returns-1024").isChecked()


def test_a_preset_fills_the_fields(
    pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None], types: Types
) -> None:
    lab_user.clicks(pane.presets.button("other-model"))
    answered()
    assert pane.fields["contract_in"].edit.text() == "4096"
    assert "the first Linear takes 1,024, but 768 arrive" in pane.verdict.text()

    types("features", "1024")
    assert "All numbers match" in pane.verdict.text()
    assert not pane.presets.button("other-model").isChecked()


def test_a_width_of_one_is_no_error_and_still_wrong(
    pane: FeedForwardLabPane, lab_user: User, answered: Callable[[], None]
) -> None:
    lab_user.clicks(pane.presets.button("returns-1"))
    answered()

    assert "No error, and still wrong" in pane.verdict.text()
    assert not pane.error.isVisible()
    assert [link.silent for link in pane.chain.links if link.wrong] == [True]


def test_bad_input_is_explained_at_its_field_and_the_last_result_stays(pane: FeedForwardLabPane, types: Types) -> None:
    types("contract_out", "1024")
    before = pane.verdict.text()

    for text, reason in (
        ("x", "no number"),
        ("", "Empty"),
        ("0", "too small"),
        ("-4", "too small"),
        (".5", "whole"),
        ("0" * 400, "no number"),
    ):
        types("expand_in", text)
        pane.fields["batch"].edit.setFocus()
        assert reason in pane.fields["expand_in"].message
        assert pane.verdict.text() == before


def test_more_memory_than_the_machine_has_is_refused_at_the_field(pane: FeedForwardLabPane, types: Types) -> None:
    types("tokens", "900000000")

    assert "GB are free" in pane.fields["tokens"].message
    assert "All numbers match" in pane.verdict.text()

    types("tokens", "5")
    assert pane.fields["tokens"].message == ""
    assert pane.chain.links[0].out == "(2, 5, 768)"


def test_reset_brings_the_chapters_figures_back(
    pane: FeedForwardLabPane, types: Types, lab_user: User, answered: Callable[[], None]
) -> None:
    types("batch", "x")
    types("expand_out", "77")
    lab_user.clicks(pane.header.button)
    answered()

    assert {key: field.edit.text() for key, field in pane.fields.items()} == {
        "batch": "2", "tokens": "3", "features": "768", "expand_in": "768",
        "expand_out": "3072", "contract_in": "3072", "contract_out": "768",
    }  # fmt: skip
    assert pane.fields["batch"].message == ""
    assert "All numbers match" in pane.verdict.text()
