"""Generation as an instrument, as a person uses it: strip, lines, decoding, branches, cost."""

import pytest
from generated import HELLO, chosen, fork, shown_ids, steps, word
from panes_of import loop_pane, loop_view, pane_of
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, SHIFT, User

from gptviz.panes.attention import AttentionPane
from gptviz.panes.loop import LoopPane
from gptviz.panes.loop_lines import LinesView

pytestmark = pytest.mark.with_panes("loop", "attention")


@pytest.fixture
def pane(user: User) -> LoopPane:
    return loop_pane(user)


@pytest.fixture
def lines(user: User) -> LinesView:
    return loop_view(user, LinesView)


# --- the strip -------------------------------------------------------------------------------------------


def test_the_strip_has_the_prompt_and_then_what_was_generated(pane: LoopPane, user: User) -> None:
    tokens = steps(user, 3)

    assert "".join(painted_words(pane.strip)) == "".join(word(token) for token in (*HELLO, *tokens))
    gap = pane.strip.chip_box(4).left() - pane.strip.chip_box(3).right()
    assert gap > 3 * (pane.strip.chip_box(5).left() - pane.strip.chip_box(4).right())
    assert pane.strip.accessibleDescription() == "4 prompt tokens, 3 generated; on screen: step 3 of 3"


def test_a_click_on_a_token_shows_how_it_was_chosen_in_all_panes(pane: LoopPane, user: User) -> None:
    tokens = steps(user, 3)

    user.clicks(pane.strip, pane.strip.chip_box(5).center())
    user.waits()

    assert shown_ids(user.state) == [*HELLO, tokens[0]]
    assert user.state.generation.shown == 1
    user.brings_up("attention")
    attention = pane_of(user.window, AttentionPane)
    assert attention.map.data is not None
    assert attention.map.data.values.shape == (5, 5)


def test_the_keyboard_goes_through_the_steps(pane: LoopPane, user: User) -> None:
    steps(user, 4)

    user.presses(Qt.Key.Key_PageUp, CONTROL)
    user.presses(Qt.Key.Key_PageUp, CONTROL)
    user.presses(Qt.Key.Key_PageDown, CONTROL)
    user.waits()
    assert user.state.generation.shown == 2
    pane.strip.setFocus()
    user.presses(Qt.Key.Key_Home)
    user.waits()
    assert shown_ids(user.state) == list(HELLO)
    user.presses(Qt.Key.Key_Right)
    user.waits()

    assert user.state.generation.shown == 1
    assert user.state.selection.stage in (None, "ids")  # the walk through the stages stood still


def test_buttons_go_back_and_forth_as_far_as_there_is_something(pane: LoopPane, user: User) -> None:
    assert not pane.back.isEnabled()
    steps(user, 2)
    assert not pane.forward.isEnabled()

    user.clicks(pane.back)
    user.waits()

    assert user.state.generation.shown == 0
    assert not pane.back.isEnabled()
    assert pane.forward.isEnabled()


# --- undo ------------------------------------------------------------------------------------------------


def test_undo_and_redo_by_button_and_key(pane: LoopPane, user: User) -> None:
    tokens = steps(user, 2)
    assert pane.undo.toolTip() == "Undo: append a token (Ctrl+Z)"

    user.clicks(pane.undo)
    user.waits()
    assert chosen(user.state) == tokens[:1]
    pane.strip.setFocus()
    user.presses(Qt.Key.Key_Z, CONTROL | SHIFT)
    user.waits()
    assert chosen(user.state) == tokens
    assert not pane.redo.isEnabled()
    user.presses(Qt.Key.Key_Z, CONTROL)
    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()

    assert chosen(user.state) == []
    assert not pane.undo.isEnabled()


def test_in_the_prompt_undo_is_the_prompts_own(pane: LoopPane, user: User) -> None:
    steps(user, 1)
    edit = user.window.prompt_bar.edit
    edit.setFocus()
    user.presses(Qt.Key.Key_End, CONTROL)
    QTest.keyClicks(edit, "!")

    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()

    assert edit.toPlainText() == "Hello, I am"
    assert len(chosen(user.state)) == 1


# --- the five lines --------------------------------------------------------------------------------------


def test_the_lines_have_their_true_shapes(lines: LinesView, user: User) -> None:
    steps(user, 2)

    shown = " ".join(painted_words(lines.lines))
    for text in (
        "context = ids[:, -64:] (1, 5) → (1, 5)",
        "logits = model(context) (1, 5) → (1, 5, 50257)",
        "last = logits[:, -1, :] (1, 5, 50257) → (1, 50257)",
        "next = argmax(last) (1, 50257) → (1, 1)",
        "ids = cat((ids, next), dim=1) (1, 5) → (1, 6)",
    ):
        code, _, shapes = text.partition(" (1")
        assert code in shown
        assert f"(1{shapes}" in shown


