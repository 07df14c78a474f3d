"""From any number in the window to its arithmetic, and back."""

import pytest
from menus import items, menu
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, User

from gptviz.analysis.arithmetic import Place
from gptviz.app.main_window import MainWindow
from gptviz.panes.arithmetic import ArithmeticPane
from gptviz.session.numbers import selected_place
from gptviz.widgets.explain_tag import ExplainTag
from gptviz.widgets.heatmap import Heatmap

ALT = Qt.KeyboardModifier.AltModifier


def here(user: User) -> Place | None:
    return selected_place(user.state.selection, user.state.trace)


def in_front(window: MainWindow) -> bool:
    """Whether Arithmetic is in sight: Qt moves docks behind other tabs out of the window."""
    dock = window.docks["arithmetic"]
    return window.rect().intersects(dock.geometry()) and dock.isVisible()


def arithmetic(window: MainWindow, qtbot: QtBot) -> ArithmeticPane:
    """The pane, which has to be in front by itself."""
    qtbot.waitUntil(lambda: in_front(window))
    pane = pane_of(window, ArithmeticPane)
    qtbot.waitUntil(pane.isVisible)
    return pane


def double_clicks(qtbot: QtBot, heatmap: Heatmap, row: int, column: int) -> None:
    at = heatmap.cell_box(row, column).center().toPoint()
    for part in (qtbot.mouseClick, qtbot.mouseDClick, qtbot.mouseRelease):
        part(heatmap.viewport(), Qt.MouseButton.LeftButton, pos=at)


