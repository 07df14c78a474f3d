"""The table of stages: what it says, how it fills, and how it follows."""

from dataclasses import replace

import pytest
from holding import Hold
from panes_of import pane_of
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.model import TINY
from gptviz.panes.attention import AttentionPane
from gptviz.panes.layer_norm import LayerNormPane
from gptviz.panes.shape_trace import ShapeTracePane
from gptviz.panes.shape_trace_model import SHAPES

pytestmark = pytest.mark.with_panes("shape-trace", "attention", "layer-norm")

E, H, D, V, CONTEXT = 32, 2, 16, 50257, 64  # the small model

BLOCK = [
    ("norm1", "LayerNorm", "(1,4,32) → (1,4,32)", 2 * E),
    ("att.W_query", "linear", "(1,4,32) → (1,4,32)", E * E),
    ("att.W_key", "linear", "(1,4,32) → (1,4,32)", E * E),
    ("att.W_value", "linear", "(1,4,32) → (1,4,32)", E * E),
    ("att.queries", "split heads", "(1,4,32) → (1,2,4,16)", 0),
    ("att.keys", "split heads", "(1,4,32) → (1,2,4,16)", 0),
    ("att.values", "split heads", "(1,4,32) → (1,2,4,16)", 0),
    ("att.scores", "queries · keysᵀ", "(1,2,4,16) → (1,2,4,4)", 0),
    ("att.scaled", "÷ √D", "(1,2,4,4) → (1,2,4,4)", 0),
    ("att.masked", "causal mask", "(1,2,4,4) → (1,2,4,4)", 0),
    ("att.weights", "softmax", "(1,2,4,4) → (1,2,4,4)", 0),
    ("att.dropout", "dropout", "(1,2,4,4) → (1,2,4,4)", 0),
    ("att.context", "weights · values", "(1,2,4,4) → (1,2,4,16)", 0),
    ("att.merged", "merge heads", "(1,2,4,16) → (1,4,32)", 0),
    ("att.out_proj", "linear", "(1,4,32) → (1,4,32)", E * E + E),
    ("drop_shortcut1", "dropout", "(1,4,32) → (1,4,32)", 0),
    ("shortcut1", "+ block input", "(1,4,32) → (1,4,32)", 0),
    ("norm2", "LayerNorm", "(1,4,32) → (1,4,32)", 2 * E),
    ("ff.layers.0", "linear, expand", "(1,4,32) → (1,4,128)", E * 4 * E + 4 * E),
    ("ff.layers.1", "GELU", "(1,4,128) → (1,4,128)", 0),
    ("ff.layers.2", "linear, contract", "(1,4,128) → (1,4,32)", 4 * E * E + E),
    ("drop_shortcut2", "dropout", "(1,4,32) → (1,4,32)", 0),
    ("shortcut2", "+ shortcut1", "(1,4,32) → (1,4,32)", 0),
]
START = [
    ("ids", "token IDs", "(1,4) → (1,4)", 0),
    ("tok_emb", "look-up", "(1,4) → (1,4,32)", V * E),
    ("pos_emb", "look-up", "(4) → (4,32)", CONTEXT * E),
    ("embeddings", "token + position", "(1,4,32) → (1,4,32)", 0),
    ("drop_emb", "dropout", "(1,4,32) → (1,4,32)", 0),
]
END = [
    ("final_norm", "LayerNorm", "(1,4,32) → (1,4,32)", 2 * E),
    ("out_head", "linear, logits", "(1,4,32) → (1,4,50257)", V * E),
    ("last", "last position", "(1,4,50257) → (1,50257)", 0),
    ("next", "argmax", "(1,50257) → (1,1)", 0),
]


@pytest.fixture
def pane(window: MainWindow) -> ShapeTracePane:
    return pane_of(window, ShapeTracePane)


def group(pane: ShapeTracePane, title: str) -> QModelIndex:
    model = pane.tree.model()
    rows = [model.index(row, 0) for row in range(model.rowCount())]
    return next(index for index in rows if index.data() == title)


def cells(pane: ShapeTracePane, index: QModelIndex) -> list[str | None]:
    return [index.siblingAtColumn(column).data() for column in range(5)]


def rows(pane: ShapeTracePane, title: str) -> list[list[str | None]]:
    parent = group(pane, title)
    model = pane.tree.model()
    return [cells(pane, model.index(row, 0, parent)) for row in range(model.rowCount(parent))]


def stage(pane: ShapeTracePane, title: str, name: str) -> QModelIndex:
    parent = group(pane, title)
    children = [pane.tree.model().index(row, 0, parent) for row in range(pane.tree.model().rowCount(parent))]
    return next(index for index in children if index.data() == name)


def test_the_columns_are_named(pane: ShapeTracePane) -> None:
    titles = [pane.tree.model().headerData(column, Qt.Orientation.Horizontal) for column in range(5)]

    assert titles == ["Stage", "Operation", "Input → output", "Parameters", "ms"]


