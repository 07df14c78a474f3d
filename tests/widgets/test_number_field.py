"""A number that is typed: what is taken, what is refused, and what is said then."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule, RefusedError

CONTROL = Qt.KeyboardModifier.ControlModifier
DEPTH = NumberRule(whole=True, lowest=1, highest=500, lowest_reason="a network has a layer")


@pytest.fixture
def field(show: Callable[..., None]) -> NumberField:
    field = NumberField("Depth", 5, DEPTH, tip="The number of layers")
    show(field, 260, 90)
    return field


@pytest.fixture
def types(field: NumberField, qtbot: QtBot) -> Callable[[str], None]:
    """A function that replaces what stands in the field, key by key."""

    def types(text: str) -> None:
        qtbot.keyClick(field.edit, Qt.Key.Key_A, CONTROL)
        qtbot.keyClick(field.edit, Qt.Key.Key_Delete)
        qtbot.keyClicks(field.edit, text)

    return types


def test_a_number_counts_while_it_is_typed(field: NumberField, types: Callable[[str], None]) -> None:
    told: list[object] = []
    field.changed.connect(told.append)

    types("12")

    assert told == [1, 12]
    assert (field.value, field.warning.text()) == (12, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Empty: type a whole number from 1 to 500."),
        ("abc", "“abc” is no number: type a whole number from 1 to 500."),
        ("2.5", "“2.5” is no whole number: type a whole number from 1 to 500."),
        ("0", "0 is too small: at least 1, as a network has a layer."),
        ("-3", "−3 is too small: at least 1, as a network has a layer."),
        ("501", "501 is too large: at most 500."),
        ("1,5", "“1,5” is no number here: write it with a point, and without separators."),
        ("9" * 40, "99999999999999999… is too large: at most 500."),
        ("<b>1</b>", "“<b>1</b>” is no number: type a whole number from 1 to 500."),
    ],
)
def test_what_is_refused_is_explained_below(
    field: NumberField, types: Callable[[str], None], text: str, reason: str
) -> None:
    types(text)

    assert field.warning.text() == reason
    assert field.edit.accessibleDescription() == reason
    assert field.edit.text() == text
    assert field.value in range(1, 501)  # the last good one


def test_a_sign_alone_is_not_refused_before_the_digits_come(show: Callable[..., None], qtbot: QtBot) -> None:
    field = NumberField("x", 1.0, NumberRule())
    show(field, 260, 90)
    field.edit.selectAll()

    qtbot.keyClicks(field.edit, "-")
    assert field.warning.text() == ""

    qtbot.keyClicks(field.edit, "0.5")
    assert field.value == -0.5

    field.edit.selectAll()
    qtbot.keyClicks(field.edit, "-")
    qtbot.keyClick(field.edit, Qt.Key.Key_Return)
    assert field.warning.text() == "“−” is no number: type a number."


def test_escape_brings_the_last_good_number_back(
    field: NumberField, types: Callable[[str], None], qtbot: QtBot
) -> None:
    types("7x")

    qtbot.keyClick(field.edit, Qt.Key.Key_Escape)

    assert (field.edit.text(), field.value, field.warning.text()) == ("7", 7, "")


@pytest.mark.parametrize(("key", "value"), [(Qt.Key.Key_Up, 6), (Qt.Key.Key_Down, 4)])
def test_arrows_change_the_number(field: NumberField, qtbot: QtBot, key: Qt.Key, value: int) -> None:
    with qtbot.waitSignal(field.changed) as changed:
        qtbot.keyClick(field.edit, key)

    assert changed.args == [value]
    assert field.edit.text() == str(value)


def test_arrows_stay_within_the_rule(field: NumberField, qtbot: QtBot) -> None:
    field.set_value(1)

    with qtbot.assertNotEmitted(field.changed):
        qtbot.keyClick(field.edit, Qt.Key.Key_Down)

    assert field.edit.text() == "1"


def test_its_owner_can_refuse_a_number_until_another_comes(field: NumberField, types: Callable[[str], None]) -> None:
    field.refuse("That needs 40 GB, and 8 GB are free.")
    assert field.message == "That needs 40 GB, and 8 GB are free."

    types("6")
    assert field.message == ""


def test_its_owner_does_not_take_back_what_the_rule_says(field: NumberField, types: Callable[[str], None]) -> None:
    types("0")

    field.accept()

    assert field.message.startswith("0 is too small")


def test_showing_a_number_reports_nothing_and_forgets_what_was_wrong(
    field: NumberField, types: Callable[[str], None], qtbot: QtBot
) -> None:
    types("abc")

    with qtbot.assertNotEmitted(field.changed):
        field.set_value(3)

    assert (field.value, field.edit.text(), field.message) == (3, "3", "")


def test_a_rounded_number_stays_exact_until_it_is_changed(show: Callable[..., None], qtbot: QtBot) -> None:
    field = NumberField("x", 1 / 3, NumberRule())
    show(field, 260, 90)

    qtbot.keyClick(field.edit, Qt.Key.Key_Return)

    assert (field.edit.text(), field.value) == ("0.333333", 1 / 3)


def test_a_field_has_a_name_to_read_aloud_and_a_tooltip_with_its_keys(field: NumberField) -> None:
    assert field.edit.accessibleName() == "Depth"
    assert field.edit.toolTip().startswith("The number of layers (↑ ↓")


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "1_000", "١٢"])
def test_a_rule_takes_finite_numbers_in_plain_digits_alone(text: str) -> None:
    with pytest.raises(RefusedError):
        NumberRule().read(text)


@pytest.mark.parametrize(("text", "value"), [(" 0.5 ", 0.5), ("−2", -2.0), ("1e-5", 1e-5), (".5", 0.5), ("3.", 3.0)])
def test_a_rule_reads_the_usual_ways_to_write_a_number(text: str, value: float) -> None:
    assert NumberRule().read(text) == value
