"""What is exported is the present run and what was asked for, also if something else happens meanwhile."""

import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pypdf import PageObject, PdfReader
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot
from user import User

from gptviz.analysis import stage_tensor
from gptviz.model import TINY
from gptviz.widgets.picture import png_image

pytestmark = pytest.mark.without_panes("flow", "arithmetic", "where-from", "lens")


def test_a_pane_that_another_tab_covers_comes_to_the_front_and_shows_the_present_run(
    user: User, qtbot: QtBot, tmp_path: Path
) -> None:
    attention = user.window.docks["attention"]
    user.brings_up("attention")
    user.brings_up("stage")
    before = png_image(attention.pane)
    user.runs("Another text")

    user.window.actions_.exporting.write("png", tmp_path / "attention.png", attention)
    qtbot.waitUntil((tmp_path / "attention.png").exists)
    user.waits()

    assert attention.is_in_sight
    written = QImage(str(tmp_path / "attention.png"))
    assert written == png_image(attention.pane)
    assert written != before


def test_a_pane_that_was_never_seen_is_filled_before_it_is_written(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    heads = user.window.docks["heads"]
    assert not heads.is_in_sight

    user.window.actions_.exporting.write("csv", tmp_path / "heads.csv", heads)
    qtbot.waitUntil((tmp_path / "heads.csv").exists)
    user.waits()

    with (tmp_path / "heads.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 2 * 2
    assert user.state.message is None


def test_the_menu_means_the_pane_in_front_of_the_one_that_was_used(user: User) -> None:
    user.brings_up("attention")
    user.clicks(user.window.docks["attention"].pane.map, QPoint(150, 150))
    assert user.window.actions_.exporting.dock.name == "attention"

    user.brings_up("stage")

    assert user.window.actions_.exporting.dock.name == "stage"


def test_files_that_are_asked_for_at_once_are_all_written(user: User, tmp_path: Path) -> None:
    write, stage = user.window.actions_.exporting.write, user.window.docks["stage"]
    user.window.session.select_stage("out_head")

    write("csv", tmp_path / "logits.csv", stage)
    write("png", tmp_path / "stage.png", stage)
    write("svg", tmp_path / "missing" / "stage.svg", stage)
    write("svg", tmp_path / "stage.svg", stage)
    user.waits()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["logits.csv", "stage.png", "stage.svg"]
    assert "there is no folder" in str(user.state.message)


def test_the_stage_is_the_one_that_was_selected_when_the_dialog_came(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    exporting = user.window.actions_.exporting
    user.window.session.select_stage("trf_blocks.0.att.weights")
    exporting.actions["npy"].trigger()
    dialog = exporting.dialog
    assert dialog is not None

    user.window.session.select_stage("trf_blocks.1.norm1")
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    field.setText(str(tmp_path / "weights.npy"))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: exporting.dialog is None)
    user.waits()

    assert user.state.trace is not None
    whole = user.state.trace.array("trf_blocks.0.att.weights")
    assert np.array_equal(np.load(tmp_path / "weights.npy"), whole)


@pytest.mark.parametrize(
    ("pane", "shown"), [("attention", "trf_blocks.1.att.masked"), ("layer-norm", "trf_blocks.1.norm2")]
)
def test_a_pane_that_shows_a_stage_of_its_own_means_that_one(
    user: User, qtbot: QtBot, tmp_path: Path, pane: str, shown: str
) -> None:
    user.window.session.select_stage(shown)
    user.window.session.select_stage("ids")
    user.brings_up(pane)
    exporting = user.window.actions_.exporting

    exporting.ask_for(user.window.docks[pane], user.window.mapToGlobal(QPoint(40, 40)))
    (menu,) = (menu for menu in user.window.findChildren(QMenu) if menu.isVisible())
    assert exporting.actions["csv"].text() == f"{shown} as CSV…"
    menu.close()
    exporting.actions["csv"].trigger()
    dialog = exporting.dialog
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    assert field.text().startswith(shown)
    field.setText(str(tmp_path / "table.csv"))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil((tmp_path / "table.csv").exists)
    user.waits()

    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    trace = user.state.trace
    assert trace is not None
    whole = trace.array(shown)[0]
    matrix = whole[user.state.selection.head] if whole.ndim == 3 else whole
    assert [[np.float32(number) for number in row[3:]] for row in rows] == matrix.tolist()


def test_a_table_says_of_which_sequence_and_head_it_is(user: User, tmp_path: Path) -> None:
    session, stage = user.window.session, user.window.docks["stage"]
    session.set_prompt("Every effort moves you")
    session.add_prompt()
    session.set_prompt("Every day holds a", 1)
    session.run()
    user.waits()
    session.select(row=1)
    trace = user.state.trace
    assert trace is not None
    heads = {}
    for name, head in (("trf_blocks.0.att.queries", 1), ("trf_blocks.0.norm1", 1), ("ids", 0), ("next", 0)):
        session.select_stage(name, head=head)
        user.waits()
        user.window.actions_.exporting.write("csv", tmp_path / f"{name}.csv", stage)
        user.waits()
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            heads[name], *rows = csv.reader(file)
        if name.startswith("trf"):
            whole = trace.array(name)[1, 1] if "queries" in name else trace.array(name)[1]
            assert np.array([row[3:] for row in rows], dtype=np.float32).tobytes() == whole.tobytes()

    split, norm, ids, chosen = heads.values()
    assert split[3:] == [f"sequence 2 head 2 feature {place}" for place in range(16)]
    assert norm[3:] == [f"sequence 2 feature {place}" for place in range(32)]
    assert (ids, chosen) == (["position", "sequence 2 token ID", "token"], ["sequence 2 token ID"])


def test_a_table_has_all_rows_also_of_a_matrix_of_which_a_part_is_on_screen(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_tensor, "MOST_VALUES", 2 * 50_257)
    user.window.session.select_stage("out_head")
    user.waits()

    user.window.actions_.exporting.write("csv", tmp_path / "logits.csv", user.window.docks["stage"])
    user.waits()

    with (tmp_path / "logits.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert user.state.trace is not None
    logits = user.state.trace.array("out_head")[0]
    assert [int(row[0]) for row in rows] == [0, 1, 2, 3]
    assert np.array([row[3:] for row in rows], dtype=np.float32).tobytes() == logits.tobytes()


def test_slides_that_another_run_stops_are_told_of(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    pages: list[int] = []
    user.window.session.exporting.page_wanted.connect(lambda *_: pages.append(1))
    user.window.actions_.exporting.write("pdf", tmp_path / "slides.pdf", user.window.docks["stage"])
    qtbot.waitUntil(lambda: len(pages) >= 3)

    user.runs("Another text")

    assert list(tmp_path.iterdir()) == []
    assert "Slides as PDF: stopped, and no file was written" in user.window.status.activity.text()


@pytest.mark.parametrize(
    ("pane", "remedy"), [("generation", "Generate a token"), ("loop", "Generate a token"), ("compare", "Pin a run")]
)
def test_an_empty_table_says_how_to_fill_it(user: User, tmp_path: Path, pane: str, remedy: str, qtbot: QtBot) -> None:
    user.window.actions_.exporting.write("csv", tmp_path / "table.csv", user.window.docks[pane])
    qtbot.waitUntil(lambda: user.state.message is not None)

    assert remedy in str(user.state.message)


def test_all_pages_have_the_look_of_the_first_one(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    user.window.session.use_model(replace(TINY, n_layers=1), 123)  # has pages of all kinds
    user.waits()
    write, stage = user.window.actions_.exporting.write, user.window.docks["stage"]
    write("pdf", tmp_path / "quiet.pdf", stage)
    user.waits()
    pages: list[int] = []
    user.window.session.exporting.page_wanted.connect(lambda *_: pages.append(1))

    write("pdf", tmp_path / "slides.pdf", stage)
    qtbot.waitUntil(lambda: len(pages) >= 4)
    user.window.appearance.set_scheme("dark")
    user.window.appearance.set_lecture(True)
    user.waits()
    user.window.appearance.set_scheme("light")

    quiet, changed = (PdfReader(tmp_path / name) for name in ("quiet.pdf", "slides.pdf"))
    assert len(quiet.pages) == len(changed.pages)
    for before, after in zip(quiet.pages, changed.pages, strict=True):
        assert _colours(before) == _colours(after)
        assert before.extract_text() == after.extract_text()


def _colours(page: PageObject) -> Counter[bytes]:
    """Count the colours of texts."""
    contents = page.get_contents()
    assert contents is not None
    colours, present = Counter[bytes](), b""
    for found in re.finditer(rb"([\d.]+ [\d.]+ [\d.]+) scn\b|\bBT\b", contents.get_data()):
        if found[1] is None:
            colours[present] += 1
        else:
            present = found[1]
    return colours
