"""A recorded run in the window: everything that was recorded is as it was, and the rest says what is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words
from recorded_run import record_and_open
from user import CONTROL, SHIFT, User

from gptviz.app.main_window import MainWindow
from gptviz.panes import PANES
from gptviz.session.session import Session
from gptviz.session.state import CheckReport
from gptviz.widgets.text import number

pytestmark = pytest.mark.without_pauses

LOAD = "Load the model (File menu)"
IN_FRONT = [pane.name for pane in PANES if pane.name != "tour"]


@pytest.fixture
def opened(open_window: Callable[..., MainWindow], ready: Session, tmp_path: Path, qtbot: QtBot) -> Callable[..., User]:
    """A function that opens a window on a recorded run of the default prompt and one more token."""

    def opened(blocks: int | None = None, closed: tuple[str, ...] = ()) -> User:
        ready.loop.step()
        qtbot.waitUntil(lambda: not ready.busy)
        ready.change(checks=CheckReport(total=3))  # nothing is measured yet, however late it is
        record_and_open(ready, tmp_path / "run.gptviz", qtbot, blocks)
        return User(open_window(closed=closed), qtbot)

    return opened


def settles(user: User, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: user.window.session.settled)


def words(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def test_a_walk_over_all_stages_with_every_pane_in_front_settles_and_says_nothing_is_under_way(
    opened: Callable[..., User], qtbot: QtBot
) -> None:
    user = opened(blocks=1)
    stages = len(user.window.session.walk.stages)
    for pane in IN_FRONT:
        user.brings_up(pane)
        user.window.session.walk.first()
        for _ in range(stages - 1):
            user.presses(Qt.Key.Key_Right)
            assert not user.state.awaits_stage
            assert user.state.activity is None
        assert user.window.session.walk.index == stages - 1
        assert user.state.message is None
        shown = words(user.window.docks[pane].pane)
        assert "being run again" not in shown
        assert "replayed" not in shown
    settles(user, qtbot)
    assert user.state.recorded is not None


def test_what_is_inside_a_block_that_was_not_recorded_is_named(opened: Callable[..., User]) -> None:
    user = opened(blocks=1)
    user.window.session.select_stage("trf_blocks.1.att.scores")

    for pane in ("stage", "attention", "layer-norm", "arithmetic", "flow"):
        user.brings_up(pane)
        shown = words(user.window.docks[pane].pane)
        assert "was not recorded" in shown or "The inside of block 2 is not in the recording" in shown, pane
        assert LOAD in shown, pane


def test_a_dot_product_is_shown_without_its_weights(opened: Callable[..., User]) -> None:
    user = opened()
    user.window.session.select_stage("trf_blocks.0.att.W_query", feature=3)
    user.presses(Qt.Key.Key_E, CONTROL)

    pane = user.window.docks["arithmetic"].pane
    trace = user.state.trace
    assert trace is not None
    value = float(trace.array("trf_blocks.0.att.W_query")[0, -1, 3])
    assert number(value, 7) in painted_words(pane.head)
    assert "Not recomputed: trf_blocks.0.att.W_query.weight is not in the recording" in words(pane)


def test_where_from_adds_up_whole_blocks_and_says_what_is_not_told_apart(
    opened: Callable[..., User], qtbot: QtBot
) -> None:
    user = opened(blocks=1)
    user.brings_up("where-from")
    settles(user, qtbot)

    pane = user.window.docks["where-from"].pane
    names = [row.title for row in pane.bars.rows]
    assert names[:4] == ["token embedding", "position embedding", "block 1 attention", "block 1 feed-forward"]
    assert names[4].startswith("block 2")
    assert "Not told apart further" in words(pane)
    user.clicks(pane.kinds.button("logit"))
    assert "Out_head" not in words(pane)
    assert f"out_head.weight is not in the recording, and its model is not loaded. {LOAD}" in words(pane)


def test_the_last_row_of_the_lens_is_the_models_output(opened: Callable[..., User], qtbot: QtBot) -> None:
    user = opened()
    user.brings_up("lens")
    settles(user, qtbot)

    reading, trace = user.state.lens.reading, user.state.trace
    assert reading is not None
    assert trace is not None
    assert reading.ids[-1, :, 0].tolist() == trace.array("out_head")[0].argmax(-1).tolist()
    assert not reading.has(0, 0)
    assert "out_head.weight is not in the recording" in words(user.window.docks["lens"].pane)


def test_heads_are_scored_on_the_prompt_and_the_probe_says_that_it_needs_the_model(
    opened: Callable[..., User], qtbot: QtBot
) -> None:
    user = opened(blocks=0)
    user.brings_up("heads")
    pane = user.window.docks["heads"].pane
    assert "The probe takes a pass, and the model is not loaded" in words(pane)

    user.clicks(pane.source.button("heads"))
    user.clicks(pane.scores.button("entropy"))
    settles(user, qtbot)

    assert pane.ranking.accessibleDescription().count("block") == 4
    assert pane.note.text() == ""


@pytest.mark.parametrize(("blocks", "measured"), [(0, 3), (1, 7)])
def test_checks_that_need_the_model_are_named_as_not_measured(
    opened: Callable[..., User], blocks: int, measured: int, qtbot: QtBot
) -> None:
    user = opened(blocks)
    user.brings_up("checks")
    settles(user, qtbot)

    pane = user.window.docks["checks"].pane
    qtbot.waitUntil(lambda: pane.list.topLevelItemCount() == 9)
    rows = [[pane.list.topLevelItem(row).text(column) for column in range(3)] for row in range(9)]
    assert sum(row[1] != "not measured" for row in rows) == measured
    assert f"✓ {measured} of 9 checks" in pane.summary.text()
    assert "out_head.weight is not in the recording" in pane.note.text()
    assert f"the inside of block {blocks + 1}" in pane.note.text()


def test_surprisal_is_read_off_the_logits(opened: Callable[..., User], qtbot: QtBot) -> None:
    user = opened(blocks=0)
    user.presses(Qt.Key.Key_U, CONTROL)
    settles(user, qtbot)

    assert user.state.measured.surprisal is not None
    assert "bits" in user.window.prompt_bar.surprisal.summary.text()


def test_a_recorded_run_is_compared_with_another_recorded_run(
    opened: Callable[..., User], tmp_path: Path, qtbot: QtBot
) -> None:
    user = opened(blocks=1)
    user.presses(Qt.Key.Key_P, CONTROL)
    session = user.window.session
    session.recording.open(tmp_path / "run.gptviz")
    user.waits()
    settles(user, qtbot)

    found = {one.name: one for one in session.state.comparison.differences}
    assert found["out_head"].relative == 0
    assert found["trf_blocks.0.att.weights"].relative == 0
    assert found["trf_blocks.1.att.weights"].relative is None
    session.select(layer=1)
    session.set_option(attention_view="scores")
    shown = words(user.window.docks["compare"].pane)
    assert "The inside of block 2 was not kept, and the model that computed it is no longer in memory." in shown
    assert f"The inside of block 2 is not in the recording, and its model is not loaded. {LOAD}" in shown


def test_a_pinned_recorded_run_has_its_model_once_that_is_loaded(opened: Callable[..., User], qtbot: QtBot) -> None:
    user = opened(blocks=0)
    user.presses(Qt.Key.Key_P, CONTROL)
    session = user.window.session
    session.recording.load_model()
    user.waits()
    settles(user, qtbot)

    pinned = session.state.comparison.pinned
    assert pinned is not None
    assert pinned.trace.can_replay
    assert pinned.trace.has_block(1)


def test_the_tour_speaks_of_what_was_recorded(opened: Callable[..., User], qtbot: QtBot) -> None:
    user = opened(blocks=0)
    user.presses(Qt.Key.Key_F3)
    session, pane = user.window.session, user.window.docks["tour"].pane
    qtbot.waitUntil(pane.isVisible)
    settles(user, qtbot)
    lacking = []
    for _ in range(len(session.tour.steps)):
        if pane.notice.text():
            assert pane.notice.text().startswith("This block's inside is not in the recording")
            lacking.append(pane.heading.text())
        session.tour.forward()
    assert lacking == ["The same, on real features", "A bend in the line", "A shortcut is an addition"]


def test_a_token_can_be_chosen_at_the_recorded_step_and_undone(opened: Callable[..., User], qtbot: QtBot) -> None:
    user = opened(blocks=0)
    session = user.window.session
    before = session.state.generation
    session.travel.pick(before.steps[0].candidates[2])
    settles(user, qtbot)
    assert session.state.generation.steps[0].chosen == before.steps[0].candidates[2]
    assert session.state.message is None

    user.presses(Qt.Key.Key_Z, CONTROL)
    user.waits()
    assert session.state.generation.steps == before.steps
    user.presses(Qt.Key.Key_Z, CONTROL | SHIFT)
    user.waits()
    assert session.state.recorded is not None
