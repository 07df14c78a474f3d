"""Where a value of the stream or a logit comes from."""

import pytest
import torch
from panes_of import pane_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from user import CONTROL, User

from gptviz.panes.where_from import WhereFromPane
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.text import number, visible
from gptviz.widgets.token_choice import TokenChoice
from gptviz.widgets.waterfall_model import WaterfallRow

pytestmark = pytest.mark.with_panes("where-from")
LAST = "trf_blocks.1.shortcut2"


@pytest.fixture
def pane(user: User, qtbot: QtBot) -> WhereFromPane:
    user.window.show_pane("where-from")
    pane = pane_of(user.window, WhereFromPane)
    qtbot.waitUntil(lambda: bool(pane.bars.rows))
    return pane


@pytest.fixture
def settle(user: User, qtbot: QtBot) -> "object":
    """A function that waits until the parts are read."""
    return lambda: qtbot.waitUntil(lambda: not user.window.session.busy and not user.window.session.attributing.pending)


def titles(pane: WhereFromPane) -> list[str]:
    return [row.title for row in pane.bars.rows]


def row(pane: WhereFromPane, title: str) -> WaterfallRow:
    return next(row for row in pane.bars.rows if row.title == title)


def value(row: WaterfallRow) -> float:
    return row.end - row.start


def logits(user: User, token: int = -1) -> torch.Tensor:
    assert user.state.trace is not None
    return user.state.trace["out_head"][0, token]


def types(user: User, choice: TokenChoice, text: str) -> None:
    choice.setFocus()
    user.presses(Qt.Key.Key_A, CONTROL)
    for character in text:
        user.presses(Qt.Key(ord(character.upper())))
    user.presses(Qt.Key.Key_Return)


# --- a value of the stream -------------------------------------------------------------------------------


def test_the_largest_value_of_the_last_blocks_output_is_taken_apart_at_first(pane: WhereFromPane, user: User) -> None:
    assert user.state.trace is not None
    stream = user.state.trace[LAST][0, 3]
    feature = int(stream.abs().argmax())

    assert pane.ask.stages.currentText() == LAST
    assert pane.ask.feature.value == feature
    assert pane.ask.place.text() == "token 3 ␣am"
    assert titles(pane) == [
        *("token embedding", "position embedding"),
        *("block 1 attention", "block 1 feed-forward", "block 2 attention", "block 2 feed-forward"),
        f"feature {feature}",
    ]
    assert pane.bars.rows[-1].end == float(stream[feature])
    assert pane.bars.rows[-2].end == pytest.approx(float(stream[feature]), abs=1e-6)


def test_each_part_is_what_its_stage_holds(pane: WhereFromPane, user: User) -> None:
    trace, feature = user.state.trace, pane.ask.feature.value
    assert trace is not None

    assert value(row(pane, "token embedding")) == pytest.approx(float(trace["tok_emb"][0, 3, feature]))
    for layer in range(2):
        attention = float(trace[f"trf_blocks.{layer}.att.out_proj"][0, 3, feature])
        forward = float(trace[f"trf_blocks.{layer}.ff.layers.2"][0, 3, feature])
        assert value(row(pane, f"block {layer + 1} attention")) == pytest.approx(attention)
        assert value(row(pane, f"block {layer + 1} feed-forward")) == pytest.approx(forward)


def test_the_sum_stands_beside_the_captured_value(pane: WhereFromPane, user: User) -> None:
    assert user.state.trace is not None
    captured = float(user.state.trace[LAST][0, 3, pane.ask.feature.value])

    assert f"captured {number(captured, 7)}" in pane.outcome.figures.text
    assert "difference" in pane.outcome.figures.text
    assert pane.outcome.note.text() == "The residual stream is a sum: these shares are exact."
    assert not pane.outcome.problem.isVisible()


def test_another_feature_is_typed(pane: WhereFromPane, user: User) -> None:
    spin = pane.ask.feature.spin
    spin.setFocus()
    user.presses(Qt.Key.Key_A, CONTROL)
    for key in (Qt.Key.Key_1, Qt.Key.Key_7, Qt.Key.Key_Return):
        user.presses(key)

    assert titles(pane)[-1] == "feature 17"
    assert user.state.trace is not None
    assert pane.bars.rows[-1].end == float(user.state.trace[LAST][0, 3, 17])


