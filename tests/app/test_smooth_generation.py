"""While tokens are generated the window does no more for each than it has to, and in the end all panes agree."""

import weakref
from collections.abc import Iterator

import pytest
from holding import Hold
from panes_of import pane_of
from PySide6.QtCore import QEvent, QObject
from pytestqt.qtbot import QtBot
from user import User

from gptviz.panes.flow import FlowPane
from gptviz.panes.generation import GenerationPane
from gptviz.panes.next_token import NextTokenPane
from gptviz.panes.pane import Pane
from gptviz.session.session import Session
from gptviz.widgets.text import visible


class _Layouts(QObject):
    """Counts how often a widget is asked to lay itself out."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def layouts(user: User) -> Iterator[_Layouts]:
    layouts = _Layouts()
    user.window.installEventFilter(layouts)
    yield layouts
    user.window.removeEventFilter(layouts)


def appends(user: User, qtbot: QtBot, tokens: int) -> None:
    """Let the loop append some tokens, and wait until they are everywhere."""
    user.window.session.loop.play(tokens)
    qtbot.waitUntil(lambda: not user.state.generation.playing and not user.window.session.busy)


def in_sight(user: User) -> list[Pane]:
    return [dock.pane for dock in user.window.docks.values() if dock.is_in_sight]


def test_each_token_adds_one_row_and_leaves_the_others(user: User, qtbot: QtBot) -> None:
    pane = pane_of(user.window, GenerationPane)
    added: list[tuple[int, int]] = []
    resets: list[None] = []
    appends(user, qtbot, 1)
    pane.model.rowsInserted.connect(lambda parent, first, last: added.append((first, last)))
    pane.model.modelReset.connect(lambda: resets.append(None))

    appends(user, qtbot, 4)

    assert [row for first, last in added for row in range(first, last + 1)] == [1, 2, 3, 4]
    assert resets == []


def test_the_window_is_not_laid_out_for_each_token(user: User, qtbot: QtBot, layouts: _Layouts) -> None:
    appends(user, qtbot, 2)
    layouts.count = 0

    appends(user, qtbot, 5)

    assert layouts.count == 0


def test_panes_behind_a_tab_do_nothing(user: User, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    user.brings_up("attention")
    user.brings_up("stage")
    rendered: list[str] = []
    for name in ("attention", "stage"):
        pane = user.window.docks[name].pane
        monkeypatch.setattr(pane, "render_state", lambda old, new, name=name: rendered.append(name))

    appends(user, qtbot, 3)

    assert "stage" in rendered
    assert "attention" not in rendered


def test_panes_behind_a_tab_keep_no_old_trace(user: User, qtbot: QtBot) -> None:
    user.brings_up("attention")
    user.brings_up("stage")
    assert user.state.trace is not None
    old = weakref.ref(user.state.trace)

    appends(user, qtbot, 2)
    user.window.session.travel.forget()
    qtbot.waitUntil(lambda: user.window.session.settled)

    assert old() is None


def test_after_stop_all_panes_show_the_last_step(user: User, qtbot: QtBot) -> None:
    session = user.window.session
    session.loop.play()
    qtbot.waitUntil(lambda: len(user.state.generation.steps) >= 3)
    session.cancel()
    user.waits()

    trace, steps = user.state.trace, user.state.generation.steps
    assert trace is not None
    assert trace.tokens == steps[-1].context_tokens
    flow, likely = (user.window.docks[name].pane for name in ("flow", "next-token"))
    assert isinstance(flow, FlowPane)
    assert isinstance(likely, NextTokenPane)
    assert flow.view.plan.rows == trace.tokens
    assert flow.view.viewport().updatesEnabled()
    assert likely.choice.text() == visible(session.token_text(steps[-1].chosen.id))
    assert all(pane.seen is not None and pane.seen.trace is trace for pane in in_sight(user))


def test_stop_ends_a_pass_within_a_stage(ready: Session, hold: Hold, qtbot: QtBot) -> None:
    ready.loop.step()
    qtbot.waitUntil(lambda: len(ready.state.generation.steps) == 1 and not ready.busy)
    gate = hold("trf_blocks.0.norm1")
    ready.loop.play()
    qtbot.waitUntil(lambda: gate.reached)
    assert gate.context is not None
    before = len(gate.context.records)

    ready.cancel()
    gate.open()

    qtbot.waitUntil(lambda: not ready.busy)
    assert len(gate.context.records) <= before + 1
    assert len(ready.state.generation.steps) == 1
    assert not ready.state.generation.playing


def test_many_steps_keep_a_bounded_share_of_memory(ready: Session, qtbot: QtBot) -> None:
    ready.loop.play(30)
    qtbot.waitUntil(lambda: not ready.state.generation.playing and not ready.busy)

    assert len(ready.state.generation.steps) == 30
    assert 0 < ready.travel.kept_bytes <= 64 * 2**20
    assert ready.state.history.past[-1].what == "append a token"
    assert len(ready.state.history.past) == 1  # one play is one change
