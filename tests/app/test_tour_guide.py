"""The tour in the window: steps set it up, point at something, and leave it as it was."""

from collections.abc import Callable

import pytest
from menus import items, menu
from panes_of import pane_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.panes.tour import TourPane
from gptviz.tour.steps import steps
from gptviz.widgets.pointer import Pointer

pytestmark = pytest.mark.without_pauses

ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
OpenWindow = Callable[..., MainWindow]
PLACES = {step.name.partition("-")[2]: place for place, step in enumerate(steps())}


class Tourist:
    """A person in the tour."""

    def __init__(self, user: User, qtbot: QtBot) -> None:
        self.user, self.window, self._qtbot = user, user.window, qtbot

    @property
    def pane(self) -> TourPane:
        return pane_of(self.window, TourPane)

    @property
    def pointer(self) -> Pointer:
        return self.window.findChild(Pointer)

    @property
    def panes(self) -> set[str]:
        return {name for name, dock in self.window.docks.items() if not dock.isHidden()}

    def begins(self) -> None:
        self.user.presses(Qt.Key.Key_F3)
        self._qtbot.waitUntil(lambda: self.window.tour.is_on and self.pane.isVisible())
        self.settles()

    def settles(self) -> None:
        self._qtbot.waitUntil(lambda: self.window.session.settled and self.window.tour.is_settled)

    def goes_to(self, step: str) -> None:
        self.window.session.tour.go(PLACES[step])
        self.settles()


@pytest.fixture
def tourist(user: User, qtbot: QtBot) -> Tourist:
    return Tourist(user, qtbot)


def test_f3_begins_and_leaves_and_the_window_is_as_before(tourist: Tourist) -> None:
    window, before = tourist.window, tourist.panes
    window.session.select_stage("trf_blocks.1.att.scaled")
    window.session.select(query=1, head=1)
    selection, options = window.session.state.selection, window.session.state.options
    window.docks["checks"].close()
    before = tourist.panes

    tourist.begins()
    for step in ("scores", "mask", "next-token"):
        tourist.goes_to(step)
    assert tourist.panes == {"tour", *steps()[PLACES["next-token"]].panes}
    assert window.session.state.selection != selection

    tourist.user.presses(Qt.Key.Key_F3)
    tourist.settles()
    assert tourist.panes == before
    assert (window.session.state.selection, window.session.state.options) == (selection, options)
    assert not tourist.pointer.isVisible()


def test_every_step_sets_up_the_window_and_points_at_something_in_sight(tourist: Tourist) -> None:
    tourist.begins()
    for place, step in enumerate(steps()):
        assert tourist.pane.place.text() == f"Step {place + 1} / {len(steps())}"
        assert tourist.pane.heading.text() == step.title
        assert tourist.pane.reading.text
        assert not tourist.pane.notice.isVisible() or step.name.endswith("greedy")
        wanted = set(step.panes)
        if step.lab not in tourist.window.bench.names:
            assert tourist.panes == {"tour", *wanted}, step.name
            pointed_at = step.point is not None and step.point.partition("/")[0] != step.lab
        else:
            assert tourist.window.bench.last == step.lab
            assert tourist.panes == {"tour"}
            pointed_at = True
        assert tourist.pointer.isVisible() == pointed_at, step.name
        if pointed_at:
            assert tourist.window.rect().contains(tourist.pointer.target), step.name
            assert tourist.pointer.target.height() >= 20
        if place + 1 < len(steps()):
            tourist.user.presses(Qt.Key.Key_PageDown, ALT)
            tourist.settles()


def test_it_can_be_gone_through_with_the_keyboard_alone(tourist: Tourist) -> None:
    tourist.begins()
    assert tourist.pane.forward.hasFocus()

    tourist.user.presses(Qt.Key.Key_Space)
    tourist.user.presses(Qt.Key.Key_PageDown)
    tourist.user.presses(Qt.Key.Key_PageDown, ALT)
    tourist.settles()
    assert tourist.pane.heading.text() == steps()[3].title

    tourist.user.presses(Qt.Key.Key_PageUp)
    tourist.user.presses(Qt.Key.Key_PageUp, ALT)
    tourist.settles()
    assert tourist.pane.heading.text() == steps()[1].title