def test_another_place_of_the_stream_is_picked_with_the_keyboard(pane: WhereFromPane, user: User) -> None:
    pane.ask.stages.setFocus()
    user.presses(Qt.Key.Key_Up)

    assert user.state.selection.stage == "trf_blocks.1.shortcut1"
    assert titles(pane)[-2] == "block 2 attention"


def test_the_pane_follows_the_selection(pane: WhereFromPane, user: User, settle: object) -> None:
    user.window.session.select_stage("trf_blocks.0.shortcut2")
    user.window.session.select(query=1)
    settle()  # type: ignore[operator]

    assert pane.ask.stages.currentText() == "trf_blocks.0.shortcut2"
    assert pane.ask.place.text() == "token 1 ,"
    assert titles(pane)[-2] == "block 1 feed-forward"


def test_a_batch_says_which_sequence_it_is(pane: WhereFromPane, user: User, settle: object) -> None:
    user.window.session.add_prompt()
    user.window.session.set_prompt("Every day holds a", 1)
    user.window.session.run()
    user.waits()
    user.window.session.select(row=1)
    settle()  # type: ignore[operator]

    assert user.state.trace is not None
    assert pane.ask.place.text() == "sequence 2, token 3 ␣a"
    feature = pane.ask.feature.value
    assert pane.bars.rows[-1].end == float(user.state.trace[LAST][1, 3, feature])


# --- a logit ---------------------------------------------------------------------------------------------


def test_the_likeliest_tokens_logit_is_taken_apart(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))

    best = int(logits(user).argmax())
    assert pane.ask.token.text() == f"{visible(gpt2_tokenizer().token_text(best))} {best}"
    assert titles(pane)[-2:] == ["final norm's shift", "logit"]
    assert pane.bars.rows[-1].end == float(logits(user)[best])
    assert pane.bars.rows[-2].end == pytest.approx(float(logits(user)[best]), abs=1e-5)
    assert pane.outcome.note.text().startswith("LayerNorm's scale is frozen at σ = ")


def test_a_token_is_typed_by_its_id(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))
    types(user, pane.ask.token, "716")

    assert pane.ask.token.text() == "␣am 716"
    assert pane.bars.rows[-1].end == float(logits(user)[716])


def test_a_token_is_typed_by_its_text(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))
    pane.ask.token.setFocus()
    user.presses(Qt.Key.Key_A, CONTROL)
    pane.ask.token.insert("␣the")
    user.presses(Qt.Key.Key_Return)

    assert pane.ask.token.text() == "␣the 262"
    assert pane.bars.rows[-1].end == float(logits(user)[262])


def test_what_is_no_token_is_told_where_it_was_typed(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))
    before = pane.bars.rows
    types(user, pane.ask.token, "99999")

    assert pane.ask.problem.isVisible()
    assert pane.ask.problem.text() == "99999 is no token: IDs go from 0 to 50,256"
    assert pane.bars.rows == before

    user.presses(Qt.Key.Key_Backspace)
    assert not pane.ask.problem.isVisible()


def test_escape_drops_what_was_typed(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))
    before = pane.ask.token.text()
    types(user, pane.ask.token, "99999")
    user.presses(Qt.Key.Key_Escape)

    assert pane.ask.token.text() == before
    assert not pane.ask.problem.isVisible()


def test_a_token_is_picked_from_the_likeliest(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("logit"))
    menu = pane.ask.token.make_menu()
    second = int(logits(user).topk(2).indices[1])

    entries = menu.actions()
    assert entries[0].text() == "the likeliest"
    assert len(entries) == 11
    entries[2].trigger()
    menu.deleteLater()

    assert pane.bars.rows[-1].end == float(logits(user)[second])


def test_the_lead_over_the_runner_up_is_taken_apart(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("lead"))
    best = logits(user).topk(2)

    assert pane.ask.minus.text().endswith(f" {int(best.indices[1])}")
    assert titles(pane)[-1] == "lead"
    assert pane.bars.rows[-1].end == pytest.approx(float(best.values[0] - best.values[1]), abs=1e-6)


