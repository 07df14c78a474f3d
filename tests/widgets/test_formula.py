"""Formulas: what their markup means and where the parts stand."""

from collections.abc import Callable

import pytest
from reading import painted_words

from gptviz.analysis.formulas import Sizes, formula
from gptviz.app.appearance import Appearance
from gptviz.capture.stages import Stage, catalogue
from gptviz.model import GPT2_SMALL, TINY
from gptviz.widgets.formula import Formula
from gptviz.widgets.math_markup import MarkupError, set_formula, spoken


@pytest.fixture
def shown(show: Callable[..., None]) -> Callable[..., Formula]:
    """A function that shows a formula."""

    def shown(markup: str, width: int = 500) -> Formula:
        widget = Formula()
        widget.set_markup(markup)
        show(widget, width, 200)
        return widget

    return shown


@pytest.mark.parametrize("stage", catalogue(TINY), ids=lambda stage: stage.name)
def test_the_formula_of_each_stage_can_be_set(appearance: Appearance, stage: Stage) -> None:
    clauses = set_formula(formula(Sizes(stage, GPT2_SMALL, 1, 1024)), 17)

    assert all(clause.width > 20 and clause.ascent > 8 for clause in clauses)


def test_a_fraction_is_higher_than_what_it_is_made_of(appearance: Appearance) -> None:
    (plain,), (fraction,) = set_formula("a", 20), set_formula(r"\frac{a}{b}", 20)

    assert fraction.ascent > plain.ascent
    assert fraction.descent > 5
    assert fraction.width < 3 * plain.width


def test_scripts_stand_higher_and_lower_and_are_smaller(appearance: Appearance) -> None:
    (plain,), (power,), (index,) = (set_formula(markup, 20) for markup in ("xi", "x^{i}", "x_{i}"))

    assert power.ascent > plain.ascent
    assert index.descent > plain.descent
    assert power.width < plain.width + 2


def test_a_parenthesis_grows_with_what_it_holds(appearance: Appearance) -> None:
    (small,), (large,) = set_formula(r"\paren{x}", 20), set_formula(r"\paren{\frac{x}{y}}", 20)

    assert large.ascent + large.descent > 1.4 * (small.ascent + small.descent)


def test_three_spaces_part_clauses(appearance: Appearance) -> None:
    assert len(set_formula("a = b   c = d", 17)) == 2
    assert len(set_formula("a = b c = d", 17)) == 1


@pytest.mark.parametrize("markup", [r"\frac{a}", r"\root{a", "x^2", r"\unknown{a}", "a}"])
def test_what_is_not_understood_is_refused(appearance: Appearance, markup: str) -> None:
    with pytest.raises(MarkupError):
        set_formula(markup, 17)


def test_its_words_are_painted_with_the_shapes_below(shown: Callable[..., Formula]) -> None:
    words = painted_words(shown(r"\under{\word{scores}}{(1, 12, 4, 4)} ÷ \root{64}"))

    assert "".join(words).replace("scores", "").replace("÷", "") == "(1, 12, 4, 4)64"


def test_clauses_go_to_the_next_line_where_there_is_no_room(shown: Callable[..., Formula]) -> None:
    widget = shown(r"\word{a first clause}   \word{and a second one}")

    assert widget.heightForWidth(170) > 1.5 * widget.heightForWidth(500)


def test_what_is_wider_than_the_widget_is_drawn_smaller(shown: Callable[..., Formula]) -> None:
    widget = shown(r"\word{a rather long word that needs all the room that there is}", width=200)

    assert widget.heightForWidth(200) < 0.6 * widget.heightForWidth(900)


def test_lecture_size_enlarges_it(shown: Callable[..., Formula], appearance: Appearance) -> None:
    widget = shown(r"\frac{a}{b}")
    before = widget.heightForWidth(500)

    appearance.set_lecture(True)

    assert widget.heightForWidth(500) == pytest.approx(1.5 * before, rel=0.12)


def test_it_can_be_heard(shown: Callable[..., Formula]) -> None:
    widget = shown(r"\under{y}{(1, 4)} = \root{x} + b^{2}")

    assert widget.accessibleDescription() == "y (1, 4) = square root of x + b to the 2"
    assert "\\" not in spoken(r"\frac{a}{\paren{b}}")
