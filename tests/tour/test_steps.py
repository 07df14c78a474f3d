"""The steps as they are written: no figure is typed, and every placeholder has a value."""

import re
from collections.abc import Callable

import pytest

from gptviz.capture import catalogue
from gptviz.model import GPT2_SMALL
from gptviz.panes import PANES
from gptviz.panes.tour_words import NEEDS, written
from gptviz.tour.facts import fact
from gptviz.tour.questions import QUESTIONS
from gptviz.tour.situation import Situation
from gptviz.tour.steps import Step, read_step, steps
from gptviz.tour.text import NotYetError, TourTextError, fill, names, words
from gptviz.widgets.theme import LIGHT

MakeSituation = Callable[..., Situation]
CASES = ("default", "one token", "batch", "full context, one head, one block", "another kind of model", "markup")
NUMBERS = "two three four five six seven eight nine ten eleven twelve dozen half twice hundred thousand million billion"

every_step = pytest.mark.parametrize("step", steps(), ids=lambda step: step.name)


def text_of(step: Step, situation: Situation) -> str:
    blocks = fill(step.paragraphs, lambda name: fact(name, situation), written)
    assert [block.need for block in blocks] == [None] * len(blocks)
    return "\n".join(block.text for block in blocks)


# --- what is typed ---------------------------------------------------------------------------------------


@every_step
def test_no_figure_is_typed(step: Step) -> None:
    typed = " ".join((step.title, *words(step.paragraphs))).lower()

    assert re.findall(r"\d", typed) == []
    assert set(re.findall(r"[a-z]+", typed)) & set(NUMBERS.split()) == set()


@every_step
def test_a_step_is_short(step: Step) -> None:
    typed = " ".join(words(step.paragraphs)).split()
    assert 25 <= len(typed) <= 140


def test_there_are_about_twenty_steps_and_a_dozen_questions() -> None:
    assert 18 <= len(steps()) <= 24
    assert sum(step.ask is not None for step in steps()) >= 12


@every_step
def test_what_a_step_asks_the_window_for_is_there(step: Step) -> None:
    panes = {pane.name for pane in PANES}
    stages = {stage.local_name for stage in catalogue(GPT2_SMALL)}
    assert step.panes
    assert set(step.panes) <= panes - {"tour"}
    assert step.stage is None or step.stage in stages
    assert step.ask is None or step.ask in QUESTIONS
    assert step.family in LIGHT.families
    assert step.point is not None
    assert step.point.partition("/")[0] in {*step.panes, step.lab, "header"}


# --- live values -----------------------------------------------------------------------------------------


@every_step
@pytest.mark.parametrize("case", CASES)
def test_every_placeholder_has_a_value(step: Step, case: str, situation: MakeSituation) -> None:
    now = situation(case)
    for name in names(step.paragraphs):
        assert written(fact(name, now))
    text = text_of(step, now)
    assert not re.search(r"\b(None|True|False|nan|NaN)\b", text)


@every_step
def test_every_row_and_position_has_a_text(step: Step, situation: MakeSituation) -> None:
    texts = {text_of(step, situation("batch", row=row, query=query)) for row in (0, 1) for query in (0, 1, -1)}
    assert all(texts)


def test_the_figures_are_those_of_the_pass(situation: MakeSituation) -> None:
    def of(name: str) -> str:
        return text_of(next(step for step in steps() if step.name.endswith(name)), situation("batch"))

    assert "(2, 4)" in of("tokens")
    assert "Every" in of("tokens")
    assert "(2, 2, 4, 4)" in of("scores")
    assert "(2, 4, 128)" in of("14-feed-forward")
    assert "(2, 4, 50257)" in of("logits")
    assert "3,243,776" in of("parameters")


def test_another_kind_of_model_is_spoken_of_as_it_is(situation: MakeSituation) -> None:
    def of(name: str, **what: int) -> str:
        now = situation("another kind of model", **what)
        return text_of(next(step for step in steps() if step.name.endswith(name)), now)

    assert "of the 7 numbers" in of("13-gelu")
    assert "uses ReLU in place of GELU" in of("13-gelu")
    assert "nothing that comes out is below 0." in of("13-gelu")
    assert "(1, 4, 7), the same after ReLU, and back to (1, 4, 12)" in of("14-feed-forward")
    assert "the middle is no wider" in of("14-feed-forward")
    assert "those of block 2 by 4.899." in of("scores", layer=1)  # 2 · √6
    assert "√" not in of("scores")


def test_the_labs_figures_are_the_chapters(
    situation: MakeSituation, figures: dict[str, dict[str, list[float]]]
) -> None:
    now = situation()
    norm, gradients = figures["layernorm_example_seed_123"], figures["shortcut_gradients_seed_123"]

    assert fact("lab.norm.variance_after", now) == pytest.approx(norm["variance_after"][0], abs=1e-5)
    assert fact("lab.gradients.plain_first", now) == pytest.approx(gradients["plain"][0], rel=1e-4)
    assert fact("lab.gradients.short_last", now) == pytest.approx(gradients["with_shortcuts"][-1], rel=1e-4)


# --- what is missing -------------------------------------------------------------------------------------


@every_step
@pytest.mark.parametrize("missing", ["model", "pass", "figures"])
def test_a_step_says_what_to_do_where_something_is_missing(step: Step, missing: str, situation: MakeSituation) -> None:
    now = {
        "model": Situation(),
        "pass": situation(trace=None, generated=()),
        "figures": situation(measured=None),
    }[missing]
    blocks = fill(step.paragraphs, lambda name: fact(name, now), written)

    assert blocks
    assert all(NEEDS[block.need] for block in blocks if block.need is not None)


def test_a_held_pass_and_a_block_that_is_not_at_hand_are_told_apart(situation: MakeSituation) -> None:
    whole = situation()
    assert whole.trace is not None
    from dataclasses import replace

    held = replace(whole.trace, records=whole.trace.records[:6], kept={"ids": whole.trace.ids})
    with pytest.raises(NotYetError, match="end"):
        fact("top.text", situation(trace=held))
    outside = {name: tensor for name, tensor in whole.trace.kept.items() if not name.startswith("trf_blocks.0.norm1")}
    with pytest.raises(NotYetError, match="block"):
        fact("norm.before_mean", situation(trace=replace(whole.trace, kept=outside)))


def test_an_unknown_value_is_refused(situation: MakeSituation) -> None:
    for name in ("nothing", "nothing.shape", "lab.nothing"):
        with pytest.raises(KeyError):
            fact(name, situation())


@pytest.mark.parametrize(
    "source",
    [
        "no front matter",
        "---\ntitle: T\n---\nno family",
        "---\ntitle: T\nfamily: head\ncolour: red\n---\n",
        "---\ntitle: T\n",
    ],
)
def test_a_file_that_is_not_well_formed_is_refused(source: str) -> None:
    with pytest.raises(TourTextError):
        read_step("some", source)
