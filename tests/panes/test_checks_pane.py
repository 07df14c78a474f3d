"""The list of checks."""

import pytest
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import User

from gptviz.panes.checks import ChecksPane

pytestmark = [pytest.mark.with_panes("checks"), pytest.mark.without_pauses]


@pytest.fixture
def pane(user: User, qtbot: QtBot) -> ChecksPane:
    user.window.show_pane("checks")
    pane = pane_of(user.window, ChecksPane)
    qtbot.waitUntil(lambda: user.state.checks.complete and user.state.checks.total > 0)
    return pane


def rows(pane: ChecksPane) -> dict[str, tuple[str, str]]:
    items = [pane.list.topLevelItem(row) for row in range(pane.list.topLevelItemCount())]
    return {item.text(0): (item.text(1), item.text(2)) for item in items if item is not None}


def test_every_check_has_its_error_and_its_place(pane: ChecksPane) -> None:
    listed = rows(pane)

    assert len(listed) == 8
    assert listed["nothing above the diagonal"] == ("0", "trf_blocks.0.att.weights")
    assert pane.summary.text().startswith("✓ 8 checks, largest error")


def test_the_status_bar_says_it_too(pane: ChecksPane, user: User) -> None:
    assert user.window.status.checks.text() == pane.summary.text()


def test_causality_is_checked_with_a_click(pane: ChecksPane, user: User) -> None:
    user.clicks(pane.causality)
    user.waits()

    assert rows(pane)["causality: the last token changes no earlier position"] == ("0", "out_head")


def test_a_row_leads_to_its_stage(pane: ChecksPane, user: User, qtbot: QtBot) -> None:
    item = next(iter(pane.list.findItems("nothing above the diagonal", Qt.MatchFlag.MatchExactly)))
    pane.list.itemActivated.emit(item, 0)

    assert user.state.selection.stage == "trf_blocks.0.att.weights"


def test_a_broken_check_is_red(pane: ChecksPane, user: User, qtbot: QtBot) -> None:
    assert user.state.trace is not None
    weights = user.state.trace.replay.model.trf_blocks[0].att.weights
    handle = weights.register_forward_hook(lambda module, args, output: output * 2)
    user.window.session.run()
    user.waits()
    qtbot.waitUntil(lambda: user.state.checks.complete and bool(user.state.checks.broken))
    handle.remove()

    item = pane.list.findItems("attention rows sum to one", Qt.MatchFlag.MatchExactly)[0]
    assert item.foreground(0).color().name().upper() == "#B91C1C"
    assert pane.summary.text().startswith("✗ 1 of 8 checks broken")
    assert user.window.status.checks.property("broken") == "true"
