"""Two runs side by side, as a person sees them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkpoint_writers import SMALL, nanogpt, random_model
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.panes.compare import ComparePane
from gptviz.session.requests import CheckpointRequest
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.rank_change import rank_change
from gptviz.widgets.text import number, visible

pytestmark = pytest.mark.with_panes("compare", "attention")


@pytest.fixture
def compared(user: User, qtbot: QtBot) -> Callable[[], None]:
    """A function that waits until the runs are compared."""
    session = user.window.session
    return lambda: qtbot.waitUntil(lambda: not session.busy and not session.comparing.pending)


@pytest.fixture
def pane(user: User, compared: Callable[[], None], qtbot: QtBot) -> ComparePane:
    user.window.show_pane("compare")
    pane = pane_of(user.window, ComparePane)
    qtbot.waitUntil(pane.isVisible)
    return pane


@pytest.fixture
def beside(pane: ComparePane, user: User, compared: Callable[[], None]) -> ComparePane:
    """The pane with "Hello, I am" pinned and "Hello, you are not" on screen."""
    user.clicks(pane.pin)
    user.runs("Hello, you are not")
    compared()
    return pane


def shows(user: User, pane: ComparePane, subject: str) -> None:
    user.clicks(pane.subjects.button(subject))


def test_a_run_is_pinned_with_the_button_and_let_go(pane: ComparePane, user: User) -> None:
    assert not pane.tokens.isVisible()
    user.clicks(pane.pin)
    assert pane.tokens.isVisible()
    assert user.state.comparison.pinned is not None
    assert not pane.repin.isEnabled()

    user.clicks(pane.unpin)
    assert pane.pin.isVisible()
    assert user.state.comparison.pinned is None


def test_a_run_is_pinned_with_the_keyboard_from_anywhere(pane: ComparePane, user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    user.presses(Qt.Key.Key_P, CONTROL)
    qtbot.waitUntil(pane.isVisible)
    assert user.state.comparison.pinned is not None

    user.presses(Qt.Key.Key_P, CONTROL | SHIFT)
    assert user.state.comparison.pinned is None


def test_tokens_are_aligned_by_position_and_marked_where_they_differ(beside: ComparePane, user: User) -> None:
    assert beside.tokens.positions == 5
    assert beside.tokens.marked == (2, 3, 4)
    said = beside.tokens.accessibleDescription()
    assert "A: tiny · seed 123" in said
    assert "position 2: ␣I and ␣you" in said
    assert "position 4: nothing and ␣not" in said

    user.clicks(beside.tokens, beside.tokens.token_box(0, 1).center())
    assert user.state.selection.query == 1


def test_the_chosen_head_stands_beside_its_counterpart(beside: ComparePane, user: User) -> None:
    user.window.session.select(layer=1, head=1, query=2, key=0)
    trace, pinned = user.state.trace, user.state.comparison.pinned
    assert trace is not None
    assert pinned is not None
    a, b = pinned.trace["trf_blocks.1.att.weights"][0, 1], trace["trf_blocks.1.att.weights"][0, 1]
    maps = [matrix.map.data for matrix in (beside.maps.a, beside.maps.b, beside.maps.difference)]

    assert [data.values.shape for data in maps if data is not None] == [(4, 4), (5, 5), (4, 4)]
    difference = maps[2]
    assert difference is not None
    assert difference.values[2, 0] == float(b[2, 0] - a[2, 0])
    assert difference.high == -difference.low == np.nanmax(np.abs(difference.values))
    assert difference.signed
    assert "first 4 tokens" in beside.maps.difference.caption.text()
    assert f"B − A {number(float(b[2, 0] - a[2, 0]))}" in beside.maps.readout.text()
    assert "␣I → Hello" in beside.maps.readout.text()


def test_what_differs_by_rounding_alone_looks_the_same(
    pane: ComparePane, user: User, compared: Callable[[], None]
) -> None:
    user.clicks(pane.pin)
    user.runs("Hello, I am not")  # a later token changes no earlier row
    compared()
    difference = pane.maps.difference.map.data

    assert difference is not None
    assert np.nanmax(np.abs(difference.values)) < 1e-6
    assert difference.high >= 1e-5


def test_pointing_at_one_map_reads_both_runs(beside: ComparePane, user: User) -> None:
    user.points_at(beside.maps.a.map, beside.maps.a.map.cell_box(1, 0).center())

    assert beside.maps.readout.text().startswith("A , → Hello")
    assert "B , → Hello" in beside.maps.readout.text()


def test_ranks_and_probabilities_are_compared(beside: ComparePane, user: User) -> None:
    shows(user, beside, "tokens")
    trace, pinned = user.state.trace, user.state.comparison.pinned
    assert trace is not None
    assert pinned is not None
    a, b = (beside.ranks.rankings[0], beside.ranks.rankings[1])
    best = int(trace["next"])
    rank = int((pinned.trace["last"][0] > pinned.trace["last"][0, best]).sum()) + 1

    assert len(a) == len(b) == 10
    assert b[0].label == visible(gpt2_tokenizer().token_text(best))
    assert b[0].other_rank == rank
    assert rank_change(b[0], 1) == f"▲ {rank - 1:,}"
    change = trace["last"][0].double().softmax(0)[best] - pinned.trace["last"][0].double().softmax(0)[best]
    assert b[0].change.startswith("+" if change > 0 else "−")
    assert f"1 {b[0].label}" in beside.ranks.accessibleDescription()


def test_stages_are_listed_with_shapes_and_differences(beside: ComparePane, user: User) -> None:
    shows(user, beside, "stages")
    rows = {row.key: row for row in beside.stages.rows}

    assert len(rows) == 55
    assert rows["tok_emb"].shape == "(1, 4 | 5, 32)"
    assert rows["tok_emb"].warns
    assert rows["ids"].value == "2 tokens differ"
    assert rows["pos_emb"].fraction == 0
    assert rows["out_head"].fraction == pytest.approx(
        next(one.relative for one in user.state.comparison.differences if one.name == "out_head")
    )
    assert "(first 4 tokens compared)" in beside.progress.words.text()

    user.clicks_row(beside.stages, beside.stages.model().index(7, 0))
    assert user.state.selection.stage == beside.stages.rows[7].key
    beside.stages.setFocus()
    user.presses(Qt.Key.Key_Down)
    assert user.state.selection.stage == beside.stages.rows[8].key


def test_the_run_on_screen_is_pinned_instead(beside: ComparePane, user: User) -> None:
    user.clicks(beside.repin)
    pinned = user.state.comparison.pinned

    assert pinned is not None
    assert [piece.text for piece in pinned.pieces] == ["Hello", ",", " you", " are", " not"]
    assert beside.tokens.marked == ()
    assert "the same run" in beside.tokens.accessibleDescription()
    assert beside.unpin.toolTip().startswith("Let A go, and its ")


def test_two_seeds_are_compared(pane: ComparePane, user: User, compared: Callable[[], None]) -> None:
    user.clicks(pane.pin)
    user.window.session.use_model("tiny", 7)
    user.waits()
    compared()

    said = pane.tokens.accessibleDescription()
    assert "A: tiny · seed 123" in said
    assert "B: tiny · seed 7" in said
    assert pane.tokens.marked == ()
    difference = pane.maps.difference.map.data
    assert difference is not None
    assert difference.high > 0
    shows(user, pane, "stages")
    assert pane.progress.words.text() == "55 stages: 0 differ in shape, 54 in value"


def test_tokens_without_a_text_are_marked_where_they_differ(
    pane: ComparePane, user: User, compared: Callable[[], None], tmp_path: Path
) -> None:
    config = replace(SMALL, vocab_size=4, activation="gelu", tie_weights=True)
    checkpoint = nanogpt(tmp_path / "ckpt.pt", random_model(config))
    user.window.session.start_with(CheckpointRequest(str(checkpoint), asks=False))
    user.waits()
    user.runs("0 1 2")
    user.clicks(pane.pin)

    user.runs("0 3 2")
    compared()

    assert pane.tokens.marked == (1,)
    assert "position 1: 1 and 3" in pane.tokens.accessibleDescription()


def test_what_a_smaller_run_lacks_is_said(pane: ComparePane, user: User, compared: Callable[[], None]) -> None:
    from gptviz.capture import capture
    from gptviz.model import TINY, initialise

    user.clicks(pane.pin)
    trace = user.state.trace
    assert trace is not None
    deeper = initialise(type(TINY)(**{**vars(TINY), "n_layers": 3, "n_heads": 4}), seed=1)
    user.window.session.change(trace=capture(deeper, trace.ids))
    user.window.session.select(layer=2, head=3)
    user.waits()
    compared()

    assert pane.maps.a.note.text() == "It has no block 3."
    assert pane.maps.b.map.data is not None
    assert pane.maps.difference.note.text() == "There is nothing to compare."
    user.window.session.select(layer=0, head=3)
    assert pane.maps.a.note.text() == "It has no head 4."
    shows(user, pane, "stages")
    rows = {row.key: row for row in pane.stages.rows}
    assert rows["trf_blocks.2.norm1"].value == "only in B"
    assert rows["trf_blocks.0.att.weights"].value == "2 and 4 heads"
    assert rows["trf_blocks.0.shortcut2"].fraction is not None


def test_comparing_can_be_stopped(beside: ComparePane, user: User, compared: Callable[[], None]) -> None:

    shows(user, beside, "stages")
    session = user.window.session
    session.change(comparison=replace(user.state.comparison, differences=(), done=0, stopped=True))
    assert beside.progress.button.text() == "Go on"
    user.clicks(beside.progress.button)
    compared()

    assert len(beside.stages.rows) == 55
