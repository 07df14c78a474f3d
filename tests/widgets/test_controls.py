"""Stepper, switch, legend and distribution."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.widgets import colormaps
from gptviz.widgets.distribution import Distribution
from gptviz.widgets.legend import Legend
from gptviz.widgets.segmented import Segmented
from gptviz.widgets.stepper import Stepper
from gptviz.widgets.theme import LIGHT

LEFT = Qt.MouseButton.LeftButton
Picture = Callable[[QWidget], QImage]

# --- stepper ---------------------------------------------------------------------------------------------


@pytest.fixture
def stepper(show: Callable[..., None]) -> Stepper:
    stepper = Stepper("Block", "The block that is shown", "Block ")
    stepper.set_value(2, 3)
    show(stepper, 200, 60)
    return stepper


def test_a_stepper_shows_its_value(stepper: Stepper) -> None:
    assert (stepper.spin.text(), stepper.value) == ("Block 2", 2)


def test_showing_a_value_reports_no_change(stepper: Stepper, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(stepper.changed):
        stepper.set_value(1, 12)


@pytest.mark.parametrize(("button", "value"), [("less", 1), ("more", 3)])
def test_its_buttons_change_the_value_by_one(stepper: Stepper, qtbot: QtBot, button: str, value: int) -> None:
    with qtbot.waitSignal(stepper.changed) as changed:
        qtbot.mouseClick(getattr(stepper, button), LEFT)

    assert changed.args == [value]


@pytest.mark.parametrize(("key", "value"), [(Qt.Key.Key_Down, 1), (Qt.Key.Key_Up, 3)])
def test_arrows_change_the_value_by_one(stepper: Stepper, qtbot: QtBot, key: Qt.Key, value: int) -> None:
    with qtbot.waitSignal(stepper.changed) as changed:
        qtbot.keyClick(stepper.spin, key)

    assert changed.args == [value]


def test_a_value_can_be_typed(stepper: Stepper, qtbot: QtBot) -> None:
    stepper.set_value(2, 500)
    stepper.spin.selectAll()

    with qtbot.waitSignals([stepper.changed]):
        qtbot.keyClicks(stepper.spin, "250")
        qtbot.keyClick(stepper.spin, Qt.Key.Key_Return)

    assert stepper.value == 250


def test_there_is_no_way_beyond_the_ends(stepper: Stepper) -> None:
    stepper.set_value(1, 3)
    assert (stepper.less.isEnabled(), stepper.more.isEnabled()) == (False, True)

    stepper.set_value(3, 3)
    assert (stepper.less.isEnabled(), stepper.more.isEnabled()) == (True, False)

    stepper.set_value(9, 3)
    assert stepper.value == 3


def test_the_text_is_not_cut_off(stepper: Stepper) -> None:
    for value, highest in ((1, 2), (12, 12), (50257, 50257)):
        stepper.set_value(value, highest)
        needed = stepper.spin.fontMetrics().horizontalAdvance(stepper.spin.text())
        assert stepper.spin.lineEdit().width() >= needed


def test_a_stepper_has_names_to_read_aloud(stepper: Stepper) -> None:
    names = [widget.accessibleName() for widget in (stepper.less, stepper.spin, stepper.more)]

    assert names == ["Block: one less", "Block", "Block: one more"]


# --- switch ----------------------------------------------------------------------------------------------


@pytest.fixture
def switch(show: Callable[..., None]) -> Segmented:
    switch = Segmented([("a", "First", "the first"), ("b", "Second", "the second"), ("c", "Third", "")], "Show")
    switch.set_choice("a")
    show(switch, 300, 60)
    return switch


def pressed(switch: Segmented) -> list[str]:
    return [key for key in "abc" if switch.button(key).isChecked()]


def test_a_click_chooses(switch: Segmented, qtbot: QtBot) -> None:
    with qtbot.waitSignal(switch.chosen) as chosen:
        qtbot.mouseClick(switch.button("b"), LEFT)

    assert chosen.args == ["b"]
    assert pressed(switch) == ["b"]


def test_the_space_bar_chooses(switch: Segmented, qtbot: QtBot) -> None:
    switch.button("c").setFocus()

    with qtbot.waitSignal(switch.chosen) as chosen:
        qtbot.keyClick(switch.button("c"), Qt.Key.Key_Space)

    assert chosen.args == ["c"]


def test_showing_a_choice_reports_nothing(switch: Segmented, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(switch.chosen):
        switch.set_choice("c")

    assert pressed(switch) == ["c"]


def test_a_choice_that_does_not_exist_changes_nothing(switch: Segmented) -> None:
    switch.set_choice("z")

    assert pressed(switch) == ["a"]


def test_choices_have_tooltips_and_names(switch: Segmented) -> None:
    assert switch.button("b").toolTip() == "the second"
    assert switch.button("b").accessibleName() == "Show: Second"


# --- legend ----------------------------------------------------------------------------------------------


@pytest.fixture
def legend(show: Callable[..., None]) -> Legend:
    legend = Legend()
    show(legend, 420, 40)
    return legend


def test_a_legend_names_its_ends(legend: Legend) -> None:
    legend.set_range(0.0, 1.0, signed=False)

    assert painted_words(legend) == ["0", "1.00"]


def test_a_signed_legend_names_the_middle_too(legend: Legend) -> None:
    legend.set_range(-2.5, 2.5, signed=True)

    assert painted_words(legend) == ["−2.50", "2.50", "0"]


def test_a_legend_explains_what_has_no_number_and_warns(legend: Legend) -> None:
    legend.set_range(0.0, 1.0, signed=False, none_text="masked", badge="each row rescaled")

    assert painted_words(legend)[2:] == ["masked", "each row rescaled"]
    assert legend.accessibleDescription() == "from 0 to 1.000 each row rescaled"


@pytest.mark.parametrize("signed", [False, True])
def test_a_legend_has_the_colours_of_the_map(legend: Legend, picture: Picture, signed: bool) -> None:
    legend.set_range(-1.0, 1.0, signed)
    shown = picture(legend)
    table = colormaps.diverging(LIGHT) if signed else colormaps.sequential()

    for x, place in ((3, 4), (64, 126), (125, 248)):
        assert shown.pixelColor(x, 5).getRgb()[:3] == pytest.approx(table[place, :3].tolist(), abs=6)


# --- distribution ----------------------------------------------------------------------------------------


@pytest.fixture
def distribution(show: Callable[..., None]) -> Distribution:
    distribution = Distribution("norm")
    show(distribution, 320, 120)
    return distribution


def coloured(shown: QImage) -> list[int]:
    """The columns in which something of the norm's colour is drawn."""
    hue = QColor(LIGHT.families["norm"]).hue()
    return [
        x
        for x in range(shown.width())
        if any(
            abs(shown.pixelColor(x, y).hue() - hue) < 8 and shown.pixelColor(x, y).saturation() > 60
            for y in range(0, shown.height() - 40, 2)
        )
    ]


def test_values_are_where_they_belong_on_the_axis(distribution: Distribution, picture: Picture) -> None:
    distribution.set_values(np.full(32, 0.5), -1.0, 1.0)
    right = coloured(picture(distribution))
    distribution.set_values(np.full(32, -0.5), -1.0, 1.0)
    left = coloured(picture(distribution))

    assert np.mean(left) == pytest.approx(320 / 4, abs=12)
    assert np.mean(right) == pytest.approx(320 * 3 / 4, abs=12)


def test_the_axis_can_be_read(distribution: Distribution) -> None:
    distribution.set_values(np.linspace(-2, 2, 100), -2.0, 2.0)

    assert {"-1", "0", "1"} <= {word.replace("−", "-").removesuffix(".0") for word in painted_words(distribution)}


def test_a_constant_can_be_shown(distribution: Distribution, picture: Picture) -> None:
    distribution.set_values(np.zeros(32), -1.0, 1.0)

    assert np.mean(coloured(picture(distribution))) == pytest.approx(160, abs=12)