def test_stages_are_grouped_by_block(pane: ShapeTracePane) -> None:
    model = pane.tree.model()

    assert [model.index(row, 0).data() for row in range(model.rowCount())] == [
        "Embeddings",
        "Block 1",
        "Block 2",
        "Output",
    ]


def test_every_stage_has_its_name_operation_shapes_and_parameters(pane: ShapeTracePane) -> None:
    for title, expected in (("Embeddings", START), ("Block 1", BLOCK), ("Block 2", BLOCK), ("Output", END)):
        shown = [tuple(row[:4]) for row in rows(pane, title)]

        assert shown == [(*words, f"{count:,}" if count else None) for *words, count in expected]


def test_every_stage_has_its_milliseconds(pane: ShapeTracePane) -> None:
    times = [row[4] for title in ("Embeddings", "Block 1", "Block 2", "Output") for row in rows(pane, title)]

    assert len(times) == 55
    assert all(time is not None and float(time) >= 0 for time in times)


def test_every_name_has_room_also_with_another_model(pane: ShapeTracePane, user: User) -> None:
    def has_room(index: QModelIndex) -> bool:
        needed = QFontMetrics(index.data(Qt.ItemDataRole.FontRole)).horizontalAdvance(index.data())
        return needed < pane.tree.visualRect(index).width() - pane.tree.iconSize().width()

    names = [("Embeddings", name) for name, *_ in START] + [("Block 1", name) for name, *_ in BLOCK]
    assert all(has_room(stage(pane, *name)) for name in names)

    user.window.session.use_model(replace(TINY, n_layers=1), 123)
    user.waits()

    assert all(has_room(stage(pane, *name)) for name in names)


@pytest.mark.with_all_panes
def test_a_dozen_tokens_and_heads_have_room_on_a_laptop(pane: ShapeTracePane, user: User) -> None:
    user.window.resize(1280, 800)
    user.window.session.use_model(replace(TINY, n_layers=1, n_heads=12, emb_dim=120), 123)
    user.waits()
    user.runs("The quick brown fox jumps over the lazy dog and runs away")

    longest = stage(pane, "Block 1", "att.weights").siblingAtColumn(SHAPES)
    assert longest.data() == "(1,12,12,12) → (1,12,12,12)"
    needed = QFontMetrics(longest.data(Qt.ItemDataRole.FontRole)).horizontalAdvance(longest.data())
    assert needed < pane.tree.visualRect(longest).width()
    assert pane.tree.horizontalScrollBar().maximum() == 0


def test_the_shapes_of_a_pass_that_waits_have_room(pane: ShapeTracePane, user: User, qtbot: QtBot) -> None:
    user.window.session.live.toggle_breakpoint("trf_blocks.0.att.weights")
    user.writes("The quick brown fox jumps over the lazy dog and runs away")
    qtbot.waitUntil(lambda: not user.window.session.texts.busy)
    user.clicks(user.window.transport.step_live)
    qtbot.waitUntil(lambda: user.state.held == "trf_blocks.0.att.weights")

    longest = stage(pane, "Block 1", "att.weights").siblingAtColumn(SHAPES)
    qtbot.waitUntil(lambda: longest.data() == "(1,2,12,12) → (1,2,12,12)")
    needed = QFontMetrics(longest.data(Qt.ItemDataRole.FontRole)).horizontalAdvance(longest.data())
    assert needed < pane.tree.visualRect(longest).width()


def test_a_group_adds_up(pane: ShapeTracePane) -> None:
    total = sum(count for *_, count in BLOCK)

    shown = cells(pane, group(pane, "Block 1"))

    assert shown[3] == f"{total:,}" == "12,608"
    times = [float(row[4] or "nan") for row in rows(pane, "Block 1")]
    assert float(shown[4] or "nan") == pytest.approx(sum(times), abs=0.005 * 24)


def test_a_group_can_be_folded(pane: ShapeTracePane) -> None:
    block = group(pane, "Block 1")
    assert pane.tree.isExpanded(block)
    assert painted_words(pane.tree).count("norm1") >= 1

    pane.tree.collapse(block)

    assert "norm1" not in painted_words(pane.tree)


