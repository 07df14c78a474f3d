"""The lab of GELU and ReLU: curves, the table, and a point that is moved."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from reading import painted_words
from torch.nn import functional
from user import NO_MODIFIER, SHIFT, User

from gptviz.panes.lab_gelu import GeluLabPane
from gptviz.panes.pane import Pane

LEFT = Qt.MouseButton.LeftButton
Types = Callable[[str], None]


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> GeluLabPane:
    pane = open_lab("lab-gelu")
    assert isinstance(pane, GeluLabPane)
    return pane


@pytest.fixture
def types(pane: GeluLabPane, lab_user: User, answered: Callable[[], None]) -> Types:
    """A function that replaces x and waits for the answer."""

    def types(text: str) -> None:
        lab_user.types(pane.point.edit, text)
        answered()

    return types


def read(text: str) -> float:
    return float(text.replace("−", "-").removeprefix("▸ "))


def point(pane: GeluLabPane) -> list[float]:
    """The last row of the table: x, ReLU, GELU, exact, gap, slope."""
    return [read(cell) for cell in pane.table.rows[-1]]


def test_the_table_has_the_chapters_values(pane: GeluLabPane, figures: dict[str, Any]) -> None:
    chapter = {float(x): y for x, y in figures["gelu_tanh"].items()}

    shown = {read(row[0]): (read(row[1]), read(row[2])) for row in pane.table.rows[:-1]}

    assert list(shown) == [-1, -0.5, 0, 0.5, 1, 3]
    for x, (relu, gelu) in shown.items():
        assert relu == max(x, 0)
        assert gelu == pytest.approx(chapter[x], rel=5e-4)


def test_the_largest_difference_of_the_two_forms_is_told(pane: GeluLabPane) -> None:
    x = torch.linspace(-4, 4, 100_001, dtype=torch.float64)
    gap = (functional.gelu(x, approximate="tanh") - functional.gelu(x)).abs()

    assert f"{gap.max().item():.2e}".replace("e-0", "e−") in pane.gap_note.text()
    assert "x = −2.70 and 2.70" in pane.gap_note.text()
    assert painted_words(pane.gap).count("4.7e−4") == 2


def test_a_typed_x_moves_the_point(pane: GeluLabPane, types: Types) -> None:
    types("-1.3")

    x = torch.tensor(-1.3, dtype=torch.float64, requires_grad=True)
    y = functional.gelu(x, approximate="tanh")
    y.backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert point(pane)[:3] == pytest.approx([-1.3, 0, y.item()], rel=5e-4)
    assert point(pane)[5] == pytest.approx(x.grad.item(), rel=5e-4)
    assert painted_words(pane.values_legend) == ["Output", "GELU", "−0.1261", "ReLU", "0"]
    assert "never learns" in pane.meaning.text()


def test_a_click_in_any_plot_moves_the_point(pane: GeluLabPane, lab_user: User, answered: Callable[[], None]) -> None:
    for plot, x in ((pane.values, -2.0), (pane.slopes, 0.5), (pane.gap, 2.7)):
        lab_user.clicks(plot, plot.place_of(x))
        answered()

        assert point(pane)[0] == pytest.approx(x, abs=0.05)
        assert pane.point.value == point(pane)[0]


def test_the_point_can_be_dragged(pane: GeluLabPane, qtbot: QtBot, answered: Callable[[], None]) -> None:
    def at(x: float) -> QPoint:
        return pane.values.place_of(x).toPoint()

    screen = pane.values.viewport()
    qtbot.mousePress(screen, LEFT, pos=at(1.0))
    for x in (1.5, 2.0, 2.5):
        qtbot.mouseMove(screen, at(x))
    qtbot.mouseRelease(screen, LEFT, pos=at(2.5))
    answered()

    assert point(pane)[0] == pytest.approx(2.5, abs=0.05)


def test_keys_move_the_point_along_the_axis(pane: GeluLabPane, lab_user: User, answered: Callable[[], None]) -> None:
    pane.slopes.setFocus()

    for key, modifiers, x in (
        (Qt.Key.Key_Right, NO_MODIFIER, 1.05),
        (Qt.Key.Key_Left, SHIFT, 0.55),
        (Qt.Key.Key_Home, NO_MODIFIER, -4.0),
        (Qt.Key.Key_End, NO_MODIFIER, 4.0),
        (Qt.Key.Key_Right, NO_MODIFIER, 4.0),
    ):
        lab_user.presses(key, modifiers)
        answered()
        assert point(pane)[0] == x


def test_bad_input_is_explained_and_the_last_point_stays(pane: GeluLabPane, types: Types) -> None:
    for text, reason in (
        ("", "Empty: type a number."),
        ("one", "“one” is no number: type a number."),
        ("1e9", "1e9 is too large: at most 1e6, as GELU is x by then."),
    ):
        types(text)

        assert pane.point.warning.text() == reason
        assert point(pane)[0] == 1.0


def test_a_point_beyond_the_axis_is_computed_all_the_same(pane: GeluLabPane, types: Types) -> None:
    types("-50")

    assert point(pane)[:4] == [-50, 0, 0, 0]


@pytest.mark.parametrize(
    ("x", "meaning"),
    [
        ("-0.00001", "GELU still gives −5.00e−6 and a slope of 0.500"),
        ("-1e-60", "At 0 both give 0"),
        ("0.00001", "GELU gives 50.0 % of it"),
        ("3", "GELU gives 99.9 % of it"),
        ("20", "and so does GELU"),
        ("-20", "Far to the left both give next to nothing"),
    ],
)
def test_the_meaning_fits_the_place(pane: GeluLabPane, types: Types, x: str, meaning: str) -> None:
    types(x)
    assert meaning in pane.meaning.text()


def test_reset_brings_the_chapters_figures_back(
    pane: GeluLabPane, types: Types, lab_user: User, answered: Callable[[], None]
) -> None:
    start = pane.table.rows
    types("2.7x")

    lab_user.clicks(pane.header.button)
    answered()

    assert pane.table.rows == start
    assert (pane.point.edit.text(), pane.point.message) == ("1", "")
