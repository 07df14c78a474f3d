"""The attention pane: maps of the model's tensors, and every way to choose one."""

import numpy as np
import pytest
from panes_of import pane_of
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.panes.attention import AttentionPane
from gptviz.widgets import colormaps

pytestmark = pytest.mark.with_panes("attention")


@pytest.fixture
def pane(window: MainWindow, qtbot: QtBot) -> AttentionPane:
    window.show_pane("attention")
    pane = pane_of(window, AttentionPane)
    qtbot.waitUntil(lambda: pane.width() > 300)
    return pane


def tensor(user: User, layer: int, view: str, head: int) -> np.ndarray:
    assert user.state.trace is not None
    return user.state.trace.array(f"trf_blocks.{layer}.att.{view}")[0, head]


def shown(pane: AttentionPane) -> np.ndarray:
    assert pane.map.data is not None
    return pane.map.data.values


def cell_colour(pane: AttentionPane, row: int, column: int) -> str:
    corner = (pane.map.cell_box(row, column).topLeft() + QPointF(4, 4)).toPoint()
    return pane.map.grab().toImage().pixelColor(corner).name()


def colour_of(weight: float) -> str:
    index = colormaps.indices(np.array([weight], dtype=np.float32), 0.0, 1.0)[0]
    return QColor(*colormaps.sequential()[index].tolist()).name()


# --- the large map ---------------------------------------------------------------------------------------


def test_the_map_shows_the_weights_with_the_future_masked(pane: AttentionPane, user: User) -> None:
    weights = tensor(user, 0, "weights", 0)

    below = np.tril_indices(4)
    assert np.array_equal(shown(pane)[below], weights[below])
    assert np.isnan(shown(pane)[np.triu_indices(4, 1)]).all()


def test_rows_and_columns_are_the_tokens(pane: AttentionPane) -> None:
    words = "".join(painted_words(pane.map))

    assert pane.map.data is not None
    assert list(pane.map.data.row_labels) == ["Hello", ",", "␣I", "␣am"] == list(pane.map.data.column_labels)
    assert words.startswith("Hello,␣I␣amHello,␣I␣am")


def test_a_cell_has_the_colour_of_its_weight(pane: AttentionPane, user: User) -> None:
    weights = tensor(user, 0, "weights", 0)

    for cell in ((0, 0), (3, 0), (3, 2), (2, 1)):
        assert cell_colour(pane, *cell) == colour_of(weights[cell])


def test_the_switch_shows_the_other_stages(pane: AttentionPane, user: User) -> None:
    for view in ("scores", "scaled", "masked"):
        user.clicks(pane.views.button(view))

        assert np.array_equal(shown(pane), tensor(user, 0, view, 0))
        assert user.state.selection.stage == f"trf_blocks.0.att.{view}"


def test_the_switch_goes_back_to_the_weights(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.views.button("scores"))
    user.clicks(pane.views.button("weights"))

    assert np.isnan(shown(pane)[0, 1])
    assert pane.views.button("weights").isChecked()


def test_weights_have_a_fixed_scale_and_scores_a_symmetric_one(pane: AttentionPane, user: User) -> None:
    assert painted_words(pane.legend)[:2] == ["0", "1.00"]

    user.clicks(pane.views.button("scores"))

    data = pane.map.data
    assert data is not None
    assert (data.high, data.low) == (np.abs(data.values).max(), -np.abs(data.values).max())
    assert "0" in painted_words(pane.legend)


def test_the_legend_explains_the_mask_where_there_is_one(pane: AttentionPane, user: User) -> None:
    assert "masked: the future" in painted_words(pane.legend)

    user.clicks(pane.views.button("scaled"))
    assert "masked: the future" not in painted_words(pane.legend)

    user.clicks(pane.views.button("masked"))
    assert "masked: the future" in painted_words(pane.legend)


@pytest.mark.parametrize("view", ["weights", "masked"])
def test_masked_cells_have_no_colour_of_the_map(pane: AttentionPane, user: User, view: str) -> None:
    from gptviz.widgets.theme import LIGHT

    user.clicks(pane.views.button(view))
    table = colormaps.sequential() if view == "weights" else colormaps.diverging(LIGHT)
    colours = {QColor(*entry).name() for entry in table[:-1].tolist()}

    image, box = pane.map.grab().toImage(), pane.map.cell_box(0, 2).toRect().adjusted(3, 3, -3, -3)
    inside = {image.pixelColor(x, y).name() for x in range(box.left(), box.right()) for y in (box.top(), box.bottom())}
    assert inside.isdisjoint(colours - {LIGHT.panel.lower()})


# --- reading a cell --------------------------------------------------------------------------------------


def test_pointing_reads_a_cell_with_both_tokens(pane: AttentionPane, user: User) -> None:
    weight = tensor(user, 0, "weights", 0)[3, 1]

    user.points_at(pane.map, pane.map.cell_box(3, 1).center())

    assert pane.readout.text() == f"query 3 ␣am  →  key 1 ,   weights {weight:.4f}"


def test_pointing_at_the_future_says_that_it_is_masked(pane: AttentionPane, user: User) -> None:
    user.points_at(pane.map, pane.map.cell_box(0, 3).center())
    assert pane.readout.text() == "query 0 Hello  →  key 3 ␣am   weights masked (0)"

    user.clicks(pane.views.button("masked"))
    user.points_at(pane.map, pane.map.cell_box(0, 3).center())
    assert pane.readout.text() == "query 0 Hello  →  key 3 ␣am   masked −∞"


