"""The tables of all panes that have one: every row is as long as the header, and numbers are the computed ones."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from user import User

from gptviz.analysis.table import write_csv
from gptviz.panes import PANES

WITH_TABLES = [pane.name for pane in PANES if pane.has_table]
pytestmark = [pytest.mark.without_panes("flow", "attention", "layer-norm"), pytest.mark.without_pauses]


def rows_of(pane: Any) -> tuple[list[str], list[list[str]]]:
    table, file = pane.as_table(), io.BytesIO()
    assert table is not None, pane.name
    assert write_csv(table, file) == table.count
    header, *rows = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert {len(row) for row in rows} == {len(header)}
    return header, rows


def test_every_pane_with_a_table_has_its_numbers(user: User, qtbot: QtBot) -> None:
    session = user.window.session
    session.loop.step()
    user.waits()
    session.loop.step()
    user.waits()
    session.comparing.pin()
    session.travel.show(0)
    user.waits()
    session.select_stage("trf_blocks.1.shortcut2", feature=3)
    tables = {}
    for name in WITH_TABLES:
        user.window.show_pane(name)
        pane = user.window.docks[name].pane
        qtbot.waitUntil(lambda pane=pane: session.settled and pane.as_table() is not None)
        tables[name] = rows_of(pane)

    trace = user.state.trace
    assert trace is not None
    assert len(WITH_TABLES) == 10
    assert [row[1] for row in tables["shape-trace"][1]] == list(trace.names)
    assert len(tables["heads"][1]) == 4
    assert len(tables["compare"][1]) == 55
    made = {row[0]: row for row in tables["arithmetic"][1]}
    value = trace.array("trf_blocks.1.shortcut2")[0, -1, 3]
    assert np.float32(made["the model's number"][4]) == value
    parts = {row[0]: float(row[4]) for row in tables["where-from"][1]}
    assert parts["sum of the parts"] == pytest.approx(parts["as the model computed it"], abs=1e-4)
    assert [int(row[1]) for row in tables["generation"][1]] == [s.chosen.id for s in user.state.generation.steps]
    last = [row for row in tables["lens"][1] if row[1] == "3" and row[3] == "1"][-1]
    assert int(last[4]) == int(trace.array("next")[0, 0])
    assert [float(row[1]) for row in tables["loop"][1]] == [step.ms for step in user.state.generation.steps]
    assert [float(row[1]) for row in tables["checks"][1] if row[1]] == [
        check.max_error for check in user.state.checks.results if check.max_error is not None
    ]


def test_panes_without_a_table_have_none(user: User) -> None:
    without = [pane.name for pane in PANES if not pane.has_table]

    assert [user.window.docks[name].pane.as_table() for name in without] == [None] * len(without)


def test_the_lab_of_parameters_has_one(user: User, qtbot: QtBot) -> None:
    user.window.show_pane("lab-parameters")
    pane = user.window.bench.docks["lab-parameters"].pane
    qtbot.waitUntil(lambda: pane.as_table() is not None)

    _, rows = rows_of(pane)

    assert sum(int(row[6]) for row in rows) == 163_009_536
