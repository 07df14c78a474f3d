"""The transport and its keys, live stepping, and the rows of a batch, as a person uses them."""

import pytest
from PySide6.QtCore import QMimeData, Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.app.transport import Transport
from gptviz.widgets.theme import current

pytestmark = pytest.mark.with_panes("shape-trace", "next-token", "generation")


@pytest.fixture
def transport(user: User) -> Transport:
    return user.window.transport


@pytest.fixture
def keys(user: User) -> User:
    """A person whose keyboard is not in the prompt."""
    user.window.setFocus()
    return user


def test_the_place_is_told_in_words(transport: Transport, user: User) -> None:
    user.window.session.walk.go(12)

    assert transport.place.text() == "stage 13 / 55: block 1 · attention · scores"


@pytest.mark.parametrize(
    ("key", "modifiers", "stage"),
    [
        (Qt.Key.Key_Right, None, "trf_blocks.0.att.scaled"),
        (Qt.Key.Key_Left, None, "trf_blocks.0.att.values"),
        (Qt.Key.Key_Right, SHIFT, "trf_blocks.1.norm1"),
        (Qt.Key.Key_Left, SHIFT, "trf_blocks.0.norm1"),
        (Qt.Key.Key_Home, None, "ids"),
        (Qt.Key.Key_End, None, "next"),
    ],
)
def test_keys_walk(keys: User, key: Qt.Key, modifiers: Qt.KeyboardModifier | None, stage: str) -> None:
    keys.window.session.walk.go(12)
    keys.presses(key, modifiers or Qt.KeyboardModifier.NoModifier)

    assert keys.state.selection.stage == stage


def test_space_plays_and_pauses(keys: User) -> None:
    keys.presses(Qt.Key.Key_Space)
    assert keys.state.walk.playing
    keys.presses(Qt.Key.Key_Space)
    assert not keys.state.walk.playing


def test_keys_write_while_the_keyboard_is_in_the_prompt(user: User) -> None:
    user.window.edit_prompt()
    user.presses(Qt.Key.Key_End)
    user.presses(Qt.Key.Key_Space)

    assert user.state.prompt == "Hello, I am "
    assert user.state.selection.stage == "ids"


def test_after_enter_the_arrow_keys_walk(user: User) -> None:
    user.runs("Every effort")
    user.presses(Qt.Key.Key_Right)

    assert user.state.selection.stage == "tok_emb"


def test_buttons_walk(transport: Transport, user: User) -> None:
    for button, stage in (
        (transport.forward, "tok_emb"),
        (transport.block_forward, "trf_blocks.0.norm1"),
        (transport.last, "next"),
        (transport.back, "last"),
        (transport.block_back, "final_norm"),
        (transport.first, "ids"),
    ):
        user.clicks(button)
        assert user.state.selection.stage == stage


def test_the_slider_goes_anywhere_and_follows(transport: Transport, user: User) -> None:
    transport.slider.setValue(30)
    assert user.state.selection.stage == "trf_blocks.1.att.W_key"

    user.window.session.walk.first()
    assert transport.slider.value() == 0


def test_a_pass_is_stepped_with_buttons(transport: Transport, user: User, qtbot: QtBot) -> None:
    user.clicks(transport.step_live)
    qtbot.waitUntil(lambda: user.state.held == "ids")
    assert not transport.step_live.isVisible()

    user.clicks(transport.next)
    qtbot.waitUntil(lambda: user.state.held == "tok_emb")
    assert user.window.status.activity.text() == "Held after tok_emb, stage 2 / 55"

    user.clicks(transport.run_on)
    user.waits()
    assert transport.step_live.isVisible()
    assert user.state.trace is not None
    assert user.state.trace.complete


def test_a_breakpoint_is_set_in_the_shape_trace_with_a_key(transport: Transport, user: User, qtbot: QtBot) -> None:
    pane = user.window.docks["shape-trace"].pane
    user.clicks_row(pane.tree, pane.model.index_of("drop_emb"))
    pane.tree.setFocus()
    user.presses(Qt.Key.Key_B)
    assert user.state.breakpoints == {"drop_emb"}

    user.clicks(transport.step_live)
    qtbot.waitUntil(lambda: user.state.held == "drop_emb")


