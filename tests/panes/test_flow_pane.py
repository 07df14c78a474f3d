"""The flow: the whole model as a river; clicks, keys and the wheel."""

from collections.abc import Iterator
from dataclasses import replace
from html import unescape

import pytest
import torch
from holding import Wait
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.app.appearance import Appearance
from gptviz.capture.stages import block_stages, catalogue
from gptviz.model import TINY
from gptviz.panes.flow import FlowPane
from gptviz.session.session import Session

EXPAND, SCORES, WEIGHTS = (f"trf_blocks.0.{name}" for name in ("ff.layers.0", "att.scores", "att.weights"))
OUTSIDE = [stage.name for stage in catalogue(TINY) if stage.layer is None]
OPEN = [stage.name for stage in block_stages(TINY, 0)]


@pytest.fixture
def pane(ready: Session, appearance: Appearance, qtbot: QtBot) -> Iterator[FlowPane]:
    """The pane alone, wide enough for the whole model, after the default prompt."""
    pane = FlowPane(ready)
    pane.resize(2600, 420)
    with qtbot.waitActive(pane):
        pane.show()
        pane.activateWindow()
    pane.view.setFocus()
    yield pane
    pane.close()
    pane.deleteLater()
    QCoreApplication.sendPostedEvents(pane, QEvent.Type.DeferredDelete.value)


def centre(pane: FlowPane, name: str) -> QPoint:
    box = pane.view.box(name)
    assert box is not None
    return box.center().toPoint()


def click(pane: FlowPane, qtbot: QtBot, at: QPoint) -> None:
    assert pane.view.viewport().rect().contains(at)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def double_click(pane: FlowPane, qtbot: QtBot, at: QPoint) -> None:
    qtbot.mouseDClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def press(pane: FlowPane, qtbot: QtBot, key: Qt.Key) -> None:
    qtbot.keyClick(pane.view, key)


def picture(pane: FlowPane) -> QImage:
    return pane.grab().toImage()


def turn_wheel(pane: FlowPane, at: QPoint, degrees: int) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(pane.view.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, 8 * degrees),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(pane.view.viewport(), event)


def tip(pane: FlowPane, at: QPoint) -> str:
    event = QHelpEvent(QEvent.Type.ToolTip, at, pane.view.viewport().mapToGlobal(at))
    QApplication.sendEvent(pane.view.viewport(), event)
    return unescape(QToolTip.text())


def drawn(shown: QImage, pane: FlowPane, name: str) -> list[str]:
    """The colours along the middle of the strip of each token."""
    box = pane.view.box(name)
    assert box is not None
    pitch = box.height() / 4
    places = [
        QPoint(int(box.left() + x), int(box.top() + (row + 0.5) * pitch)) for row in range(4) for x in (4, 14, 24)
    ]
    return [shown.pixelColor(place).name() for place in places]


def is_coloured(shown: QImage, pane: FlowPane, name: str) -> bool:
    """Whether any pixel in a stage's place has the colour of a number."""
    box = pane.view.box(name)
    assert box is not None
    inside = box.toAlignedRect().adjusted(4, 4, -4, -4)
    pixels = (
        shown.pixelColor(x, y)
        for x in range(inside.left(), inside.right(), 2)
        for y in range(inside.top(), inside.bottom(), 9)
    )
    return any(pixel.hsvSaturationF() > 0.4 for pixel in pixels)


def is_orange(colour: QColor) -> bool:
    return colour.red() > colour.blue() + 30


# --- places ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*OUTSIDE, *OPEN])
def test_each_stage_has_a_place_and_a_click_there_selects_it(pane: FlowPane, qtbot: QtBot, name: str) -> None:
    click(pane, qtbot, centre(pane, name))

    assert pane.session.state.selection.stage == name


def test_titles_and_shapes_are_written(pane: FlowPane) -> None:
    words = painted_words(pane)

    assert {"norm1", "Q", "K", "V", "scores", "÷ √D", "mask", "softmax", "context", "merge", "expand", "GELU"} <= {
        *words
    }
    assert {"(1, 4, 32)", "(1, 2, 4, 4)", "(1, 4, 128)", "(1, 4, 50257)"} <= {*words}
    assert {"Hello", ",", "␣I", "␣am", "15496"} <= {*words}


def test_the_next_token_stands_at_the_end_with_its_probability(pane: FlowPane) -> None:
    words = painted_words(pane)
    token = int(pane.session.state.trace["next"][0, 0])  # type: ignore[index]

    assert pane.session.token_text(token).replace(" ", "␣") in words
    assert any(word.endswith("%") for word in words)


