"""The lab of LayerNorm: a row that is edited, every step on it, and BatchNorm beside it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from reading import painted_words
from torch.nn import functional
from user import CONTROL, User

from gptviz.app.appearance import Appearance
from gptviz.panes.lab_layer_norm import LayerNormLabPane
from gptviz.panes.pane import Pane
from gptviz.widgets.number_field import NumberField

Answered = Callable[[], None]
X, CENTRED, NORMALISED, OUTPUT = range(4)


class LabUser:
    """A person at the lab."""

    def __init__(self, pane: LayerNormLabPane, user: User, qtbot: QtBot, answered: Answered) -> None:
        self.pane, self.user = pane, user
        self._qtbot, self._answered = qtbot, answered

    def types_into_cell(self, column: int, text: str) -> None:
        """Click a number of the row, type over it, and press Enter."""
        view = self.pane.table.view
        self.user.clicks(view, self._middle(column))
        self.user.presses(Qt.Key.Key_Delete)  # everything is selected
        self._qtbot.keyClicks(QApplication.focusWidget(), text)
        self.user.presses(Qt.Key.Key_Return)
        self._qtbot.waitUntil(lambda: QApplication.focusWidget() is view)
        self._answered()

    def _middle(self, column: int) -> QPoint:
        view = self.pane.table.view
        return view.visualRect(self.pane.table.model.index(0, column)).center()

    def types(self, field: NumberField, text: str) -> None:
        field.edit.setFocus()
        self.user.presses(Qt.Key.Key_A, CONTROL)
        self.user.presses(Qt.Key.Key_Delete)
        self._qtbot.keyClicks(field.edit, text)
        self._answered()

    def clicks(self, button: Any) -> None:
        self.user.clicks(button)
        self._answered()

    def reads(self, row: int) -> list[str]:
        model = self.pane.table.model
        return [str(model.data(model.index(row, column))) for column in range(model.columnCount())]

    def reads_numbers(self, row: int) -> list[float]:
        return [float(text.replace("−", "-")) for text in self.reads(row)]


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> LayerNormLabPane:
    pane = open_lab("lab-layer-norm")
    assert isinstance(pane, LayerNormLabPane)
    return pane


@pytest.fixture
def user(pane: LayerNormLabPane, lab_user: User, qtbot: QtBot, answered: Answered) -> LabUser:
    return LabUser(pane, lab_user, qtbot, answered)


def test_it_opens_with_the_chapters_activations_and_their_steps(user: LabUser, figures: dict[str, Any]) -> None:
    chapter = figures["layernorm_example_seed_123"]

    assert user.reads_numbers(X) == pytest.approx(chapter["activations"][0], abs=6e-5)
    assert user.reads_numbers(NORMALISED) == pytest.approx(chapter["normalized"][0], abs=6e-5)
    assert user.reads(OUTPUT) == user.reads(NORMALISED)  # scale 1, shift 0


def test_each_formula_has_the_numbers_filled_in(pane: LayerNormLabPane, figures: dict[str, Any]) -> None:
    chapter = figures["layernorm_example_seed_123"]
    mean, variance = chapter["mean"][0], chapter["variance_population"][0]

    spoken = {key: formula.accessibleDescription() for key, formula in pane.formulas.items()}

    assert spoken["mean"].endswith(f"= {mean:.4f}")
    assert "0.226 + 0.347 + 0 + 0.222 + 0 + 0, 6" in spoken["mean"]
    assert spoken["variance"].endswith(f"= {variance:.5f}")
    assert "0.2260 − 0.1324" in spoken["normalised"]
    assert spoken["normalised"].endswith("= 0.6745")
    assert spoken["after"].endswith(f"= {chapter['variance_after'][0]:.5f}")


def test_the_variance_after_is_measured_and_explained(pane: LayerNormLabPane) -> None:
    assert "variance after 0.99948" in pane.measured.text
    assert pane.explanation.text().startswith("Not 1: eps stands under the root")
    assert "0.052 % of the variance is missing" in pane.explanation.text()
    assert "largest difference from the model's LayerNorm 0" in pane.measured.text


def test_another_number_changes_everything_after_it(user: LabUser) -> None:
    user.types_into_cell(1, "2.5")

    row = torch.tensor(user.pane.table.values)
    assert row[1] == 2.5
    wanted = functional.layer_norm(row, (6,))
    assert user.reads_numbers(NORMALISED) == pytest.approx(wanted.tolist(), abs=6e-5)


def test_another_number_moves_the_other_row_with_batch_norm_alone(user: LabUser) -> None:
    by_row, by_column = user.pane.by_row, user.pane.by_column
    before = painted_words(by_row), painted_words(by_column)

    user.types_into_cell(2, "3")

    def description(text: str) -> str:
        return text.split("row 2 normalised: ")[1]

    assert description(by_row.accessibleDescription()) == "−0.02, 0.12, −1.19, 1.66, 0.62, −1.19"
    assert description(by_column.accessibleDescription()).split(", ")[2] == "−1.00"  # it was 0.00
    assert painted_words(by_row) != before[0]
    assert painted_words(by_column) != before[1]


def test_numbers_can_be_typed_without_the_mouse(user: LabUser, qtbot: QtBot, answered: Answered) -> None:
    user.pane.table.view.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_7, Qt.Key.Key_Tab, Qt.Key.Key_8, Qt.Key.Key_Return):
        user.user.presses(key)
        QApplication.processEvents()
    answered()

    assert user.reads_numbers(X)[2:4] == [7, 8]

    user.user.presses(Qt.Key.Key_Delete)
    assert user.pane.table.message == "Number 4: Empty: type a number."


def test_a_chosen_number_is_the_one_in_the_formulas(user: LabUser) -> None:
    user.pane.table.view.setFocus()

    user.user.presses(Qt.Key.Key_Right)

    assert "normalised sub 2" in user.pane.formulas["normalised"].accessibleDescription()
    assert user.pane.formulas["normalised"].accessibleDescription().endswith("= 1.547")


def test_bad_cells_are_explained_below_and_the_last_good_result_stays(user: LabUser) -> None:
    before = user.reads(NORMALISED)

    user.types_into_cell(0, "abc")
    assert user.pane.table.message == "Number 1: “abc” is no number: type a number."
    assert user.reads(X)[0] == "abc"

    user.types_into_cell(2, "")
    assert user.pane.table.message.endswith("And 1 more.")
    assert user.pane.table.warning.isVisible()
    assert user.reads(NORMALISED) == before

    user.types_into_cell(0, "1")
    assert user.pane.table.message == "Number 3: Empty: type a number."

    user.types_into_cell(2, "1e30")
    assert "is too large" in user.pane.table.message


def test_the_row_can_have_any_length(user: LabUser) -> None:
    user.types(user.pane.length, "12")

    assert user.reads_numbers(X)[6:] == [0.0] * 6
    assert user.reads_numbers(X)[1] == 0.347  # also behind the 1 that was typed first
    assert "another length" in user.pane.difference.text()

    user.types(user.pane.length, "1")
    assert user.reads(NORMALISED) == ["0"]
    assert "one number" in user.pane.explanation.text()


def test_a_bad_length_is_explained_and_the_row_stays(user: LabUser) -> None:
    before = user.reads(X)

    for text, reason in (
        ("", "Empty: type a whole number from 1 to 10000."),
        ("x", "“x” is no number: type a whole number from 1 to 10000."),
        ("0", "0 is too small: at least 1, as a row can't be empty."),
        ("-6", "−6 is too small: at least 1, as a row can't be empty."),
    ):
        user.types(user.pane.length, text)
        assert user.pane.length.warning.text().replace("10,000", "10000") == reason
        assert user.reads(X) == before

    user.types(user.pane.length, "600000")
    assert "600000 is too large: at most 10,000" in user.pane.length.warning.text()


def test_a_list_can_be_pasted(user: LabUser, answered: Answered) -> None:
    user.pane.table.view.setFocus()
    QGuiApplication.clipboard().setText("[1, 2, 3,\n4, 5, 6, 7, 8]")
    user.user.presses(Qt.Key.Key_V, CONTROL)
    answered()

    assert user.reads_numbers(X) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert user.pane.length.edit.text() == "8"

    QGuiApplication.clipboard().setText("1 two 3")
    user.user.presses(Qt.Key.Key_V, CONTROL)
    answered()
    assert user.pane.table.message.startswith("Nothing was pasted. Number 2 of the list: “two” is no number")
    assert user.reads_numbers(X) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_eps_keeps_a_constant_row_from_dividing_by_zero(user: LabUser) -> None:
    user.clicks(user.pane.rows.button("constant"))
    assert user.reads(NORMALISED) == ["0"] * 6
    assert "nothing is divided by zero" in user.pane.explanation.text()

    user.clicks(user.pane.eps_switch.button("off"))
    assert user.pane.eps.edit.text() == "0"
    assert user.reads(NORMALISED) == ["NaN"] * 6
    assert "0 ÷ 0 is no number (NaN)" in user.pane.explanation.text()
    assert "NaN" in user.pane.formulas["normalised"].accessibleDescription()

    user.types(user.pane.eps, "0.001")
    assert user.reads(NORMALISED) == ["0"] * 6
    assert user.pane.eps_switch.button("on").isChecked()


def test_without_eps_the_variance_after_is_one(user: LabUser) -> None:
    user.clicks(user.pane.eps_switch.button("off"))

    assert "variance after 1.0000" in user.pane.measured.text
    assert user.pane.explanation.text() == "Without eps the variance after is 1, up to rounding."


def test_the_words_fit_the_variance_that_stands_beside_them(user: LabUser, answered: Answered) -> None:
    def pastes(text: str) -> str:
        user.pane.table.view.setFocus()
        QGuiApplication.clipboard().setText(text)
        user.user.presses(Qt.Key.Key_V, CONTROL)
        answered()
        return user.pane.explanation.text()

    assert pastes("1000000 -1000000 2 3 4 5").startswith("1, up to rounding: beside this variance eps is too small")
    assert "variance after 1.0000" in user.pane.measured.text

    pastes("0.1 " * 10_000)
    user.clicks(user.pane.eps_switch.button("off"))
    assert "the variance after is 1" not in user.pane.explanation.text()
    assert "eps prevents it" in user.pane.explanation.text()


def test_the_sample_variance_divides_by_one_less(user: LabUser) -> None:
    user.clicks(user.pane.divisor.button("sample"))

    row = torch.tensor(user.pane.table.values)
    assert user.pane.formulas["variance"].accessibleDescription().endswith(f"= {row.var().item():.5f}")
    assert "5 n − 1" in user.pane.formulas["variance"].accessibleDescription()
    assert "Measured with n instead of n − 1" in user.pane.explanation.text()


def test_scale_and_shift_follow_the_sliders(user: LabUser, answered: Answered) -> None:
    for slider, key in ((user.pane.scale, Qt.Key.Key_PageUp), (user.pane.shift, Qt.Key.Key_PageDown)):
        slider.slider.setFocus()
        user.user.presses(key)
        answered()

    assert (user.pane.scale.readout.text(), user.pane.shift.readout.text()) == ("2.00", "−1.00")
    wanted = [2 * value - 1 for value in user.reads_numbers(NORMALISED)]
    assert user.reads_numbers(OUTPUT) == pytest.approx(wanted, abs=2e-4)


def test_the_second_row_of_the_batch_can_be_chosen(user: LabUser, figures: dict[str, Any]) -> None:
    user.clicks(user.pane.rows.button("1"))

    assert user.reads_numbers(X) == pytest.approx(figures["layernorm_example_seed_123"]["activations"][1], abs=6e-5)
    assert user.pane.difference.text().startswith("Change a number of row 2: LayerNorm leaves row 1 alone")


def test_reset_brings_the_chapters_figures_back(user: LabUser, figures: dict[str, Any]) -> None:
    user.types_into_cell(0, "x")
    user.types(user.pane.length, "3")
    user.clicks(user.pane.divisor.button("sample"))
    user.types(user.pane.eps, "-1")

    user.clicks(user.pane.header.button)

    chapter = figures["layernorm_example_seed_123"]
    assert user.reads_numbers(NORMALISED) == pytest.approx(chapter["normalized"][0], abs=6e-5)
    assert (user.pane.length.edit.text(), user.pane.eps.edit.text()) == ("6", "1e−5")
    assert (user.pane.table.message, user.pane.eps.message) == ("", "")


def test_it_is_drawn_in_every_look(pane: LayerNormLabPane, appearance: Appearance) -> None:
    before = pane.by_row.height()

    appearance.set_scheme("dark")
    appearance.set_lecture(True)

    assert pane.by_row.sizeHint().height() > 1.4 * before
    assert {"row 1", "row 2", "normalised"} <= set(painted_words(pane.by_column))
