"""The prompt, its tokens, the count, and the messages."""

import pytest
from holding import Hold
from panes_of import pane_of
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.panes.attention import AttentionPane
from gptviz.panes.generation import GenerationPane
from gptviz.widgets.theme import LIGHT

pytestmark = pytest.mark.with_panes("attention")


def chips(window: MainWindow) -> str:
    return "".join(painted_words(window.prompt_bar.strip))


def ids(user: User) -> list[int]:
    assert user.state.trace is not None
    return user.state.trace.ids[0].tolist()


def has_colour(label: QLabel, colour: str) -> bool:
    image, hue = label.grab().toImage(), QColor(colour).hue()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return any(abs(pixel.hue() - hue) < 6 and pixel.saturation() > 150 for pixel in pixels)


# --- writing and running ---------------------------------------------------------------------------------


def test_the_first_thing_on_screen_is_alive(window: MainWindow) -> None:
    assert window.prompt_bar.edit.toPlainText() == "Hello, I am"
    assert chips(window) == "Hello15496,11␣I314␣am716"
    assert window.prompt_bar.count.text() == "4 / 64"
    assert window.prompt_bar.notice.text() == "random weights: the text is noise"
    assert not window.banner.isVisible()


def test_typing_shows_the_tokens_at_once(user: User) -> None:
    user.writes("a b")
    user.waits()

    assert chips(user.window) == "a64␣b275"
    assert user.window.prompt_bar.count.text() == "2 / 64"
    assert ids(user) == [15496, 11, 314, 716]


def test_enter_runs(user: User) -> None:
    user.writes("a b")
    user.presses(Qt.Key.Key_Return)
    user.waits()

    assert ids(user) == [64, 275]
    assert user.window.prompt_bar.edit.toPlainText() == "a b"


def test_shift_and_enter_make_a_new_line(user: User) -> None:
    height = user.window.prompt_bar.edit.height()
    user.writes("a")
    user.presses(Qt.Key.Key_Return, SHIFT)
    user.presses(Qt.Key.Key_B)
    user.waits()

    assert user.window.prompt_bar.edit.toPlainText() == "a\nb"
    assert chips(user.window) == "a64⏎198b65"
    assert user.window.prompt_bar.edit.height() > height
    assert ids(user) == [15496, 11, 314, 716]


def test_the_button_runs(user: User) -> None:
    user.writes("a b")

    user.clicks(user.window.prompt_bar.run)
    user.waits()

    assert ids(user) == [64, 275]


def test_control_and_enter_run_from_anywhere(user: User) -> None:
    user.writes("a b")
    user.window.docks["attention"].pane.setFocus()

    user.presses(Qt.Key.Key_Return, CONTROL)
    user.waits()

    assert ids(user) == [64, 275]


def test_control_and_enter_in_the_prompt_run_once_and_add_no_line(user: User) -> None:
    user.writes("a b")

    user.presses(Qt.Key.Key_Return, CONTROL)
    user.waits()

    assert user.window.prompt_bar.edit.toPlainText() == "a b"
    assert ids(user) == [64, 275]


def test_a_word_can_be_deleted_in_the_prompt_without_a_reset(user: User) -> None:
    user.window.session.loop.step()
    user.waits()
    user.writes("one two")

    user.presses(Qt.Key.Key_Backspace, CONTROL)

    assert user.window.prompt_bar.edit.toPlainText().strip() == "one"
    assert len(user.state.generation.steps) == 1


def test_what_was_deleted_can_be_brought_back(user: User) -> None:
    user.writes("one two")
    user.presses(Qt.Key.Key_Backspace)

    user.presses(Qt.Key.Key_Z, CONTROL)

    assert user.window.prompt_bar.edit.toPlainText() == "one two"


# --- chips -----------------------------------------------------------------------------------------------


@pytest.mark.without_panes("flow", "stage")
def test_a_chip_selects_its_token_everywhere(user: User) -> None:
    strip = user.window.prompt_bar.strip
    user.window.session.select(key=0)

    user.clicks(strip, strip.chip_box(1).center())

    attention = pane_of(user.window, AttentionPane)
    assert user.state.selection.query == 1
    assert attention.map.selected == (1, 0)


def test_arrows_move_along_the_chips(user: User) -> None:
    strip = user.window.prompt_bar.strip
    user.clicks(strip, strip.chip_box(1).center())
    strip.setFocus()

    user.presses(Qt.Key.Key_Left)

    assert user.state.selection.query == 0


def test_the_pieces_of_an_emoji_are_shown_as_bytes_and_bracketed(user: User) -> None:
    user.runs("🤗")

    strip = user.window.prompt_bar.strip
    assert chips(user.window) == "‹F0·9F›8582‹A4›97‹97›245"
    image = strip.grab().toImage()
    below = int(strip.chip_box(0).bottom()) + 3
    gap = int((strip.chip_box(0).right() + strip.chip_box(1).left()) / 2)
    assert abs(image.pixelColor(gap, below).hue() - QColor(LIGHT.warning).hue()) < 8
    assert user.state.message is None