def test_a_click_selects_query_and_key_for_everyone(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.map, pane.map.cell_box(2, 1).center())

    assert (user.state.selection.query, user.state.selection.key) == (2, 1)
    assert pane.map.selected == (2, 1)
    assert user.window.prompt_bar.strip._selected == 2


def test_arrows_move_the_selected_cell(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.map, pane.map.cell_box(2, 1).center())

    user.presses(Qt.Key.Key_Down)
    user.presses(Qt.Key.Key_Left)

    assert (user.state.selection.query, user.state.selection.key) == (3, 0)


def test_without_pointing_the_selected_cell_is_read(pane: AttentionPane, user: User) -> None:
    assert pane.readout.text() == "Point at a cell to read it · click selects, double click explains"

    user.window.session.select(query=1, key=0)

    assert pane.readout.text().startswith("query 1 ,  →  key 0 Hello   weights 0.")


def test_markup_in_a_token_is_read_as_text(pane: AttentionPane, user: User) -> None:
    user.runs("<b>")

    user.window.session.select(query=0, key=0)

    assert pane.readout.label.textFormat() == Qt.TextFormat.PlainText
    assert "query 0 <" in pane.readout.text()


# --- choosing a head -------------------------------------------------------------------------------------


def test_the_steppers_choose_block_and_head(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.block.more)
    user.clicks(pane.head.more)

    below = np.tril_indices(4)
    assert np.array_equal(shown(pane)[below], tensor(user, 1, "weights", 1)[below])
    assert (pane.block.spin.text(), pane.head.spin.text()) == ("Block 2", "Head 2")


def test_the_steppers_end_where_the_model_does(pane: AttentionPane, user: User) -> None:
    assert not pane.block.less.isEnabled()

    user.clicks(pane.block.more)

    assert not pane.block.more.isEnabled()
    assert (pane.block.spin.maximum(), pane.head.spin.maximum()) == (2, 2)


def test_a_click_on_a_small_map_chooses_its_head(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.grid, pane.grid.map_box(0, 1).center())

    assert user.state.selection.head == 1
    assert pane.head.spin.text() == "Head 2"


def test_all_blocks_are_shown_and_chosen_from(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.scope.button("all"))

    user.clicks(pane.grid, pane.grid.map_box(1, 1).center())

    assert (user.state.selection.layer, user.state.selection.head) == (1, 1)
    assert pane.block.spin.text() == "Block 2"


def test_arrows_move_through_the_small_maps(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.scope.button("all"))
    user.clicks(pane.grid, pane.grid.map_box(0, 0).center())
    pane.grid.setFocus()

    user.presses(Qt.Key.Key_Down)
    user.presses(Qt.Key.Key_Right)

    assert (user.state.selection.layer, user.state.selection.head) == (1, 1)


def test_a_small_map_shows_its_heads_weights(pane: AttentionPane, user: User) -> None:
    image, weights = pane.grid.grab().toImage(), tensor(user, 0, "weights", 1)
    box = pane.grid.map_box(0, 1)
    cell = box.width() / 4

    for row, column in ((0, 0), (3, 0), (3, 2)):
        at = (box.topLeft() + QPointF((column + 0.5) * cell, (row + 0.5) * cell)).toPoint()
        assert image.pixelColor(at).name() == colour_of(weights[row, column])


# --- rescaled rows ---------------------------------------------------------------------------------------


def test_rescaled_rows_say_so_and_keep_their_numbers(pane: AttentionPane, user: User) -> None:
    weights = tensor(user, 0, "weights", 0)

    user.clicks(pane.rescale)

    assert "each row rescaled to its own maximum" in painted_words(pane.legend)
    assert shown(pane)[3, 0] == weights[3, 0]
    assert cell_colour(pane, 3, int(weights[3].argmax())) == colour_of(1.0)
    user.points_at(pane.map, pane.map.cell_box(3, 0).center())
    assert pane.readout.text().endswith(f"weights {weights[3, 0]:.4f}")


def test_rescaling_can_be_undone(pane: AttentionPane, user: User) -> None:
    user.clicks(pane.rescale)
    user.clicks(pane.rescale)

    assert "each row rescaled to its own maximum" not in painted_words(pane.legend)
    assert cell_colour(pane, 3, 0) == colour_of(tensor(user, 0, "weights", 0)[3, 0])


def test_only_weights_can_be_rescaled(pane: AttentionPane, user: User) -> None:
    assert pane.rescale.isVisible()

    user.clicks(pane.views.button("scores"))

    assert not pane.rescale.isVisible()


# --- replayed blocks -------------------------------------------------------------------------------------


def test_a_block_that_was_not_kept_is_replayed_when_it_is_chosen(
    pane: AttentionPane, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gptviz.capture.recorder.blocks_within", lambda *_: 0)
    user.runs("Hello, I am")

    user.clicks(pane.block.more)
    user.waits()

    below = np.tril_indices(4)
    assert np.array_equal(shown(pane)[below], tensor(user, 1, "weights", 0)[below])


def test_a_long_prompt_fits(pane: AttentionPane, user: User) -> None:
    user.runs(" the" * 64)

    assert shown(pane).shape == (64, 64)
    assert pane.map.rect().contains(pane.map.cell_box(63, 63).toRect())
