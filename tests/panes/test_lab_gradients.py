"""The lab of shortcuts and gradients: the chapter's figures, other networks, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, SHIFT, User

from gptviz.app.appearance import Appearance
from gptviz.labs import gradients
from gptviz.labs.gradients import gradient_flow
from gptviz.panes.lab_gradients import GradientsLabPane
from gptviz.panes.pane import Pane

Types = Callable[[str, str], None]


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> GradientsLabPane:
    pane = open_lab("lab-gradients")
    assert isinstance(pane, GradientsLabPane)
    return pane


@pytest.fixture
def types(pane: GradientsLabPane, lab_user: User, answered: Callable[[], None]) -> Types:
    """A function that replaces what stands in a field, and waits for the answer."""

    def types(field: str, text: str) -> None:
        lab_user.types(pane.fields[field].edit, text)
        answered()

    return types


def columns(pane: GradientsLabPane) -> tuple[list[float], list[float]]:
    """The gradients that the table shows, without and with shortcuts."""
    plain, shortcut = ([float(row[at].replace("−", "-")) for row in pane.table.rows] for at in (2, 3))
    return plain, shortcut


def test_it_opens_with_the_chapters_five_and_five_figures(pane: GradientsLabPane, figures: dict[str, Any]) -> None:
    chapter = figures["shortcut_gradients_seed_123"]

    plain, shortcut = columns(pane)

    assert plain == pytest.approx(chapter["plain"], abs=6e-9)
    assert shortcut == pytest.approx(chapter["with_shortcuts"], abs=3e-8)


def test_the_ratio_of_the_first_to_the_last_layer_is_told(pane: GradientsLabPane, figures: dict[str, Any]) -> None:
    chapter = figures["shortcut_gradients_seed_123"]
    plain, shortcut = chapter["plain"], chapter["with_shortcuts"]

    assert pane.ratios.text == f"without {plain[0] / plain[-1]:.4f}; with {shortcut[0] / shortcut[-1]:.3f}"
    assert f"{plain[-1] / plain[0]:.1f} times smaller" in pane.reading.text()


def test_the_plot_is_logarithmic(pane: GradientsLabPane) -> None:
    words = painted_words(pane.plot)

    assert {"10⁰", "10⁻²", "10⁻⁴"} <= set(words)
    assert {"1", "2", "3", "4", "5", "layer"} <= set(words)


def test_another_depth_gives_another_row_for_each_layer(pane: GradientsLabPane, types: Types) -> None:
    types("depth", "12")

    wanted = gradient_flow(seed=123, depth=12, width=3)
    assert [row[0] for row in pane.table.rows] == [str(layer) for layer in range(1, 13)]
    assert columns(pane)[1] == pytest.approx(wanted.with_shortcuts.gradients, abs=1e-8)
    assert "11 of 12 layers have a shortcut" in pane.why.text()


def test_another_seed_and_width_give_other_figures(pane: GradientsLabPane, types: Types) -> None:
    types("seed", "7")
    types("width", "4")

    wanted = gradient_flow(seed=7, depth=5, width=4)
    assert columns(pane)[0] == pytest.approx(wanted.plain.gradients, rel=1e-4, abs=6e-9)
    assert pane.table.rows[0][1] == "4 × 4"
    assert "input [1, 0.33, −0.33, −1]" in pane.facts.text


def test_a_deep_network_without_shortcuts_stops_learning_in_its_first_layers(
    pane: GradientsLabPane, types: Types
) -> None:
    types("depth", "250")

    assert pane.table.rows[0][2] == "0"
    assert "is 0 in single precision" in pane.reading.text()
    assert "0 in single precision" in pane.note.text()


def test_bad_input_is_explained_at_its_field_and_the_last_good_result_stays(
    pane: GradientsLabPane, types: Types
) -> None:
    before = pane.table.rows

    for field, text, reason in (
        ("depth", "", "Empty: type a whole number from 1 to 500."),
        ("depth", "five", "“five” is no number: type a whole number from 1 to 500."),
        ("depth", "0", "0 is too small: at least 1, as there is no network without a layer."),
        ("width", "-3", "−3 is too small: at least 1, as a layer needs an input."),
        ("seed", ".5", "“.5” is no whole number: type a whole number of at least 0."),
    ):
        types(field, text)

        assert pane.fields[field].warning.text() == reason
        assert pane.fields[field].warning.isVisible()
        assert pane.table.rows == before


@pytest.mark.parametrize("width", ["9" * 300, "9223372036854775808", "999999999"])
def test_a_width_beyond_all_reason_gets_a_message_that_can_be_read(
    pane: GradientsLabPane, types: Types, width: str
) -> None:
    types("width", width)
    message = pane.fields["width"].message
    assert "too large" in message or "are free" in message
    assert len(message) < 170
    assert pane.fields["depth"].message == ""


def test_a_size_beyond_the_machines_memory_is_refused_at_its_field(
    pane: GradientsLabPane, types: Types, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradients, "available_memory", lambda: 8_000_000_000)

    types("width", "1000000")

    assert "need 48,000 GB, and 8.0 GB are free" in pane.fields["width"].warning.text()
    assert pane.result is not None
    assert pane.result.sizes[0] < 1_000_000

    types("width", "5")
    assert pane.fields["width"].warning.text() == ""
    assert len(pane.table.rows) == 5


def test_reset_brings_the_chapters_figures_back(
    pane: GradientsLabPane, types: Types, lab_user: User, answered: Callable[[], None]
) -> None:
    chapter = pane.table.rows
    types("depth", "2")
    types("seed", "x")

    lab_user.clicks(pane.header.button)
    answered()

    assert pane.table.rows == chapter
    assert [field.edit.text() for field in pane.fields.values()] == ["123", "5", "3"]
    assert not any(field.message for field in pane.fields.values())


def test_reset_has_a_key(pane: GradientsLabPane, types: Types, lab_user: User, qtbot: QtBot) -> None:
    chapter = pane.table.rows
    types("depth", "2")

    lab_user.presses(Qt.Key.Key_R, CONTROL | SHIFT)

    qtbot.waitUntil(lambda: pane.table.rows == chapter)
    assert "Ctrl+Shift+R" in pane.header.button.toolTip()


def test_it_is_drawn_in_every_look(pane: GradientsLabPane, appearance: Appearance) -> None:
    small = pane.fields["depth"].edit.width()

    appearance.set_scheme("dark")
    appearance.set_lecture(True)

    assert pane.fields["depth"].edit.width() == round(1.5 * small)
    assert "10⁰" in painted_words(pane.plot)
