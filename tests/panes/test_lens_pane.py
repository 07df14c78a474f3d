"""The logit lens as a person sees it."""

from collections.abc import Callable

import pytest
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import User

from gptviz.panes.lens import LensPane
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.text import percent, visible

pytestmark = pytest.mark.with_panes("lens")


@pytest.fixture
def read(user: User, qtbot: QtBot) -> Callable[[], None]:
    """A function that waits until the stream is read."""
    session = user.window.session
    return lambda: qtbot.waitUntil(lambda: not session.busy and not session.lens.pending)


@pytest.fixture
def pane(user: User, read: Callable[[], None]) -> LensPane:
    user.window.show_pane("lens")
    pane = pane_of(user.window, LensPane)
    read()
    return pane


def words(pane: LensPane, row: int, column: int) -> str:
    cell = pane.table.cell_at(row, column)
    assert cell is not None
    return cell.text


def best(user: User, position: int) -> str:
    assert user.state.trace is not None
    return visible(gpt2_tokenizer().token_text(int(user.state.trace["out_head"][0, position].argmax())))


def test_the_last_row_shows_what_the_model_predicts(pane: LensPane, user: User) -> None:
    assert pane.table.row_titles == ("embeddings", "block 1", "block 2")
    assert [words(pane, 2, position) for position in range(4)] == [best(user, position) for position in range(4)]
    assert "The last row is the model's output, bit for bit" in pane.progress.words.text()
    assert "a reading, no step of the model" in pane.words.text()


def test_cells_that_agree_with_the_last_row_are_marked(pane: LensPane) -> None:
    for row in range(3):
        for column in range(4):
            cell = pane.table.cell_at(row, column)
            assert cell is not None
            assert cell.marked == (row < 2 and cell.text == words(pane, 2, column))


def test_a_click_selects_the_stage_and_the_token(pane: LensPane, user: User) -> None:
    user.clicks(pane.table, pane.table.cell_box(1, 2).center())

    selection = user.state.selection
    assert (selection.stage, selection.layer, selection.query) == ("trf_blocks.0.shortcut2", 0, 2)
    assert pane.table.selected == (1, 2)
    user.clicks(pane.table, pane.table.cell_box(0, 0).center())
    assert (user.state.selection.stage, user.state.selection.query) == ("drop_emb", 0)


def test_pointing_shows_the_five_likeliest(pane: LensPane, user: User) -> None:
    user.points_at(pane.table, pane.table.cell_box(2, 1).center())
    trace = user.state.trace
    assert trace is not None
    shares = trace["out_head"][0, 1].double().softmax(0).topk(5)

    assert pane.row.text.startswith("after block 2, at position 1 ,; ")
    for token, share in zip(shares.indices.tolist(), shares.values.tolist(), strict=True):
        assert f"{visible(gpt2_tokenizer().token_text(token))} {percent(share)}" in pane.row.text


def test_arrow_keys_go_from_cell_to_cell(pane: LensPane, user: User) -> None:
    pane.table.setFocus()
    user.presses(Qt.Key.Key_Up)
    assert (user.state.selection.stage, user.state.selection.query) == ("trf_blocks.0.shortcut2", 3)
    user.presses(Qt.Key.Key_Left)
    user.presses(Qt.Key.Key_Down)
    assert (user.state.selection.stage, user.state.selection.query) == ("trf_blocks.1.shortcut2", 2)
    user.presses(Qt.Key.Key_Home)
    assert user.state.selection.query == 0
    assert "block 2, Hello 0" in pane.table.accessibleDescription()
    assert words(pane, 2, 0) in pane.table.accessibleDescription()


def test_the_last_row_stays_in_sight_while_the_others_scroll(
    pane: LensPane, user: User, read: Callable[[], None]
) -> None:
    user.runs("a " * 60)
    read()
    pane.table.setFixedHeight(80)
    table = pane.table
    table.verticalScrollBar().setValue(0)
    before = table.cell_box(2, 0).top(), table.cell_box(1, 0).top()
    table.verticalScrollBar().setValue(table.verticalScrollBar().maximum())
    table.horizontalScrollBar().setValue(0)

    assert table.cell_box(2, 0).top() == before[0]
    assert table.cell_box(1, 0).top() < before[1]
    assert table.horizontalScrollBar().maximum() > 0
    user.presses(Qt.Key.Key_Tab)
    table.setFocus()
    user.presses(Qt.Key.Key_End)
    assert 60 in table.columns_in_sight
    user.clicks(table, table.cell_box(2, 60).center())
    assert user.state.selection.query == 60


def test_colours_are_rescaled_on_request_and_the_legend_says_so(pane: LensPane, user: User) -> None:
    assert pane.legend.accessibleDescription().startswith("from 0 to 1.000")
    user.clicks(pane.rescale)
    reading = user.state.lens.reading
    assert reading is not None

    assert "from 0 to 1.000" not in pane.legend.accessibleDescription()
    assert percent(reading.largest) in pane.legend.toolTip()


def test_reading_can_be_stopped(pane: LensPane, user: User, read: Callable[[], None], qtbot: QtBot) -> None:
    user.window.session.change(lens=type(user.state.lens)(stopped=True))
    assert pane.progress.button.text() == "Go on"
    assert pane.table.cell_at(2, 0) is None

    user.clicks(pane.progress.button)
    read()
    assert words(pane, 2, 0) == best(user, 0)


def test_before_the_first_pass_it_says_so(user: User, pane: LensPane) -> None:
    user.window.session.change(trace=None, trace_rows=())

    assert pane.progress.words.text() == "No pass has run on this model yet."
    assert pane.table.row_titles == ()


def test_tokens_are_never_read_as_markup(user: User, pane: LensPane, read: Callable[[], None]) -> None:
    user.runs("<b>bold</b>")
    read()
    pane.table.horizontalScrollBar().setValue(0)
    user.points_at(pane.table, pane.table.cell_box(2, 0).center())

    assert "at position 0 <" in pane.row.text