def test_the_table_fills_while_the_pass_runs(pane: ShapeTracePane, user: User, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.1.norm1")
    user.writes("a b")
    user.presses(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: rows(pane, "Block 1")[-1][2] == "(1,2,32) → (1,2,32)")

    assert [row[2] for row in rows(pane, "Block 2")] == [None] * 23
    assert [row[2] for row in rows(pane, "Output")] == [None] * 4
    assert cells(pane, group(pane, "Block 1"))[3] == "12,608"
    assert cells(pane, group(pane, "Block 2"))[3:] == [None, None]

    gate.open()
    user.waits()
    assert rows(pane, "Output")[-1][2] == "(1,50257) → (1,1)"


def test_a_block_in_the_middle_says_how_far_it_is(pane: ShapeTracePane, user: User, hold: Hold, qtbot: QtBot) -> None:
    hold("trf_blocks.0.att.weights")

    user.writes("a b")
    user.presses(Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: cells(pane, group(pane, "Block 1"))[1] == "10 of 23…")


def test_the_stages_are_listed_before_they_have_run(
    open_window: object, session: object, hold: object, window: MainWindow, pane: ShapeTracePane
) -> None:
    pane.model.set_records(())

    assert [row[0] for row in rows(pane, "Embeddings")] == [name for name, *_ in START]
    assert [row[2] for row in rows(pane, "Embeddings")] == [None] * 5


def test_a_tooltip_has_the_full_name_and_shapes(pane: ShapeTracePane) -> None:
    tip = stage(pane, "Block 2", "att.context").data(Qt.ItemDataRole.ToolTipRole)

    assert tip.splitlines()[:2] == ["trf_blocks.1.att.context", "weights · values: (1, 2, 4, 4) → (1, 2, 4, 16)"]


def test_a_click_on_an_attention_stage_switches_the_attention_map(pane: ShapeTracePane, user: User) -> None:
    attention = pane_of(user.window, AttentionPane)
    pane.tree.expand(group(pane, "Block 2"))

    user.clicks_row(pane.tree, stage(pane, "Block 2", "att.masked"))

    assert user.state.selection.stage == "trf_blocks.1.att.masked"
    assert attention.views.button("masked").isChecked()
    assert attention.block.spin.text() == "Block 2"


def test_a_click_on_a_norm_shows_that_norm(pane: ShapeTracePane, user: User) -> None:
    pane.tree.expand(group(pane, "Block 2"))

    user.clicks_row(pane.tree, stage(pane, "Block 2", "norm2"))
    user.brings_up("layer-norm")

    norm = pane_of(user.window, LayerNormPane)
    assert norm.heading.text().startswith("trf_blocks.1.norm2")
    assert norm.norms.button("norm2").isChecked()


def test_a_click_on_a_group_selects_nothing(pane: ShapeTracePane, user: User) -> None:
    before = user.state.selection

    user.clicks_row(pane.tree, group(pane, "Block 2"))

    assert user.state.selection is before


def test_arrows_move_through_the_stages(pane: ShapeTracePane, user: User) -> None:
    user.clicks_row(pane.tree, stage(pane, "Block 1", "norm1"))

    user.presses(Qt.Key.Key_Down)

    assert user.state.selection.stage == "trf_blocks.0.att.W_query"


def test_the_table_follows_a_selection_made_elsewhere(pane: ShapeTracePane, user: User) -> None:
    user.window.session.select_stage("trf_blocks.1.ff.layers.1")

    current = pane.tree.currentIndex()
    assert (current.parent().data(), current.siblingAtColumn(0).data()) == ("Block 2", "ff.layers.1")
    assert pane.tree.isExpanded(current.parent())
    assert pane.tree.viewport().rect().contains(pane.tree.visualRect(current).center())


def test_another_block_moves_the_row_to_that_block(pane: ShapeTracePane, user: User) -> None:
    user.clicks_row(pane.tree, stage(pane, "Block 1", "att.weights"))

    user.window.session.select(layer=1)

    current = pane.tree.currentIndex()
    assert (current.parent().data(), current.siblingAtColumn(0).data()) == ("Block 2", "att.weights")


def test_the_selected_row_is_marked_and_the_keys_go_on_from_it_after_another_model(
    pane: ShapeTracePane, user: User
) -> None:
    user.clicks_row(pane.tree, stage(pane, "Block 1", "norm2"))

    user.window.session.use_model(replace(TINY, n_layers=3), 123)
    user.waits()

    assert user.state.selection.stage == "trf_blocks.0.norm2"
    assert pane.tree.selectionModel().isRowSelected(stage(pane, "Block 1", "norm2").row(), group(pane, "Block 1"))
    pane.tree.setFocus()
    user.presses(Qt.Key.Key_Down)
    assert user.state.selection.stage == "trf_blocks.0.ff.layers.0"


def test_the_rows_are_marked_in_their_familys_colour(pane: ShapeTracePane) -> None:
    from gptviz.widgets.theme import LIGHT

    def mark(title: str, name: str) -> str:
        icon = stage(pane, title, name).data(Qt.ItemDataRole.DecorationRole)
        return icon.pixmap(icon.availableSizes()[0]).toImage().pixelColor(2, 7).name().upper()

    assert mark("Embeddings", "tok_emb") == LIGHT.families["embedding"]
    assert mark("Block 1", "norm2") == LIGHT.families["norm"]
    assert mark("Block 1", "att.out_proj") == LIGHT.families["attention"]
    assert mark("Block 1", "shortcut1") == LIGHT.families["shortcut"]
    assert mark("Block 1", "ff.layers.1") == LIGHT.families["feed-forward"]
    assert mark("Output", "out_head") == LIGHT.families["head"]


def test_the_model_keeps_qts_rules(pane: ShapeTracePane, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(pane.model)
