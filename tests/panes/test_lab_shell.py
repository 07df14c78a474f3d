"""The lab of placeholders: parts that become real, and what changes."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.panes.lab_shell import ShellLabPane
from gptviz.panes.pane import Pane


@pytest.fixture
def pane(open_lab: Callable[[str], Pane]) -> ShellLabPane:
    pane = open_lab("lab-shell")
    assert isinstance(pane, ShellLabPane)
    return pane


@pytest.fixture
def clicks(lab_user: User, answered: Callable[[], None]) -> Callable[[object], None]:
    """A function that clicks on a button and waits for the answer."""

    def clicks(button: object) -> None:
        lab_user.clicks(button)  # type: ignore[arg-type]
        answered()

    return clicks


def column(pane: ShellLabPane, place: int) -> dict[str, str]:
    """A column of the table of stages, by stage."""
    return {row.cells[0]: row.cells[place] for row in pane.stages.rows}


def test_it_opens_with_placeholders_whose_wiring_holds(pane: ShellLabPane) -> None:
    assert pane.wiring.text().startswith("(2, 4) token IDs  →  9 stages  →  (2, 4, 50257) logits")
    assert "The wiring holds" in pane.comparison.text()
    assert column(pane, 1)["trf_blocks.0"] == "returns its input"
    assert pane.texts[0].note.text() == "6109  3626  6100  345"
    assert len(pane.logits.rows) == 8


def test_parts_become_real_one_at_a_time(pane: ShellLabPane, clicks: Callable[[object], None]) -> None:
    counts = [len(pane.stages.rows)]
    for _ in range(5):
        clicks(pane.next)
        counts.append(len(pane.stages.rows))

    assert counts == [9, 9, 15, 19, 27, 53]
    assert not pane.next.isEnabled()
    assert pane.presets.button("finished").isChecked()


def test_the_first_change_is_marked(pane: ShellLabPane, clicks: Callable[[object], None]) -> None:
    clicks(pane.parts.switch("final_norm").button("real"))

    against = column(pane, 5)
    assert against["drop_emb"] == against["trf_blocks.1"] == "same"
    assert against["final_norm"].startswith("first change  up to ")
    assert against["out_head"].startswith("up to ")
    assert "2 have other numbers, first at final_norm" in pane.comparison.text()
    assert "LayerNorm draws none" in pane.drawing.text()


def test_other_weights_are_told_apart_from_other_inputs(pane: ShellLabPane, clicks: Callable[[object], None]) -> None:
    clicks(pane.parts.switch("attention").button("real"))
    assert column(pane, 6)["out_head"] == "others"
    assert "What stands before out_head draws more or fewer" in pane.drawing.text()

    clicks(pane.weights.button("kept"))
    clicks(pane.parts.switch("attention").button("dummy"))
    assert column(pane, 6)["out_head"] == "1,608,224"
    assert column(pane, 5)["out_head"].startswith("up to ")


def test_a_shortcut_around_a_placeholder_is_explained(pane: ShellLabPane, clicks: Callable[[object], None]) -> None:
    clicks(pane.parts.switch("shortcuts").button("real"))

    assert "a placeholder adds its input to itself" in pane.comparison.text()


def test_texts_of_unequal_length_are_refused_and_the_last_result_stays(
    pane: ShellLabPane, qtbot: QtBot, answered: Callable[[], None]
) -> None:
    before = pane.stages.rows
    qtbot.keyClicks(pane.texts[1].edit, " promise")
    answered()

    assert "5 tokens, but the first text has 4" in pane.texts[1].warning.text()
    assert pane.texts[1].warning.isVisible()
    assert pane.stages.rows == before

    qtbot.keyClicks(pane.texts[0].edit, " today")
    answered()
    assert not pane.texts[1].warning.isVisible()
    assert pane.wiring.text().startswith("(2, 5) token IDs")
    assert "nothing to compare" in pane.comparison.text()


def test_a_seed_of_letters_is_refused(pane: ShellLabPane, qtbot: QtBot, answered: Callable[[], None]) -> None:
    before = pane.logits.rows
    qtbot.keyClicks(pane.seed.edit, "x")
    answered()

    assert pane.seed.message
    assert pane.logits.rows == before


def test_reset_brings_the_placeholders_back(
    pane: ShellLabPane, lab_user: User, clicks: Callable[[object], None], qtbot: QtBot
) -> None:
    before = pane.stages.rows
    clicks(pane.presets.button("finished"))
    clicks(pane.dropout.button("on"))

    lab_user.presses(Qt.Key.Key_R, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: pane.stages.rows == before)

    assert pane.parts.real == frozenset()
    assert pane.dropout.button("off").isChecked()


@pytest.mark.large
def test_the_chapters_own_run(pane: ShellLabPane, clicks: Callable[[object], None]) -> None:
    clicks(pane.presets.button("chapter"))

    shown = [cell.replace("−", "-") for cell in pane.logits.rows[0].cells]
    assert shown == ["text 1, token 0", "-1.2034", "0.3201", "-0.7130", "…", "-1.5548", "-0.2390", "-0.4667"]
    assert "77,981,184 parameters" in pane.wiring.text()