def test_the_special_token_is_one_chip(user: User) -> None:
    user.runs("a<|endoftext|>b")

    assert chips(user.window) == "a64<|endoftext|>50256b65"
    assert ids(user) == [64, 50256, 65]


@pytest.mark.without_panes("flow", "stage")
def test_markup_in_the_prompt_is_text_everywhere(user: User) -> None:
    prompt = "<b>1</b><img src=x>&amp;"
    user.runs(prompt)
    user.window.session.loop.step()
    user.waits()

    generation, attention = (user.window.docks[name].pane for name in ("generation", "attention"))
    assert isinstance(generation, GenerationPane)
    assert isinstance(attention, AttentionPane)
    assert "".join(word for word in painted_words(user.window.prompt_bar.strip) if not word.isdecimal()).startswith(
        "<b"
    )
    assert generation.text.toPlainText().startswith(prompt)
    assert attention.map.data is not None
    assert "".join(attention.map.data.row_labels) == prompt.replace(" ", "␣")
    shown = [label for label in user.window.findChildren(QLabel) if "<" in label.text()]
    assert [label for label in shown if label.textFormat() != Qt.TextFormat.PlainText] == []


def test_rich_text_is_pasted_as_plain_text(user: User) -> None:
    rich = QMimeData()
    rich.setHtml("<b>bold</b>")
    rich.setText("bold")
    user.writes("a")
    QGuiApplication.clipboard().setMimeData(rich)

    user.presses(Qt.Key.Key_V, CONTROL)

    assert user.window.prompt_bar.edit.toPlainText() == "abold"


# --- messages --------------------------------------------------------------------------------------------


def test_an_empty_prompt_is_a_message(user: User) -> None:
    user.runs("")

    assert user.window.banner.isVisible()
    assert user.window.banner.label.text() == (
        "There is nothing to run: the prompt is empty. Type at least one character"
    )
    assert ids(user) == [15496, 11, 314, 716]


def test_too_long_a_prompt_turns_the_count_red_and_is_a_message(user: User) -> None:
    count = user.window.prompt_bar.count
    assert not has_colour(count, LIGHT.error)

    user.writes(" the" * 65)
    user.waits()
    assert count.text() == "65 / 64"
    assert has_colour(count, LIGHT.error)
    assert not user.window.banner.isVisible()

    user.presses(Qt.Key.Key_Return)
    user.waits()
    assert user.window.banner.label.text() == (
        "This prompt is too long: 65 tokens are more than the model's context of 64. Shorten it by 1 token"
    )
    assert ids(user) == [15496, 11, 314, 716]


def test_a_shorter_prompt_turns_the_count_back(user: User) -> None:
    user.writes(" the" * 65)
    user.waits()

    user.writes("short")
    user.waits()

    assert not has_colour(user.window.prompt_bar.count, LIGHT.error)


def test_a_message_can_be_dismissed(user: User) -> None:
    user.runs("")

    user.clicks(user.window.banner.dismiss)

    assert not user.window.banner.isVisible()
    assert user.state.message is None


def test_the_next_good_run_takes_the_message_away(user: User) -> None:
    user.runs("")

    user.runs("Hi")

    assert not user.window.banner.isVisible()


def test_a_failure_is_a_message_in_plain_text_and_the_window_stays_usable(user: User) -> None:
    assert user.state.trace is not None

    def fail(*_: object) -> None:
        raise ZeroDivisionError("<b>out of luck</b>")

    broken = user.state.trace.replay.model.final_norm.register_forward_hook(fail)
    user.runs("a b")
    assert user.window.banner.isVisible()
    assert "the forward pass failed after trf_blocks.1.shortcut2: <b>out of luck</b>" in user.window.banner.label.text()
    assert user.window.banner.label.textFormat() == Qt.TextFormat.PlainText
    assert ids(user) == [15496, 11, 314, 716]

    broken.remove()
    user.presses(Qt.Key.Key_Return, CONTROL)
    user.waits()
    assert ids(user) == [64, 275]


# --- while something is under way ------------------------------------------------------------------------


def test_escape_cancels_a_pass(user: User, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.0.norm1", until_cancelled=True)
    user.writes("a b")
    user.presses(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: gate.reached)

    user.presses(Qt.Key.Key_Escape)
    user.waits()

    assert ids(user) == [15496, 11, 314, 716]
    assert user.window.status.activity.text() == "Ready"
    assert not user.window.banner.isVisible()


def test_the_prompt_can_be_edited_while_a_pass_runs(user: User, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.0.norm1")
    user.presses(Qt.Key.Key_Return, CONTROL)
    qtbot.waitUntil(lambda: gate.reached)

    user.writes("a b")
    qtbot.waitUntil(lambda: chips(user.window) == "a64␣b275")
    gate.open()
    user.waits()

    assert ids(user) == [15496, 11, 314, 716]


def test_what_cannot_be_seen_is_visible_on_the_chips(user: User) -> None:
    user.writes("\u202e a\u200bb\x07")
    user.waits()

    assert [mark for mark in ("‹E2·80›", "‹ZWSP›", "‹0007›") if mark not in chips(user.window)] == []
    assert "\u202e" not in chips(user.window)