def test_an_arrow_stays_where_the_pass_waits_whatever_is_selected(
    transport: Transport, user: User, qtbot: QtBot
) -> None:
    model = user.window.docks["shape-trace"].pane.model

    def mark(name: str) -> str:
        icon = model.index_of(name).data(Qt.ItemDataRole.DecorationRole)
        return icon.pixmap(icon.availableSizes()[0]).toImage().pixelColor(9, 7).name().upper()

    user.window.session.live.toggle_breakpoint("drop_emb")
    user.clicks(transport.step_live)
    qtbot.waitUntil(lambda: user.state.held == "drop_emb")
    user.window.session.select_stage("tok_emb")
    qtbot.waitUntil(lambda: mark("drop_emb") == current().panel.upper())  # on the breakpoint's dot
    assert mark("tok_emb") == "#000000"

    user.window.session.live.toggle_breakpoint("drop_emb")
    qtbot.waitUntil(lambda: mark("drop_emb") == current().accent.upper())
    user.clicks(transport.next)
    qtbot.waitUntil(lambda: mark("drop_emb") == "#000000")


@pytest.mark.with_all_panes
def test_while_a_pass_is_held_every_pane_can_be_seen(transport: Transport, user: User, qtbot: QtBot) -> None:
    user.window.session.live.toggle_breakpoint("trf_blocks.0.att.scaled")
    user.clicks(transport.step_live)
    qtbot.waitUntil(lambda: user.state.held is not None)

    for name in user.window.docks:
        user.window.show_pane(name)
        user.window.docks[name].pane.grab()
    assert user.state.message is None


def test_closing_the_window_releases_a_held_pass(transport: Transport, user: User, qtbot: QtBot) -> None:
    user.clicks(transport.step_live)
    qtbot.waitUntil(lambda: user.state.held == "ids")

    user.window.close()


def test_a_batch_is_made_written_and_switched(user: User) -> None:
    bar = user.window.prompt_bar
    user.presses(Qt.Key.Key_B, CONTROL)
    assert len(bar.rows.edits) == 1
    bar.rows.edits[0].setPlainText("Every day holds a")
    user.clicks(bar.run)
    user.waits()

    assert bar.row.isVisible()
    bar.row.spin.setValue(2)
    assert user.state.selection.row == 1
    assert bar.strip.accessibleDescription().startswith("Every 6109, ␣day 1110")
    assert bar.count.text() == "4 and 4 / 64"

    user.clicks(bar.rows.removes[0])
    user.clicks(bar.run)
    user.waits()
    assert not bar.row.isVisible()
    assert bar.rows.edits == []


@pytest.mark.parametrize("clicked", ["run", "generation", "row", "note"])
def test_arrow_keys_walk_after_a_click_anywhere(user: User, clicked: str) -> None:
    window = user.window
    if clicked == "run":
        window.prompt_bar.run.setFocus()
    elif clicked == "generation":
        window.docks["generation"].pane.step.setFocus()
    elif clicked == "row":
        pane = window.docks["shape-trace"].pane
        user.clicks_row(pane.tree, pane.model.index_of("ids"))
        pane.tree.setFocus()
    else:
        window.docks["next-token"].pane.bars.setFocus()
    user.presses(Qt.Key.Key_Right)

    assert user.state.selection.stage == "tok_emb"


def test_a_text_that_no_context_holds_is_not_pasted(user: User) -> None:
    mime = QMimeData()
    mime.setText("a" * 200_000)
    user.window.prompt_bar.edit.insertFromMimeData(mime)

    assert user.state.prompt == "Hello, I am"
    assert "200,000 characters" in user.window.banner.label.text()


def test_a_no_break_space_stays_one(user: User, qtbot: QtBot) -> None:
    user.window.prompt_bar.edit.setPlainText("a\u00a0b")
    user.waits()

    assert user.state.prompt_tokens.ids == (64, 1849, 65)