def test_an_earlier_step_has_the_shapes_that_it_had(lines: LinesView, pane: LoopPane, user: User) -> None:
    steps(user, 3)

    pane.strip.chosen.emit(0)
    user.waits()

    assert "(1, 4) → (1, 5)" in painted_words(lines.lines)
    assert lines.crop.caption == "4 tokens at positions 0 to 3 of 64: nothing is cropped."


def test_a_token_picked_by_hand_is_not_said_to_be_the_argmax(lines: LinesView, user: User) -> None:
    steps(user, 2)
    fork(user, 0)

    picked = user.state.generation.steps[0].chosen.id
    said = lines.lines.accessibleDescription().split("; ")
    assert said[3] == f"next = [[{picked}]]  # by hand: (1, 1)"


def test_times_of_the_lines_are_short_enough_to_be_read(lines: LinesView, user: User) -> None:
    steps(user, 2)

    words = painted_words(lines.lines)
    assert not [word for word in words if "…" in word]
    assert len([word for word in words if word.endswith(" ms")]) == 5


def test_the_menu_offers_what_can_be_done(pane: LoopPane, user: User) -> None:
    actions = user.window.actions_

    def offered() -> list[bool]:
        travel = (actions.step_back, actions.step_on, actions.undo, actions.redo, actions.reset)
        return [action.isEnabled() for action in travel]

    assert offered() == [False, False, False, False, False]
    steps(user, 2)
    assert offered() == [True, False, True, False, True]
    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()
    assert offered() == [False, False, True, True, True]
    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()
    assert offered() == [False, False, False, True, False]


def test_lines_run_one_by_one_and_light_up(lines: LinesView, user: User, qtbot: QtBot) -> None:
    for number in range(2, 6):
        user.clicks(lines.next)
        qtbot.waitUntil(lambda number=number: lines.note.text() == f"Line {number} waits.")
        assert lines.lines.accessibleDescription().endswith(f"line {number} waits")
    assert chosen(user.state) == []
    assert lines.finish.isVisible()

    user.clicks(lines.next)
    user.waits()

    assert len(chosen(user.state)) == 1
    assert not lines.finish.isVisible()


def test_escape_gives_a_held_turn_up(lines: LinesView, user: User, qtbot: QtBot) -> None:
    user.presses(Qt.Key.Key_N, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: user.state.loop.held)

    user.presses(Qt.Key.Key_Escape)
    user.waits()

    assert chosen(user.state) == []
    assert not user.state.loop.held


def test_past_the_context_the_crop_is_seen(lines: LinesView, pane: LoopPane, user: User) -> None:
    user.runs(" the" * 64)
    steps(user, 3)

    assert lines.crop.caption == (
        "66 tokens, cropped to 64: the first 2 tokens fall out, and positions start at 0 again."
    )
    assert "(1, 66) → (1, 64)" in painted_words(lines.lines)
    assert lines.note.text() == "What fell out is gone for the model: it never sees it again."


# --- lines of other steps ---------------------------------------------------------------------------------


def test_a_picked_token_has_no_lines_that_ran(lines: LinesView, user: User) -> None:
    steps(user, 3)
    assert "(1, 50257) → (1, 1)" in painted_words(lines.lines)

    user.window.session.travel.pick(user.state.generation.steps[2].candidates[1])
    user.waits()

    words = painted_words(lines.lines)
    assert any("by hand" in word for word in words)
    assert "(1, 50257) → (1, 1)" not in words
    assert sum(word.endswith(" ms") for word in words) == 1  # the pass alone is known


def test_a_turn_that_waits_goes_on_as_it_began(lines: LinesView, user: User, qtbot: QtBot) -> None:
    user.clicks(lines.next)
    qtbot.waitUntil(lambda: user.state.loop.held)

    user.window.session.loop.set_decoding(temperature=2.0)
    assert "next = argmax(last)" in painted_words(lines.lines)

    user.clicks(lines.finish)
    user.waits()
    assert user.state.generation.steps[0].decoding.greedy
    assert "next = argmax(last)" in painted_words(lines.lines)


def test_a_step_of_another_branch_has_its_own_lines(lines: LinesView, user: User) -> None:
    session = user.window.session
    steps(user, 2)
    fork(user, 0)
    session.loop.set_caching(True)
    steps(user, 3)
    assert session.state.generation.steps[3].computed == 1
    session.travel.switch(0)
    user.waits()
    session.loop.set_caching(False)
    steps(user, 2)
    assert session.state.generation.steps[3].computed == 7

    session.travel.switch(1)
    user.waits()

    assert session.state.generation.shown == 3
    assert "(1, 1) → (1, 1, 50257)" in painted_words(lines.lines)