@pytest.mark.without_panes("flow")
def test_a_cell_of_the_attention_map_leads_to_its_arithmetic(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    map_ = window.docks["attention"].pane.map

    user.clicks(map_, map_.cell_box(3, 1).center())
    assert here(user) == Place("trf_blocks.0.att.weights", (0, 0, 3, 1))
    double_clicks(qtbot, map_, 2, 1)

    pane = arithmetic(window, qtbot)
    assert here(user) == Place("trf_blocks.0.att.weights", (0, 0, 2, 1))
    assert pane.head.coordinates == "head 1, query 2 ␣I, key 1 ,"


@pytest.mark.without_panes("flow")
def test_a_chosen_cell_has_a_tag_that_explains_it(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    map_ = window.docks["attention"].pane.map
    tag = map_.findChild(ExplainTag)
    at = map_.cell_box(3, 2).center()
    user.points_at(map_, at)
    assert not tag.isVisible()

    user.clicks(map_, at)
    assert tag.isVisible()
    assert map_.rect().contains(tag.geometry())
    user.points_at(map_, map_.cell_box(0, 0).center())
    assert not tag.isVisible()
    user.points_at(map_, at)
    user.clicks(tag)

    assert arithmetic(window, qtbot).head.coordinates == "head 1, query 3 ␣am, key 2 ␣I"


@pytest.mark.without_panes("flow")
def test_the_link_beside_a_readout_leads_there_too(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    pane = window.docks["attention"].pane
    user.clicks(pane.views.button("scores"))
    user.clicks(pane.map, pane.map.cell_box(1, 2).center())

    user.clicks(pane.readout.link)

    assert arithmetic(window, qtbot).head.title == "Block 1 · attention · scores"
    assert here(user) == Place("trf_blocks.0.att.scores", (0, 0, 1, 2))


@pytest.mark.without_panes("flow")
def test_a_number_that_goes_into_a_stage_is_explained_as_its_own(window: MainWindow, user: User, qtbot: QtBot) -> None:
    window.session.select_stage("trf_blocks.0.att.scores")
    user.brings_up("stage")
    pane = window.docks["stage"].pane

    double_clicks(qtbot, pane.figure.inputs[1].map, 1, 5)

    arithmetic(window, qtbot)
    assert here(user) == Place("trf_blocks.0.att.keys", (0, 0, 1, 5))


@pytest.mark.without_panes("flow")
def test_enter_on_a_cell_explains_it(window: MainWindow, user: User, qtbot: QtBot) -> None:
    window.session.select_stage("final_norm")
    user.brings_up("stage")
    view = window.docks["stage"].pane.figure.output.map
    user.clicks(view, view.cell_box(2, 9).center())

    user.presses(Qt.Key.Key_Return)

    assert arithmetic(window, qtbot).head.coordinates == "token 2 ␣I, feature 9"


@pytest.mark.without_panes("flow", "stage")
def test_a_candidate_is_explained_as_a_logit(window: MainWindow, user: User, qtbot: QtBot) -> None:
    bars = window.docks["next-token"].pane.bars
    assert user.state.trace is not None
    second = int(user.state.trace["last"][0].topk(2).indices[1])

    user.clicks(bars, bars.row_box(1).center())

    assert arithmetic(window, qtbot).head.title == "Last position"
    assert here(user) == Place("last", (0, second))


@pytest.mark.without_panes("flow", "stage")
def test_a_norm_and_a_row_of_the_shape_trace_are_explained(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.brings_up("layer-norm")
    user.clicks(window.docks["layer-norm"].pane.scale.link)
    assert arithmetic(window, qtbot).head.title == "Block 1 · LayerNorm 1"

    user.brings_up("layer-norm")
    pane = window.docks["shape-trace"].pane
    index = pane.model.index_of("out_head")
    user.clicks_row(pane.tree, index)
    user.presses(Qt.Key.Key_Return)

    assert arithmetic(window, qtbot).head.title == "Output head · logits"


@pytest.mark.without_panes("flow", "stage")
def test_keys_and_mouse_buttons_go_back_and_forward_everywhere(window: MainWindow, user: User, qtbot: QtBot) -> None:
    weight, score = (Place(f"trf_blocks.0.att.{name}", (0, 0, 3, 1)) for name in ("weights", "masked"))
    window.session.go_to(weight)
    user.presses(Qt.Key.Key_E, CONTROL)
    pane = arithmetic(window, qtbot)
    qtbot.waitUntil(lambda: pane.chips.rect().contains(pane.chips.chip_box(0).toRect()))
    user.clicks(pane.chips, pane.chips.chip_box(0).center())
    assert here(user) == score

    user.presses(Qt.Key.Key_Left, ALT)
    assert here(user) == weight
    user.presses(Qt.Key.Key_Right, ALT)
    assert here(user) == score
    targets = [pane.head, pane.chips, pane.crumbs, window.docks["next-token"].pane.note]
    for widget in targets:
        qtbot.mouseClick(widget, Qt.MouseButton.BackButton)
        assert here(user) == weight
        qtbot.mouseClick(widget, Qt.MouseButton.ForwardButton)
        assert here(user) == score


@pytest.mark.without_panes("flow", "stage")
def test_the_menu_names_the_keys(window: MainWindow) -> None:
    walk = items(menu(window, "Walk"))

    shortcuts = [walk[text].shortcut().toString() for text in ("Explain the number", "Number before", "Number after")]
    assert shortcuts == ["Ctrl+E", "Alt+Left", "Alt+Right"]


@pytest.mark.without_panes("flow")
def test_a_zoomed_map_is_shown_whole_by_a_double_click(window: MainWindow, user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    map_ = window.docks["attention"].pane.map
    map_.view.setRange(xRange=(0, 2), yRange=(0, 2), padding=0)

    double_clicks(qtbot, map_, 0, 0)

    assert not map_.zoomed
    assert not in_front(window)


@pytest.mark.without_panes("flow", "stage")
def test_a_value_of_the_stream_and_a_logit_lead_to_their_parts(window: MainWindow, user: User, qtbot: QtBot) -> None:
    for name, index, kind in (("trf_blocks.1.shortcut1", (0, 1, 7), "stream"), ("last", (0, 464), "logit")):
        window.session.go_to(Place(name, index))
        user.presses(Qt.Key.Key_E, CONTROL)
        pane = arithmetic(window, qtbot)

        user.clicks(pane.parts)

        question = user.state.where_from.question
        assert question.kind == kind
        assert index[-1] in (question.feature, question.token)
        qtbot.waitUntil(window.docks["where-from"].pane.isVisible)
    window.session.go_to(Place("trf_blocks.0.att.scores", (0, 0, 1, 1)))
    user.presses(Qt.Key.Key_E, CONTROL)
    assert not arithmetic(window, qtbot).parts.isVisible()
