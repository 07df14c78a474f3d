"""From the figures beside the maps to their arithmetic: least and largest, mean, probabilities, parts, steps."""

import math

import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from test_explaining import arithmetic, here, in_front
from user import User

from gptviz.analysis.arithmetic import Place
from gptviz.app.main_window import MainWindow
from gptviz.widgets.text import number, percent

pytestmark = pytest.mark.without_panes("flow")


@pytest.mark.parametrize("name", ["min", "max"])
def test_the_least_and_the_largest_number_of_a_stage_are_explained(
    window: MainWindow, user: User, qtbot: QtBot, name: str
) -> None:
    window.session.select_stage("trf_blocks.0.att.masked")
    user.brings_up("stage")
    figures = window.docks["stage"].pane.figures
    assert user.state.trace is not None
    scores = user.state.trace["trf_blocks.0.att.masked"][0, 0]
    finite = scores[torch.isfinite(scores)]
    value = float(finite.min() if name == "min" else finite.max())

    user.clicks(figures, figures.figure_box(name).center())

    pane = arithmetic(window, qtbot)
    place = here(user)
    assert place is not None
    assert scores[place.index[2:]].item() == value
    assert pane.head.value == number(value, 7)


def test_figures_are_reached_with_the_keyboard(window: MainWindow, user: User, qtbot: QtBot) -> None:
    window.session.select_stage("final_norm")
    user.brings_up("stage")
    figures = window.docks["stage"].pane.figures
    assert user.state.trace is not None
    largest = int(user.state.trace["final_norm"][0].argmax())

    figures.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return):
        user.presses(key)

    arithmetic(window, qtbot)
    assert here(user) == Place("final_norm", (0, largest // 32, largest % 32))


@pytest.mark.parametrize("name", ["mean", "variance"])
def test_a_mean_and_a_variance_are_lines_of_the_norms_arithmetic(
    window: MainWindow, user: User, qtbot: QtBot, name: str
) -> None:
    user.brings_up("layer-norm")
    numbers = window.docks["layer-norm"].pane.rows["before"].numbers
    shown = dict(figure.split() for figure in numbers.text.split("; "))[name]

    qtbot.waitUntil(lambda: numbers.rect().contains(numbers.figure_box(name).toAlignedRect()))  # laid out
    user.clicks(numbers, numbers.figure_box(name).center())

    pane = arithmetic(window, qtbot)
    line = next(part for part in pane.working.text.split("; ") if part.startswith(f"{name}: "))
    assert line.endswith(f" = {shown}")


@pytest.mark.without_panes("flow", "stage")
def test_a_probability_is_worked_out_below_its_logit(window: MainWindow, user: User, qtbot: QtBot) -> None:
    bars = window.docks["next-token"].pane.bars
    assert user.state.trace is not None
    shares = torch.softmax(user.state.trace["last"][0].double(), 0)
    third = int(shares.topk(3).indices[2])

    user.clicks(bars, bars.row_box(2).center())

    pane = arithmetic(window, qtbot)
    assert pane.onward.isVisible()
    steps = pane.onward.text.split("; ")
    assert [step.split(":")[0] for step in steps] == ["largest logit", "this token", "all tokens", "probability"]
    assert here(user) == Place("last", (0, third))
    found = pane.explanation
    assert found is not None
    assert found.onward[-1].value == pytest.approx(float(shares[third]), rel=1e-12)
    assert pane.head.coordinates.endswith(f", probability {percent(float(shares[third]))}")
    assert percent(found.onward[-1].value) == window.docks["next-token"].pane.bars.row(2).value
    window.session.select_stage("final_norm")
    assert not pane.onward.isVisible()


@pytest.mark.without_panes("flow", "stage")
def test_a_generated_token_is_explained_by_the_pass_that_chose_it(window: MainWindow, user: User, qtbot: QtBot) -> None:
    for _ in range(2):
        window.session.loop.step()
        user.waits()
    table = window.docks["generation"].pane.table
    first = user.state.generation.steps[0]

    user.clicks_row(table, table.model().index(0, 2))
    user.waits()
    assert not in_front(window)
    user.presses(Qt.Key.Key_Return)

    pane = arithmetic(window, qtbot)
    assert here(user) == Place("last", (0, first.chosen.id))
    assert user.state.trace is not None
    assert tuple(user.state.trace.ids[0].tolist()) == user.state.generation.before(0)
    assert pane.explanation is not None
    assert pane.explanation.onward[-1].value == pytest.approx(first.chosen.probability, rel=1e-12)


@pytest.mark.without_panes("flow", "stage")
def test_a_step_whose_pass_is_not_there_is_explained_when_it_is(window: MainWindow, user: User, qtbot: QtBot) -> None:
    for _ in range(2):
        window.session.loop.step()
        user.waits()
    table = window.docks["generation"].pane.table
    first = user.state.generation.steps[0]

    table.activated.emit(table.model().index(0, 1))

    arithmetic(window, qtbot)
    assert here(user) == Place("last", (0, first.chosen.id))


@pytest.mark.without_panes("flow", "stage")
def test_a_part_leads_to_the_number_that_it_added(window: MainWindow, user: User, qtbot: QtBot) -> None:
    window.session.attributing.ask(kind="stream", stage="trf_blocks.1.shortcut2", feature=17)
    window.show_pane("where-from")
    bars = window.docks["where-from"].pane.bars
    qtbot.waitUntil(lambda: len(bars.rows) == 7)
    forward = next(row for row in bars.rows if row.title == "block 1 feed-forward")

    user.clicks_row(bars, bars.index_of(forward.key))
    assert here(user) == Place("trf_blocks.0.ff.layers.2", (0, 3, 17))
    assert not in_front(window)
    user.presses(Qt.Key.Key_Return)

    pane = arithmetic(window, qtbot)
    assert pane.explanation is not None
    assert pane.explanation.captured == pytest.approx(forward.end - forward.start)
    assert user.state.where_from.question.feature == 17


@pytest.mark.without_panes("flow", "stage")
def test_a_head_is_opened_as_a_part_of_its_attentions_sum(window: MainWindow, user: User, qtbot: QtBot) -> None:
    window.session.attributing.ask(kind="stream", stage="trf_blocks.1.shortcut2", feature=17)
    window.show_pane("where-from")
    bars = window.docks["where-from"].pane.bars
    qtbot.waitUntil(lambda: len(bars.rows) == 7)
    attention = next(row for row in bars.rows if row.title == "block 2 attention")
    head = attention.inner[1]
    bars.expand(bars.index_of(attention.key))

    bars.setCurrentIndex(bars.index_of(head.key))
    bars.setFocus()
    user.presses(Qt.Key.Key_Return)

    pane = arithmetic(window, qtbot)
    assert here(user) == Place("trf_blocks.1.att.out_proj", (0, 3, 17))
    found = pane.explanation
    assert found is not None
    assert found.terms is not None
    assert math.fsum(found.terms.values[16:]) == pytest.approx(head.end - head.start, abs=1e-9)


@pytest.mark.without_panes("flow", "stage")
def test_where_from_asks_for_the_token_that_was_clicked(window: MainWindow, user: User, qtbot: QtBot) -> None:
    bars = window.docks["next-token"].pane.bars
    assert user.state.trace is not None
    second = int(user.state.trace["last"][0].topk(2).indices[1])

    user.clicks(bars, bars.row_box(1).center())

    question = user.state.where_from.question
    assert (question.kind, question.token) == ("logit", second)


@pytest.mark.without_panes("flow")
def test_a_part_of_a_logit_opens_its_stage_and_the_logit_its_arithmetic(
    window: MainWindow, user: User, qtbot: QtBot
) -> None:
    window.session.attributing.ask(kind="logit", token=464)
    window.show_pane("where-from")
    bars = window.docks["where-from"].pane.bars
    qtbot.waitUntil(lambda: bool(bars.rows) and bars.rows[-1].title == "logit")

    bars.setCurrentIndex(bars.index_of("feed-forward/0/None"))
    bars.setFocus()
    user.presses(Qt.Key.Key_Return)
    qtbot.waitUntil(window.docks["stage"].pane.isVisible)
    assert user.state.selection.stage == "trf_blocks.0.ff.layers.2"
    assert not in_front(window)

    window.show_pane("where-from")
    bars.setCurrentIndex(bars.index_of("total"))
    bars.setFocus()
    user.presses(Qt.Key.Key_Return)
    arithmetic(window, qtbot)
    assert here(user) == Place("out_head", (0, 3, 464))