def test_the_arrow_keys_still_walk_through_the_pass(tourist: Tourist) -> None:
    tourist.begins()
    before = tourist.window.session.walk.index
    tourist.user.presses(Qt.Key.Key_Right)
    assert tourist.window.session.walk.index == before + 1


def test_closing_its_pane_leaves_the_tour(tourist: Tourist, qtbot: QtBot) -> None:
    before = tourist.panes
    tourist.begins()
    tourist.window.docks["tour"].close()
    qtbot.waitUntil(lambda: not tourist.window.tour.is_on)
    assert tourist.panes == before


def test_the_text_follows_the_run_and_the_selection(tourist: Tourist) -> None:
    tourist.begins()
    tourist.goes_to("tokens")
    assert "(1, 4)" in tourist.pane.reading.text

    tourist.user.runs("Every effort moves you today")
    tourist.settles()
    assert "(1, 5)" in tourist.pane.reading.text
    assert "Every" in tourist.pane.reading.text

    tourist.goes_to("weights")
    tourist.window.session.select(query=1)
    assert "␣effort gives most" in tourist.pane.reading.text


def test_restoring_the_layout_ends_the_tour(tourist: Tourist) -> None:
    before = tourist.panes
    tourist.begins()
    tourist.user.presses(Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    tourist.settles()
    assert not tourist.window.session.state.tour.on
    assert tourist.panes == before


# --- predict first ---------------------------------------------------------------------------------------


def test_a_question_comes_before_what_it_asks_for(tourist: Tourist, qtbot: QtBot) -> None:
    tourist.user.presses(Qt.Key.Key_F4, SHIFT)
    tourist.begins()
    tourist.goes_to("scores")

    assert tourist.panes == {"tour"}
    assert tourist.pane.card.isVisible()
    assert not tourist.pane.reading.isVisible()
    assert not tourist.pointer.isVisible()
    assert tourist.pane.card.hasFocus()

    tourist.user.presses(Qt.Key.Key_A)
    tourist.settles()
    assert tourist.panes == {"tour", "flow", "stage"}
    assert tourist.pane.reading.isVisible()
    assert any(row.verdict == "right" and "(1, 2, 4, 4)" in row.button.text() for row in tourist.pane.card.rows)
    assert tourist.pane.forward.hasFocus()


def test_one_key_reveals(tourist: Tourist) -> None:
    tourist.user.presses(Qt.Key.Key_F4, SHIFT)
    tourist.begins()
    tourist.goes_to("mask")
    tourist.user.presses(Qt.Key.Key_F4)
    tourist.settles()

    assert not tourist.pane.card.is_open
    assert tourist.pane.reading.isVisible()


def test_no_question_comes_unless_it_is_wanted(tourist: Tourist) -> None:
    tourist.begins()
    tourist.goes_to("scores")
    assert not tourist.pane.card.isVisible()
    assert not items(menu(tourist.window, "Help"))["Predict first"].isChecked()


# --- before anything has run, and from one start to the next ---------------------------------------------


def test_before_a_pass_the_text_says_what_to_do(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    tourist = Tourist(User(window, qtbot), qtbot)
    window.session.tour.restore(PLACES["tokens"])
    tourist.begins()

    assert "IDs are names" in tourist.pane.reading.text
    assert "Type a prompt and press Enter" in tourist.pane.notice.text()


def test_it_goes_on_where_it_was_left_at_the_last_start(
    open_window: OpenWindow, settings: Settings, qtbot: QtBot
) -> None:
    first = open_window(settings)
    tourist = Tourist(User(first, qtbot), qtbot)
    tourist.begins()
    tourist.goes_to("embeddings")
    first.close()
    assert settings.tour_place == PLACES["embeddings"]

    first.session.tour.leave()
    second = open_window(settings)
    assert second.docks["tour"].isHidden()
    assert not second.docks["shape-trace"].isHidden()


def test_the_tour_is_offered_once(open_window: OpenWindow, settings: Settings, qtbot: QtBot) -> None:
    first = open_window(settings)
    assert first.offer.isVisible()
    User(first, qtbot).clicks(first.offer.begin)
    qtbot.waitUntil(lambda: first.tour.is_on)
    assert not first.offer.isVisible()
    first.close()

    assert not open_window(settings).offer.isVisible()


def test_no_window_without_settings_offers_it(window: MainWindow) -> None:
    assert not window.offer.isVisible()
