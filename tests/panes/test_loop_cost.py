"""What each step costs, as a person reads and points at it in the loop pane."""

import pytest
from generated import steps
from panes_of import loop_view
from PySide6.QtCore import QPoint, Qt
from user import User

from gptviz.panes.loop_cost import CostView

pytestmark = pytest.mark.with_panes("loop")


@pytest.fixture
def cost(user: User) -> CostView:
    return loop_view(user, CostView)


def test_the_cost_is_measured_both_ways(cost: CostView, user: User) -> None:
    steps(user, 4)
    assert cost.found.text() == "Not measured for this text yet."
    assert cost.positions.caption == "22 positions computed, 15 of them again"

    user.clicks(cost.measure)
    user.waits()

    assert cost.found.text().startswith("The same token in all 4 steps; logits differ by ")
    assert "It holds 3.6 kB of 32.8 kB." in cost.found.text()


def test_the_cache_is_a_switch_that_tells_what_it_holds(cost: CostView, user: User) -> None:
    assert cost.holds.text().startswith("Off: ")

    user.clicks(cost.cache)
    assert cost.holds.text().startswith("On, and empty")
    steps(user, 3)

    assert cost.holds.text() == "Keys (2, 1, 2, 6, 16) and as many values: 3.1 kB."
    assert cost.positions.caption == "6 positions computed, 0 of them again"


def test_a_click_in_the_curve_goes_to_a_step(cost: CostView, user: User) -> None:
    steps(user, 5)

    user.clicks(cost.plot, cost.plot.place_of(2.0, 0.0) - QPoint(0, 3))
    user.waits()

    assert user.state.generation.shown == 1


@pytest.mark.parametrize("count", [3, 4])
def test_the_keyboard_goes_along_the_curve_to_both_ends(cost: CostView, user: User, count: int) -> None:
    steps(user, count)
    cost.plot.setFocus()

    seen = []
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Right):
        user.presses(key)
        user.waits()
        seen.append(user.state.generation.shown)

    assert seen == [0, 0, 1, count - 1, count - 1]


def test_keys_in_an_empty_curve_go_nowhere(cost: CostView, user: User) -> None:
    cost.plot.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Right):
        user.presses(key)

    assert user.state.generation.shown is None


@pytest.mark.parametrize("count", [0, 1, 3])
def test_steps_are_counted_in_whole_numbers(cost: CostView, user: User, count: int) -> None:
    steps(user, count)

    axis = cost.plot.getPlotItem().getAxis("bottom")
    ticks = [tick for _, level in axis.tickValues(*axis.range, axis.width()) for tick in level]
    assert ticks
    assert all(tick in range(1, max(1, count) + 1) for tick in ticks)