def test_a_token_has_no_lead_over_itself(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.kinds.button("lead"))
    types(user, pane.ask.minus, str(int(logits(user).argmax())))

    assert "stands on both sides" in pane.ask.problem.text()
    assert titles(pane)[-1] == "lead"


def test_the_likeliest_token_is_another_after_another_prompt(pane: WhereFromPane, user: User, settle: object) -> None:
    user.clicks(pane.kinds.button("logit"))
    user.runs("Every day")
    settle()  # type: ignore[operator]

    assert pane.bars.rows[-1].end == float(logits(user).max())
    assert pane.ask.place.text() == "after token 1 ␣day"


# --- parts -----------------------------------------------------------------------------------------------


def test_an_attention_opens_into_its_heads_and_its_bias(pane: WhereFromPane, user: User) -> None:
    attention = row(pane, "block 2 attention")

    assert [inner.title for inner in attention.inner] == ["head 1", "head 2", "bias"]
    assert attention.inner[0].start == attention.start
    assert attention.inner[-1].end == pytest.approx(attention.end, abs=1e-6)


def test_a_part_leads_to_its_stage_and_the_question_stays(pane: WhereFromPane, user: User) -> None:
    before = titles(pane)
    index = pane.bars.index_of("feed-forward/0/None")
    user.clicks_row(pane.bars, index)

    assert user.state.selection.stage == "trf_blocks.0.ff.layers.2"
    assert titles(pane) == before
    assert pane.bars.currentIndex() == index


def test_a_head_leads_to_what_it_has_gathered(pane: WhereFromPane, user: User) -> None:
    pane.bars.setFocus()
    pane.bars.setCurrentIndex(pane.bars.index_of("attention/1/None"))
    user.presses(Qt.Key.Key_Right)
    user.clicks_row(pane.bars, pane.bars.index_of("head/1/1"))

    selection = user.state.selection
    assert (selection.stage, selection.layer, selection.head) == ("trf_blocks.1.att.context", 1, 1)


def test_the_total_leads_to_the_stage_of_the_value(pane: WhereFromPane, user: User) -> None:
    user.clicks_row(pane.bars, pane.bars.index_of("total"))
    assert user.state.selection.stage == LAST

    user.clicks(pane.kinds.button("logit"))
    user.clicks_row(pane.bars, pane.bars.index_of("total"))
    assert user.state.selection.stage == "out_head"


def test_parts_are_ordered_by_size(pane: WhereFromPane, user: User) -> None:
    user.clicks(pane.orders.button("size"))

    sizes = [abs(value(row)) for row in pane.bars.rows[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(row.start == 0 for row in pane.bars.rows)


# --- what can be wrong -----------------------------------------------------------------------------------


def test_parts_that_do_not_add_up_are_told(pane: WhereFromPane, user: User, qtbot: QtBot) -> None:
    assert user.state.trace is not None
    model = user.state.trace.replay.model
    handle = model.out_head.register_forward_hook(lambda module, args, output: output + 0.5)
    user.clicks(pane.kinds.button("logit"))
    user.window.session.run()
    user.waits()
    qtbot.waitUntil(pane.outcome.problem.isVisible)
    handle.remove()

    assert pane.outcome.problem.text().startswith("✗ The parts don't add up: 0.500 of ")


def test_a_long_reading_shows_how_far_it_is_and_can_be_stopped(pane: WhereFromPane, user: User, qtbot: QtBot) -> None:
    attributing = user.window.session.attributing
    attributing.stop()
    user.window.session.select(query=1)
    attributing.stop()
    qtbot.waitUntil(lambda: pane.outcome.shows_progress)

    assert pane.outcome.words.text().startswith("stopped after block ")
    assert pane.bars.stale
    button = pane.outcome.findChild(QPushButton)
    assert button is not None
    assert button.text() == "Go on"
    user.clicks(button)
    qtbot.waitUntil(lambda: not pane.bars.stale)
    assert pane.ask.place.text() == "token 1 ,"


def test_a_model_that_has_not_run_has_no_parts(pane: WhereFromPane, user: User, qtbot: QtBot) -> None:
    user.window.session.change(trace=None)

    assert pane.bars.rows == ()
    assert pane.outcome.words.text() == "No pass has run on this model yet."