def test_expand_is_drawn_four_times_as_wide(pane: FlowPane) -> None:
    wide, narrow = pane.view.box(EXPAND), pane.view.box("trf_blocks.0.norm2")

    assert wide is not None
    assert narrow is not None
    assert wide.width() == pytest.approx(4 * narrow.width(), rel=0.05)


def test_the_shortcuts_start_at_the_blocks_input_and_at_the_first_sum(pane: FlowPane) -> None:
    ways = [(way.source.name, way.target.name) for way in pane.view.shortcuts]

    assert ways == [("drop_emb", "trf_blocks.0.shortcut1"), ("trf_blocks.0.shortcut1", "trf_blocks.0.shortcut2")]
    for way in pane.view.shortcuts:
        path, boxes = way.path.boundingRect(), pane.view.layout_.boxes
        assert path.left() == pytest.approx(boxes[way.source.name].right())
        assert path.right() == pytest.approx(boxes[way.target.name].left())


# --- colours ---------------------------------------------------------------------------------------------


def test_the_colours_come_from_the_tensor(pane: FlowPane, ready: Session, wait: Wait) -> None:
    trace = ready.state.trace
    assert trace is not None
    before, untouched = (drawn(picture(pane), pane, name) for name in ("drop_emb", "tok_emb"))
    ready.change(trace=replace(trace, kept={**trace.kept, "drop_emb": -trace.kept["drop_emb"]}))
    wait()
    after = drawn(picture(pane), pane, "drop_emb")

    assert all(one != other for one, other in zip(before, after, strict=True))
    assert drawn(picture(pane), pane, "tok_emb") == untouched


def test_rows_are_tokens_and_queries_are_not_mixed_up_with_keys(pane: FlowPane, ready: Session, wait: Wait) -> None:
    trace = ready.state.trace
    assert trace is not None
    scores = torch.full_like(trace[SCORES], -1.0)
    scores[..., 3, 0] = 1.0  # the last query looks at the first key
    there = "replayed" if SCORES in trace.replayed else "kept"
    ready.change(trace=replace(trace, **{there: {**getattr(trace, there), SCORES: scores}}))
    wait()
    shown, box = picture(pane), pane.view.box(SCORES)
    assert box is not None
    cell = box.width() / 4

    def colour(query: int, key: int) -> QColor:
        return shown.pixelColor((box.topLeft() + QPointF((key + 0.5) * cell, (query + 0.5) * cell)).toPoint())

    orange = [(query, key) for query in range(4) for key in range(4) if is_orange(colour(query, key))]
    assert orange == [(3, 0)]


def test_stages_that_are_not_at_hand_are_empty(pane: FlowPane, ready: Session, wait: Wait) -> None:
    trace = ready.state.trace
    assert trace is not None
    gone = {"final_norm", "out_head", "last", "next"}
    ready.change(trace=replace(trace, kept={name: kept for name, kept in trace.kept.items() if name not in gone}))
    wait()

    assert not is_coloured(picture(pane), pane, "final_norm")
    assert is_coloured(picture(pane), pane, "trf_blocks.0.shortcut2")
    assert not any(word.endswith("%") for word in painted_words(pane))
    assert "empty" in tip(pane, centre(pane, "final_norm"))
    QToolTip.hideText()


def test_another_theme_draws_in_its_colours(pane: FlowPane, appearance: Appearance) -> None:
    before = drawn(picture(pane), pane, "drop_emb")

    appearance.set_scheme("dark")

    assert all(one != other for one, other in zip(before, drawn(picture(pane), pane, "drop_emb"), strict=True))
    appearance.set_scheme("light")


# --- opening and following -------------------------------------------------------------------------------


def test_the_open_block_follows_the_selection(pane: FlowPane, ready: Session, qtbot: QtBot) -> None:
    ready.select_stage("trf_blocks.1.norm2")
    qtbot.waitUntil(lambda: not ready.busy)

    assert pane.view.box("trf_blocks.1.norm2") is not None
    assert pane.view.box("trf_blocks.0.norm2") is None
    assert pane.view.selected == "trf_blocks.1.norm2"


def test_a_double_click_opens_a_closed_block(pane: FlowPane, ready: Session, qtbot: QtBot) -> None:
    double_click(pane, qtbot, centre(pane, "trf_blocks.1.shortcut2"))
    qtbot.waitUntil(lambda: not ready.busy)

    assert ready.state.selection.layer == 1
    assert ready.state.selection.stage == "trf_blocks.1.norm1"


def test_a_double_click_on_a_stage_asks_to_see_it_large(pane: FlowPane, qtbot: QtBot) -> None:
    with qtbot.waitSignal(pane.pane_wanted) as wanted:
        double_click(pane, qtbot, centre(pane, EXPAND))

    assert wanted.args == ["stage"]
    assert pane.session.state.selection.stage == EXPAND


