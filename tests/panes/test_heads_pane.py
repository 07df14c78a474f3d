"""Heads: the map, the ranking, and what a click on them does."""

import numpy as np
import pytest
from panes_of import pane_of
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import User

from gptviz.analysis.heads import SCORE_NAMES
from gptviz.app.main_window import MainWindow
from gptviz.panes.heads import HeadsPane
from gptviz.session.measuring import HEADS, PROBE
from gptviz.widgets.text import number

pytestmark = pytest.mark.with_panes("heads", "attention")


@pytest.fixture
def pane(window: MainWindow, user: User, qtbot: QtBot) -> HeadsPane:
    pane = pane_of(window, HeadsPane)
    user.brings_up("heads")
    qtbot.waitUntil(lambda: user.state.measured.probe is not None)
    return pane


def probe_values(user: User, score: str) -> dict[tuple[int, int], float]:
    assert user.state.measured.probe is not None
    values = user.state.measured.probe.scores[:, :, SCORE_NAMES.index(score)]
    return {(layer, head): float(values[layer, head]) for layer, head in np.ndindex(*values.shape)}


def ranked(pane: HeadsPane) -> list[str]:
    return [row.strip() for row in pane.ranking.accessibleDescription().split(";")]


def said(values: dict[tuple[int, int], float], descending: bool = True) -> list[str]:
    order = sorted(values, key=lambda place: values[place], reverse=descending)
    return [f"block {layer + 1} head {head + 1} {number(values[layer, head], 3)}" for layer, head in order]


def test_induction_on_the_probe_comes_first(pane: HeadsPane, user: User) -> None:
    assert ranked(pane)[:4] == said(probe_values(user, "induction"))
    assert ranked(pane)[4] == "uniform: 0.0214"
    assert "uniform: 0.0214" in painted_words(pane.ranking)


def test_another_score_is_ranked_and_defined(pane: HeadsPane, user: User) -> None:
    user.clicks(pane.scores.button("entropy"))

    assert ranked(pane)[:4] == said(probe_values(user, "entropy"))
    assert pane.words.text().startswith("How widely a token spreads its attention")
    assert "log" in pane.formula.markup


def test_the_lowest_can_come_first(pane: HeadsPane, user: User) -> None:
    user.clicks(pane.order.button("lowest"))
    assert ranked(pane)[:4] == said(probe_values(user, "induction"), descending=False)

    user.clicks(pane.order.button("place"))
    assert [row[:14] for row in ranked(pane)[:4]] == [
        f"block {block} head {head}" for block in (1, 2) for head in (1, 2)
    ]


def test_a_click_on_the_map_goes_to_the_head(pane: HeadsPane, user: User) -> None:
    user.clicks(pane.map, pane.map.cell_box(1, 0).center())
    user.waits()

    assert (user.state.selection.layer, user.state.selection.head) == (1, 0)
    value = probe_values(user, "induction")[1, 0]
    assert pane.map.accessibleDescription() == f"block 2, head 1: {number(value, 3)}"


def test_a_click_on_the_ranking_goes_to_the_head(pane: HeadsPane, user: User) -> None:
    values = probe_values(user, "induction")
    last = min(values, key=lambda place: values[place])
    user.clicks(pane.ranking, pane.ranking.row_box(3).center())
    user.waits()

    assert (user.state.selection.layer, user.state.selection.head) == last


def test_arrow_keys_move_to_the_next_head(pane: HeadsPane, user: User) -> None:
    user.clicks(pane.map, pane.map.cell_box(0, 0).center())
    user.presses(Qt.Key.Key_Down)
    user.presses(Qt.Key.Key_Right)
    user.waits()

    assert (user.state.selection.layer, user.state.selection.head) == (1, 1)


def test_enter_shows_the_head_in_attention(pane: HeadsPane, user: User, qtbot: QtBot) -> None:
    user.clicks(pane.map, pane.map.cell_box(1, 1).center())
    user.presses(Qt.Key.Key_Return)

    qtbot.waitUntil(user.window.docks["attention"].pane.isVisible)


def test_the_prompt_can_be_measured(pane: HeadsPane, user: User, qtbot: QtBot) -> None:
    user.runs("a rose is a rose is a rose")
    user.clicks(pane.source.button(HEADS))
    qtbot.waitUntil(lambda: len(user.state.measured.heads) == 2)

    measured = user.state.measured
    which = SCORE_NAMES.index("induction")
    values = {(layer, head): float(measured.heads[layer][0, head, which]) for layer in (0, 1) for head in (0, 1)}
    assert ranked(pane)[:4] == said(values)
    assert not pane.note.isVisible()


def test_a_prompt_without_a_repetition_says_why_there_is_no_score(pane: HeadsPane, user: User, qtbot: QtBot) -> None:
    user.clicks(pane.source.button(HEADS))
    qtbot.waitUntil(lambda: len(user.state.measured.heads) == 2)

    assert pane.note.text() == "No token occurs twice in this prompt: repeat something, or choose Probe."
    assert pane.map.accessibleDescription() == "block 1, head 1: no score"
    user.clicks(pane.scores.button("previous"))
    assert not pane.note.isVisible()
    assert len(ranked(pane)) == 5


def test_one_token_has_nothing_to_choose_from(pane: HeadsPane, user: User, qtbot: QtBot) -> None:
    user.clicks(pane.source.button(HEADS))
    user.runs("Hello")
    qtbot.waitUntil(lambda: len(user.state.measured.heads) == 2)

    assert pane.note.text().startswith("One token has nothing to choose from")


def test_the_probe_is_measured_only_while_it_is_looked_at(pane: HeadsPane, user: User) -> None:
    user.brings_up("attention")
    user.window.session.use_model("tiny", 7)
    user.waits()
    assert user.state.measured.probe is None
    assert not user.window.session.measuring.pending

    user.brings_up("heads")
    assert user.window.session.measuring.pending


@pytest.mark.without_panes("flow", "stage")
def test_the_head_s_own_map_is_there_where_it_has_room(pane: HeadsPane, user: User, qtbot: QtBot) -> None:
    assert not pane.attention.isVisible()

    user.window.resize(2400, 1200)
    qtbot.waitUntil(pane.attention.isVisible)

    probe = user.state.measured.probe
    assert probe is not None
    assert pane.attention.data is not None
    np.testing.assert_array_equal(np.tril(pane.attention.data.values), np.tril(probe.maps[0, 0]))


def test_pointing_at_a_cell_reads_it(pane: HeadsPane, user: User) -> None:
    assert pane.source.button(PROBE).isChecked()
    assert pane.map.written(0, 1) == f"block 1, head 2: {number(probe_values(user, 'induction')[0, 1], 3)}"
    assert QPointF(pane.map.cell_box(0, 1).center()) != QPointF(pane.map.cell_box(0, 0).center())
