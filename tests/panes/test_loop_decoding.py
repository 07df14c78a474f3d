"""How the next token is chosen, as a person sets it in the loop pane."""

import pytest
from generated import chosen, steps, word
from panes_of import loop_pane, loop_view
from PySide6.QtCore import Qt, QTimer
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, User

from gptviz.analysis.decoding import draw
from gptviz.panes.loop import LoopPane
from gptviz.panes.loop_decoding import DecodingView
from gptviz.widgets.text import percent

pytestmark = pytest.mark.with_panes("loop")


@pytest.fixture
def pane(user: User) -> LoopPane:
    return loop_pane(user)


@pytest.fixture
def decoding(user: User) -> DecodingView:
    return loop_view(user, DecodingView)


# --- decoding --------------------------------------------------------------------------------------------


def test_greedy_is_the_default_and_said_to_be_deterministic(decoding: DecodingView) -> None:
    assert decoding.way.button("greedy").isChecked()
    assert "Deterministic" in decoding.way.button("greedy").toolTip()
    assert decoding.note.text().startswith("Greedy is deterministic: ")
    assert not decoding.top_k.isEnabled()


def test_sampling_draws_from_what_is_left(decoding: DecodingView, user: User) -> None:
    user.clicks(decoding.way.button("sample"))
    assert user.state.decoding.temperature == 1.0
    user.types(decoding.temperature.edit, "1.5")
    user.types(decoding.top_k.edit, "4")
    user.types(decoding.seed.edit, "7")
    assert (user.state.decoding.temperature, user.state.decoding.top_k, user.state.decoding.seed) == (1.5, 4, 7)

    words = painted_words(decoding.bars)
    assert words.count("cut by top-k") >= 1
    assert f"The draw {draw(7, 4):.4f} falls on" in decoding.note.text()
    token = steps(user, 1)[0]

    step = user.state.generation.steps[0]
    assert decoding.note.text().endswith(f"falls on {word(token)}.")
    assert step.chance is not None
    assert percent(step.chance) in words


def test_before_and_after_stand_side_by_side(decoding: DecodingView, user: User) -> None:
    user.clicks(decoding.way.button("sample"))
    user.types(decoding.top_k.edit, "2")

    rows = decoding.bars.accessibleDescription().split("; ")
    assert user.state.trace is not None
    shares = user.state.trace["last"][0].double().softmax(0).topk(3).values.tolist()
    total = shares[0] + shares[1]
    assert f"{percent(shares[0])} to {percent(shares[0] / total)}" in rows[0]
    assert f"{percent(shares[1])} to {percent(shares[1] / total)}" in rows[1]
    assert f"{percent(shares[2])} to top-k" in rows[2]


def test_what_makes_no_sense_is_refused_at_the_field(decoding: DecodingView, user: User) -> None:
    user.clicks(decoding.way.button("sample"))
    for field, text, message in (
        (decoding.temperature, "warm", "“warm” is no number: type a number of at least 0."),
        (decoding.temperature, "-1", "−1 is too small: at least 0, as 0 is greedy."),
        (decoding.temperature, "nan", "“nan” is no number: type a number of at least 0."),
        (decoding.temperature, "inf", "“inf” is no number: type a number of at least 0."),
        (decoding.top_k, "0", "0 is too small: at least 1, as a token has to stay."),
        (decoding.top_k, "50258", "50258 is too large: at most 50,257, as the vocabulary has no more."),
        (decoding.top_p, "0", "0 is too small: at least 1e−6, as a token has to stay."),
        (decoding.top_p, "1.5", "1.5 is too large: at most 1, as 1 keeps all."),
        (decoding.count, "0", "0 is too small: at least 1, as fewer would be none."),
        (decoding.count, "-3", "−3 is too small: at least 1, as fewer would be none."),
    ):
        before, good = user.state.decoding, field.value

        user.pastes(field.edit, text)

        assert field.message == message
        assert field.warning.isVisible()
        assert field.value == good
        assert user.state.decoding == before


def test_so_many_tokens_are_generated(decoding: DecodingView, user: User, qtbot: QtBot) -> None:
    user.types(decoding.count.edit, "7")

    user.clicks(decoding.generate)
    qtbot.waitUntil(lambda: not user.state.generation.playing and not user.window.session.busy)

    assert len(chosen(user.state)) == 7


def test_generate_goes_to_a_field_that_is_refused_and_appends_nothing(decoding: DecodingView, user: User) -> None:
    user.clicks(decoding.way.button("sample"))
    for field, text in ((decoding.count, "0"), (decoding.temperature, "nan"), (decoding.top_k, "")):
        user.types(field.edit, text)

        user.clicks(decoding.generate)

        assert not user.state.generation.playing
        assert field.edit.hasFocus()
        assert field.message
        assert field.edit.text() == text
        field.bring_back()

    user.clicks(decoding.way.button("greedy"))
    user.clicks(decoding.generate)  # what is greyed out does not count
    assert user.state.generation.playing
    user.window.session.cancel()
    user.waits()


def test_a_token_is_picked_by_double_click_or_enter(decoding: DecodingView, user: User, qtbot: QtBot) -> None:
    tokens = steps(user, 2)
    second = user.state.generation.steps[1].candidates[1].id

    place = decoding.bars.row_box(1).center().toPoint()
    qtbot.mouseDClick(decoding.bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    user.waits()
    assert chosen(user.state) == [tokens[0], second]
    decoding.bars.setFocus()
    user.presses(Qt.Key.Key_Home)
    user.presses(Qt.Key.Key_Down)
    user.presses(Qt.Key.Key_Down)
    assert decoding.pick.text() == f"Pick {word(user.state.generation.steps[1].candidates[2].id)}"
    user.presses(Qt.Key.Key_Return)
    user.waits()

    assert len(user.state.generation.branches) == 3


@pytest.fixture
def pause_between_panes(user: User) -> QTimer:
    """What panes wait for before they draw a new pass, one after the other: until then they show the one before."""
    pause = user.window.session.turns.findChild(QTimer)
    assert isinstance(pause, QTimer)
    return pause


def test_a_pick_counts_for_the_step_whose_bars_are_seen(
    decoding: DecodingView, user: User, pause_between_panes: QTimer, qtbot: QtBot
) -> None:
    tokens = steps(user, 3)
    last, seen = user.state.generation.steps[2], painted_words(decoding.bars)
    place = decoding.bars.row_box(1).center().toPoint()

    pause_between_panes.start(60_000)
    user.presses(Qt.Key.Key_PageUp, CONTROL)
    assert user.state.generation.shown == 1
    assert painted_words(decoding.bars) == seen
    qtbot.mouseDClick(decoding.bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    pause_between_panes.start(0)
    user.waits()

    assert chosen(user.state) == [*tokens[:2], last.candidates[1].id]
    assert user.state.generation.steps[2].chosen == last.candidates[1]


def test_nothing_is_picked_for_a_text_that_is_gone(
    decoding: DecodingView, user: User, pause_between_panes: QTimer, qtbot: QtBot
) -> None:
    tokens = steps(user, 4)
    place = decoding.bars.row_box(1).center().toPoint()

    pause_between_panes.start(60_000)
    user.presses(Qt.Key.Key_Z, CONTROL)
    user.presses(Qt.Key.Key_Z, CONTROL)
    qtbot.mouseDClick(decoding.bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    pause_between_panes.start(0)
    user.waits()

    assert chosen(user.state) == tokens[:2]
    assert len(user.state.generation.branches) == 1