def test_a_selection_from_elsewhere_comes_into_view(pane: FlowPane, ready: Session) -> None:
    pane.resize(640, 300)
    ready.select_stage("next")

    box = pane.view.box("next")
    assert box is not None
    assert pane.view.viewport().rect().contains(box.center().toPoint())


def test_a_click_on_a_tokens_strip_selects_the_token(pane: FlowPane, ready: Session, qtbot: QtBot) -> None:
    box = pane.view.box("drop_emb")
    assert box is not None
    click(pane, qtbot, QPointF(box.center().x(), box.top() + box.height() * 3 / 8).toPoint())

    assert ready.state.selection.query == 1


# --- keys, wheel, mouse ----------------------------------------------------------------------------------


def test_arrow_keys_walk_stages_and_tokens(pane: FlowPane, ready: Session, qtbot: QtBot) -> None:
    ready.select_stage("drop_emb")
    press(pane, qtbot, Qt.Key.Key_Right)
    assert ready.state.selection.stage == "trf_blocks.0.norm1"
    press(pane, qtbot, Qt.Key.Key_Left)
    press(pane, qtbot, Qt.Key.Key_Left)
    assert ready.state.selection.stage == "embeddings"

    press(pane, qtbot, Qt.Key.Key_Up)
    assert ready.state.selection.query == 2
    press(pane, qtbot, Qt.Key.Key_Down)
    press(pane, qtbot, Qt.Key.Key_Down)
    assert ready.state.selection.query == 3


def test_the_wheel_zooms_and_keeps_what_is_under_the_cursor(pane: FlowPane) -> None:
    at = centre(pane, EXPAND)
    before = pane.view.box(EXPAND)

    turn_wheel(pane, at, 60)

    after = pane.view.box(EXPAND)
    assert before is not None
    assert after is not None
    assert after.width() > 1.5 * before.width()
    assert abs(after.center().x() - at.x()) < 3


def test_f_shows_all_again(pane: FlowPane, qtbot: QtBot) -> None:
    pane.resize(1000, 420)
    turn_wheel(pane, QPoint(500, 200), 60)
    press(pane, qtbot, Qt.Key.Key_F)

    first, last = pane.view.box("ids"), pane.view.box("next")
    assert first is not None
    assert last is not None
    assert first.left() >= 0
    assert last.right() <= pane.view.viewport().width()


def test_dragging_pans_and_selects_nothing(pane: FlowPane, ready: Session, qtbot: QtBot) -> None:
    pane.resize(640, 300)
    viewport, before = pane.view.viewport(), ready.state.selection
    start = centre(pane, "drop_emb")
    left = pane.view.box("drop_emb")

    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(viewport, start - QPoint(40, 0))
    qtbot.mouseMove(viewport, start - QPoint(80, 0))
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start - QPoint(80, 0))

    moved = pane.view.box("drop_emb")
    assert left is not None
    assert moved is not None
    assert moved.left() == pytest.approx(left.left() - 80, abs=2)
    assert ready.state.selection == before


def test_pointing_tells_stage_shape_and_token(pane: FlowPane) -> None:
    words = tip(pane, centre(pane, "drop_emb"))

    assert "drop_emb  (1, 4, 32)" in words
    assert "token 2  ␣I" in words
    QToolTip.hideText()


def test_without_a_pass_it_has_no_words_of_an_earlier_one(pane: FlowPane, ready: Session, wait: Wait) -> None:
    assert "(1, 4, 32)" in painted_words(pane)

    ready.change(trace=None, trace_rows=())
    assert painted_words(pane) == []

    ready.run()
    wait()
    assert "(1, 4, 32)" in painted_words(pane)


def test_a_screen_reader_hears_the_selection(pane: FlowPane, ready: Session) -> None:
    ready.select_stage(WEIGHTS)

    assert WEIGHTS in pane.view.accessibleDescription()
    assert "softmax" in pane.view.accessibleDescription()


def test_the_selected_stage_stays_in_sight_when_everything_grows(
    ready: Session, pane: FlowPane, appearance: Appearance, qtbot: QtBot
) -> None:
    pane.resize(700, 420)
    ready.select_stage(EXPAND)
    qtbot.waitUntil(lambda: pane.view.viewport().rect().contains(centre(pane, EXPAND)))

    appearance.set_lecture(True)

    assert pane.view.viewport().rect().contains(centre(pane, EXPAND))


def test_a_low_view_has_room_for_the_shapes_below_the_river(pane: FlowPane) -> None:
    pane.resize(900, 180)

    assert pane.view.layout_.bottom <= pane.view.viewport().height()
