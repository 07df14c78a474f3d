"""The greedy loop on screen."""

from itertools import pairwise

import pytest
import torch
from holding import Hold
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.model import GPTModel, greedy_steps
from gptviz.panes.attention import AttentionPane
from gptviz.panes.generation import GenerationPane
from gptviz.panes.next_token import NextTokenPane
from gptviz.panes.shape_trace import ShapeTracePane
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.text import percent, visible

pytestmark = pytest.mark.with_panes("generation")

HELLO = [15496, 11, 314, 716]


@pytest.fixture
def pane(window: MainWindow) -> GenerationPane:
    return pane_of(window, GenerationPane)


def table(pane: GenerationPane) -> list[list[str]]:
    model = pane.table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def steps(user: User, pane: GenerationPane, count: int) -> None:
    for _ in range(count):
        user.clicks(pane.step)
        user.waits()


def words(tokens: list[int]) -> list[str]:
    return [visible(gpt2_tokenizer().token_text(token)) for token in tokens]


def greedy(model: GPTModel, count: int) -> list[int]:
    return [int(step.next_ids) for step in greedy_steps(model, torch.tensor([HELLO]), count)]


def test_before_the_first_step_it_says_what_a_step_does(pane: GenerationPane) -> None:
    assert pane.hint.isVisible()
    assert pane.text.toPlainText() == "Hello, I am"
    assert not pane.table.isVisible()
    assert not pane.reset.isEnabled()


def test_before_the_first_step_nothing_stands_apart(pane: GenerationPane) -> None:
    parts = (pane.step, pane.how, pane.text, pane.hint)
    gaps = [below.y() - part.geometry().bottom() for part, below in pairwise(parts)]
    assert max(gaps) - min(gaps) <= 1
    assert pane.how.height() < 2 * pane.how.fontMetrics().lineSpacing()


def test_each_step_adds_the_greedy_token(pane: GenerationPane, user: User, tiny_model: GPTModel) -> None:
    steps(user, pane, 3)

    assert [row[:2] for row in table(pane)] == [
        [str(place), word] for place, word in enumerate(words(greedy(tiny_model, 3)), start=1)
    ]
    assert not pane.hint.isVisible()


def test_a_row_has_the_probability_and_the_runners_up(pane: GenerationPane, user: User) -> None:
    assert user.state.trace is not None
    logits = user.state.trace["last"][0]
    best = torch.topk(logits, 4).indices.tolist()

    steps(user, pane, 1)

    _, token, probability, runners_up = table(pane)[0]
    assert token == words(best)[0]
    assert probability == percent(torch.softmax(logits.double(), dim=0)[best[0]].item())
    assert runners_up.split() == words(best)[1:]


def test_the_text_grows(pane: GenerationPane, user: User, tiny_model: GPTModel) -> None:
    steps(user, pane, 2)

    assert pane.text.toPlainText() == gpt2_tokenizer().decode(HELLO + greedy(tiny_model, 2))


def test_the_last_step_is_marked_and_on_screen(pane: GenerationPane, user: User) -> None:
    steps(user, pane, 3)

    assert [index.row() for index in pane.table.selectionModel().selectedRows()] == [2]
    assert user.state.trace is not None
    assert user.state.trace.tokens == 6


@pytest.mark.without_panes("flow", "stage")
def test_choosing_a_row_shows_that_steps_trace_in_all_panes(
    pane: GenerationPane, user: User, tiny_model: GPTModel
) -> None:
    steps(user, pane, 3)

    user.clicks_row(pane.table, pane.table.model().index(1, 1))
    user.waits()

    tokens = greedy(tiny_model, 3)
    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [[*HELLO, tokens[0]]]
    docks = user.window.docks
    attention, ranking, trace = (docks[name].pane for name in ("attention", "next-token", "shape-trace"))
    assert isinstance(attention, AttentionPane)
    assert isinstance(ranking, NextTokenPane)
    assert isinstance(trace, ShapeTracePane)
    assert attention.map.data is not None
    assert attention.map.data.values.shape == (5, 5)
    assert ranking.choice.text() == words(tokens)[1]
    assert trace.model.index(1, 2, trace.model.index(0, 0)).data() == "(1,5) → (1,5,32)"
    assert len(table(pane)) == 3


def test_arrows_go_through_the_rows(pane: GenerationPane, user: User) -> None:
    steps(user, pane, 2)
    user.clicks_row(pane.table, pane.table.model().index(1, 1))

    user.presses(Qt.Key.Key_Up)
    user.waits()

    assert user.state.generation.shown == 0
    assert user.state.trace is not None
    assert user.state.trace.tokens == 4


def test_play_becomes_pause(pane: GenerationPane, user: User, qtbot: QtBot) -> None:
    user.clicks(pane.play)
    assert pane.play.text() == "Pause"
    qtbot.waitUntil(lambda: len(table(pane)) >= 3)

    user.clicks(pane.play)
    user.waits()

    assert pane.play.text() == "Play"
    count = len(table(pane))
    user.clicks(pane.step)
    user.waits()
    assert len(table(pane)) == count + 1


def test_reset_goes_back_to_the_prompt(pane: GenerationPane, user: User) -> None:
    steps(user, pane, 2)

    user.clicks(pane.reset)
    user.waits()

    assert table(pane) == []
    assert pane.text.toPlainText() == "Hello, I am"
    assert pane.hint.isVisible()
    assert user.state.trace is not None
    assert user.state.trace.ids.tolist() == [HELLO]


def test_step_waits_for_what_is_under_way(pane: GenerationPane, user: User, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("tok_emb")
    user.window.session.run()
    qtbot.waitUntil(lambda: gate.reached)
    assert not pane.step.isEnabled()

    gate.open()
    user.waits()

    assert pane.step.isEnabled()


def test_the_keyboard_steps_plays_and_resets(pane: GenerationPane, user: User, qtbot: QtBot) -> None:
    pane.table.setFocus()
    user.presses(Qt.Key.Key_G, CONTROL)
    user.waits()
    assert len(table(pane)) == 1

    user.presses(Qt.Key.Key_G, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: len(table(pane)) >= 2)
    user.presses(Qt.Key.Key_G, CONTROL | SHIFT)
    user.waits()
    assert not user.state.generation.playing

    pane.step.setFocus()
    user.presses(Qt.Key.Key_R, CONTROL)
    user.waits()
    assert table(pane) == []


def test_white_space_in_a_token_is_visible_and_markup_is_text(pane: GenerationPane, user: User) -> None:
    steps(user, pane, 1)
    from gptviz.analysis.candidates import Candidate
    from gptviz.session.generation import GeneratedStep

    line, bracket = Candidate(198, 1.0, 0.5), Candidate(27, 0.5, 0.25)
    pane.model.set_steps((GeneratedStep(line, (line, bracket), 1),))

    assert table(pane)[0][1] == "⏎"
    assert table(pane)[0][3].startswith("<")


def test_the_model_keeps_qts_rules(pane: GenerationPane, user: User, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(pane.model)
    steps(user, pane, 2)
    user.clicks(pane.reset)
    user.waits()
