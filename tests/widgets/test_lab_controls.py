"""Presets, tables and rows that the labs are made of."""

from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.app.appearance import Appearance
from gptviz.widgets.figure_row import FigureRow
from gptviz.widgets.presets import Presets
from gptviz.widgets.settings_form import Setting, SettingsForm
from gptviz.widgets.share_bar import Share, ShareBar
from gptviz.widgets.value_table import Column, Row, ValueTable

CHOICES = [(str(number), f"Choice {number}", f"Try {number}") for number in range(8)]


def test_presets_go_on_in_the_next_line_and_ask_for_its_height(qtbot: QtBot, appearance: Appearance) -> None:
    presets = Presets(CHOICES, "Try")
    qtbot.addWidget(presets)
    presets.show()
    presets.resize(900, 40)
    one_line = presets.minimumSizeHint().height()
    assert {presets.button(key).y() for key, _, _ in CHOICES} == {0}

    presets.resize(300, 200)
    qtbot.waitUntil(lambda: presets.button("7").y() > 0)

    assert presets.minimumSizeHint().height() > 2 * one_line
    assert all(presets.rect().contains(presets.button(key).geometry()) for key, _, _ in CHOICES)


def test_one_preset_is_pressed_also_after_a_second_click(qtbot: QtBot) -> None:
    presets = Presets(CHOICES, "Try")
    qtbot.addWidget(presets)
    chosen: list[str] = []
    presets.chosen.connect(chosen.append)

    for key in ("2", "2", "5"):
        presets.button(key).click()

    assert chosen == ["2", "2", "5"]
    assert [key for key, _, _ in CHOICES if presets.button(key).isChecked()] == ["5"]


def test_a_table_keeps_its_place_when_its_rows_are_replaced(qtbot: QtBot, appearance: Appearance) -> None:
    table = ValueTable("Rows", (Column("Name", 80, most=400), Column("Value", 80, figures=True)))
    qtbot.addWidget(table)
    table.resize(300, 120)
    table.show()
    rows = [Row((f"row {number}", str(number))) for number in range(50)]
    table.set_rows(rows)
    table.setCurrentItem(table.topLevelItem(30))
    place = table.verticalScrollBar().value()
    assert place > 0

    table.set_rows([Row((row.cells[0], "new")) for row in rows])

    assert table.verticalScrollBar().value() == place
    assert table.currentItem().text(0) == "row 30"
    assert table.columnWidth(0) > 180  # what is left over goes to the column that may grow


def test_a_fitted_table_shows_all_its_rows(qtbot: QtBot, appearance: Appearance) -> None:
    table = ValueTable("Rows", (Column("Name", 80),), fitted=True)
    qtbot.addWidget(table)
    table.show()
    table.set_rows([Row((f"row {number}",)) for number in range(6)])

    assert table.viewport().rect().contains(table.visualItemRect(table.topLevelItem(5)))


def test_shares_are_named_where_there_is_room(qtbot: QtBot, appearance: Appearance) -> None:
    bar = ShareBar("Shares")
    qtbot.addWidget(bar)
    bar.resize(400, 40)
    bar.set_shares(
        [Share("half", "norm", 500), Share("rest", "head", 499), Share("dust", "head", 1), Share("none", "norm", 0)]
    )

    assert painted_words(bar) == ["half 50.0 %", "rest 49.9 %"]
    assert bar.accessibleDescription() == "half 50.0 %, rest 49.9 %, dust 0.1 %"


def test_figures_say_what_they_count(qtbot: QtBot) -> None:
    row = FigureRow(("parameters", "bytes"))
    qtbot.addWidget(row)
    row.set_figures(("12", "48"))

    assert row.texts == ("12", "48")


def test_a_form_tells_all_values_and_who_has_the_focus(qtbot: QtBot) -> None:
    form = SettingsForm(
        [Setting("size", 3, "A size"), Setting("bias", False, "A bias"), Setting("rate", 0.5, "A rate")], 2
    )
    qtbot.addWidget(form)
    form.show()
    told: list[dict[str, object]] = []
    form.changed.connect(told.append)
    form.switches["bias"].button("True").click()
    qtbot.keyClicks(form.fields["size"].edit, "4")

    assert told[0] == {"size": 3, "rate": 0.5, "bias": True}
    assert told[1]["size"] in (34, 43)  # where the cursor was

    form.refuse("bias", "Not now.")
    assert form.message == "Not now."
    form.set_values({"size": 1, "bias": False, "rate": 0.25})
    assert form.message == ""
    assert form.values == {"size": 1, "rate": 0.25, "bias": False}
