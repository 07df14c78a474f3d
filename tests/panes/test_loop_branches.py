"""Branches of the text, as a person sees and names them in the loop pane."""

import pytest
from generated import HELLO, chosen, fork, shown_ids, steps, word
from panes_of import loop_view
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, User

from gptviz.panes.loop_branches import BranchesView
from gptviz.widgets.branch_lanes import LANE
from gptviz.widgets.text import as_tip

pytestmark = pytest.mark.with_panes("loop")


@pytest.fixture
def branches(user: User) -> BranchesView:
    return loop_view(user, BranchesView)


def table(view: BranchesView) -> list[list[str]]:
    model = view.table.model()
    return [[model.index(row, column).data() for column in (0, 2)] for row in range(model.rowCount())]


def test_each_branch_has_a_row_with_its_text(branches: BranchesView, user: User) -> None:
    tokens = steps(user, 3)
    fork(user, 1)
    more = steps(user, 1)

    assert table(branches) == [
        ["Branch 1", "".join(word(token) for token in tokens)],
        ["Branch 2", "".join(word(token) for token in more[1:])],
    ]
    assert [index.row() for index in branches.table.selectionModel().selectedRows()] == [1]


def test_a_click_goes_to_a_branch(branches: BranchesView, user: User) -> None:
    tokens = steps(user, 3)
    fork(user, 1)

    user.clicks_row(branches.table, branches.table.model().index(0, 2))
    user.waits()

    assert chosen(user.state) == tokens
    assert shown_ids(user.state) == [*HELLO, tokens[0]]


def test_the_lanes_hang_together_where_all_branches_begin_at_the_prompt(branches: BranchesView, user: User) -> None:
    steps(user, 2)
    fork(user, 0, 1)
    fork(user, 0, 2)

    lanes = [branches.model.index(row, 1).data(LANE) for row in range(3)]
    assert lanes[0].leaving == (0, 0)
    assert lanes[1].passing == (0,)
    assert [lane.forked for lane in lanes] == [False, True, True]


def test_a_branch_is_named_in_place(branches: BranchesView, user: User, qtbot: QtBot) -> None:
    steps(user, 1)

    user.clicks(branches.rename)
    user.presses(Qt.Key.Key_A, CONTROL)
    QTest.keyClicks(user.window.focusWidget(), "<b>Ann")
    user.presses(Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: user.state.generation.branches[0].name == "<b>Ann")
    assert table(branches)[0][0] == "<b>Ann"
    assert branches.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == as_tip("<b>Ann")


def test_a_branch_is_named_once_there_is_a_run(branches: BranchesView, user: User) -> None:
    first = branches.model.index(0, 0)
    assert branches.rename.isEnabled()
    user.window.session.set_prompt("word " * 80)
    user.window.session.use_model("tiny", 7)  # which can't run that
    user.waits()
    assert not branches.rename.isEnabled()
    assert not first.flags() & Qt.ItemFlag.ItemIsEditable

    user.runs("word")

    assert branches.rename.isEnabled()
    assert first.flags() & Qt.ItemFlag.ItemIsEditable


def test_a_long_name_has_room_where_there_is_some(branches: BranchesView, user: User, qtbot: QtBot) -> None:
    steps(user, 1)
    header, narrow = branches.table.horizontalHeader(), branches.table.columnWidth(0)
    assert not [word for word in painted_words(branches.table.viewport()) if word.endswith("…")]

    user.window.session.travel.rename(0, "The branch that ends in Verona")
    shown = painted_words(branches.table.viewport())

    assert "The branch that ends in Verona" in shown
    assert header.sectionSize(0) > narrow
    user.window.resize(900, 700)
    qtbot.waitUntil(lambda: header.sectionSize(0) < 0.4 * branches.table.viewport().width())
    assert header.sectionSize(2) > header.sectionSize(0) / 2


def test_a_branch_without_steps_has_no_lane(branches: BranchesView, user: User) -> None:
    def lane() -> QImage:
        box = branches.table.visualRect(branches.model.index(0, 1))
        return branches.table.viewport().grab(box).toImage()

    branches.table.clearSelection()
    ground = lane().pixelColor(lane().width() - 2, 2)
    colours = {lane().pixelColor(x, lane().height() // 2).name() for x in range(lane().width())}
    assert colours == {ground.name()}
    steps(user, 1)
    branches.table.clearSelection()
    assert len({lane().pixelColor(x, lane().height() // 2).name() for x in range(lane().width())}) > 1


def test_the_table_keeps_qts_rules(branches: BranchesView, user: User, qtmodeltester: ModelTester) -> None:
    steps(user, 2)
    qtmodeltester.check(branches.model)
    fork(user, 0)
    fork(user, 0)
