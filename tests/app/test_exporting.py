"""Exporting from the window: the menu, what it means, the file dialog, and what other programs read from the files."""

import csv
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from generated import steps
from menus import items, menu
from pypdf import PdfReader
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot
from user import CONTROL, SHIFT, User

from gptviz.widgets.theme import LIGHT

pytestmark = pytest.mark.without_panes("flow", "heads", "arithmetic", "where-from", "loop", "lens", "compare")
Saves = Callable[[str, Path], str]


@pytest.fixture
def saves(user: User, qtbot: QtBot) -> Saves:
    """A function that chooses an item of File → Export and types where to; it returns the proposed name."""

    def saves(item: str, path: Path) -> str:
        exporting = user.window.actions_.exporting
        exporting.menu.aboutToShow.emit()
        action = next(action for text, action in items(exporting.menu).items() if item in text)
        action.trigger()
        return _answers(user, qtbot, path)

    return saves


def _answers(user: User, qtbot: QtBot, path: Path) -> str:
    qtbot.waitUntil(lambda: user.window.actions_.exporting.dialog is not None)
    dialog = user.window.actions_.exporting.dialog
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    proposed = field.text()
    field.setText(str(path))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: user.window.actions_.exporting.dialog is None)
    with qtbot.waitActive(user.window):
        user.window.activateWindow()
    user.waits()
    return proposed


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def test_the_pane_that_was_used_last_is_named_in_the_menu_and_saved_at_twice_its_size(
    user: User, saves: Saves, tmp_path: Path
) -> None:
    user.brings_up("attention")
    pane = user.window.docks["attention"].pane
    user.clicks(pane.map, QPoint(150, 150))
    size = pane.size()

    proposed = saves("Attention as PNG", tmp_path / "picture.png")

    image = QImage(str(tmp_path / "picture.png"))
    assert proposed == "attention-hello-i-am.png"
    assert image.size() == 2 * size
    assert f"{image.width():,} × {image.height():,} px" in user.window.status.activity.text()
    assert str(tmp_path / "picture.png") in user.window.status.activity.text()


def test_a_shortcut_asks_too(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    user.clicks(user.window.docks["next-token"].pane.bars, QPoint(60, 60))
    user.waits()

    user.presses(Qt.Key.Key_T, CONTROL | SHIFT)
    proposed = _answers(user, qtbot, tmp_path / "ranking")  # the suffix is added

    assert proposed == "next-token-hello-i-am.csv"
    assert (tmp_path / "ranking.csv").exists()


def test_a_tab_and_a_title_offer_to_save_their_pane(user: User, qtbot: QtBot) -> None:
    title = user.window.docks["next-token"].titleBarWidget()
    at = title.mapTo(user.window, title.rect().center())

    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, user.window.mapToGlobal(at))
    QApplication.sendEvent(user.window, event)

    popup = QApplication.activePopupWidget()
    assert isinstance(popup, QMenu)
    assert [text for text in items(popup) if "Next token" in text] == [
        "Next token as PNG…",
        "Next token as SVG…",
        "Next token as CSV…",
    ]
    popup.close()


def test_a_drawing_keeps_texts_as_texts_and_other_programs_draw_it(user: User, saves: Saves, tmp_path: Path) -> None:
    user.brings_up("stage")
    user.clicks(user.window.docks["next-token"].pane.bars, QPoint(200, 8))

    saves("as SVG", tmp_path / "drawing.svg")

    from xml.etree import ElementTree

    root = ElementTree.parse(tmp_path / "drawing.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    ranked = user.window.docks["next-token"].pane.bars
    assert {ranked.row(place).value for place in range(5)} <= set(texts)
    renderer = QSvgRenderer(str(tmp_path / "drawing.svg"))
    assert renderer.isValid()
    assert renderer.defaultSize() == user.window.docks["next-token"].pane.size()
    drawn = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    painter = QPainter(drawn)
    renderer.render(painter)
    painter.end()
    grounds = [drawn.pixelColor(x, y).name() for x in (1, drawn.width() - 2) for y in (1, drawn.height() - 2)]
    assert grounds == [LIGHT.panel.lower()] * 4  # it knows no clip paths, and must not draw them


def test_a_table_has_the_numbers_as_they_were_computed(user: User, saves: Saves, tmp_path: Path) -> None:
    user.clicks(user.window.docks["next-token"].pane.bars, QPoint(60, 8))

    saves("Next token as CSV", tmp_path / "ranking.csv")

    header, rows = read_csv(tmp_path / "ranking.csv")
    assert user.state.trace is not None
    logits = user.state.trace.array("last")[0]
    assert header == ["rank", "token ID", "token", "probability", "logit"]
    assert len(rows) == user.state.options.top_k
    assert [np.float32(row[4]) for row in rows] == [logits[int(row[1])] for row in rows]
    assert [row[2] for row in rows] == [user.window.session.token_text(int(row[1])) for row in rows]


def test_the_selected_stage_goes_into_files_bit_for_bit(user: User, saves: Saves, tmp_path: Path) -> None:
    user.window.session.select_stage("trf_blocks.1.att.masked", head=1)
    user.window.show_pane("stage")
    user.waits()
    user.window.actions_.exporting._used = user.window.docks["stage"]
    trace = user.state.trace
    assert trace is not None
    whole = trace["trf_blocks.1.att.masked"].numpy()

    saves("as CSV", tmp_path / "matrix.csv")
    saves("as .npy", tmp_path / "tensor.npy")
    saves("safetensors", tmp_path / "all.safetensors")

    _, rows = read_csv(tmp_path / "matrix.csv")
    matrix = np.array([[float(cell) for cell in row[3:]] for row in rows], dtype=np.float32)
    assert matrix.tobytes() == whole[0, 1].tobytes()
    loaded = np.load(tmp_path / "tensor.npy")
    assert (loaded.dtype, loaded.shape, loaded.tobytes()) == (np.float32, whole.shape, whole.tobytes())
    tensors = safetensors.numpy.load_file(tmp_path / "all.safetensors")
    assert list(tensors) == sorted(trace.names) or set(tensors) == set(trace.names)
    for name in trace.names:
        assert tensors[name].tobytes() == trace[name].numpy().tobytes(), name


def test_slides_come_in_the_order_of_execution(user: User, saves: Saves, qtbot: QtBot, tmp_path: Path) -> None:
    user.presses(Qt.Key.Key_G, CONTROL)
    user.waits()

    saves("Slides as PDF", tmp_path / "slides.pdf")

    reader = PdfReader(tmp_path / "slides.pdf")
    pages = [" ".join(page.extract_text().split()) for page in reader.pages]
    trace = user.state.trace
    assert trace is not None
    assert len(pages) == 1 + len(trace) + 1 + 1
    assert "Every number on these slides was computed by this run" in pages[0]
    places = [page.split(" of 55")[0].rsplit("stage ", 1)[-1] for page in pages[1:-2]]
    assert places == [str(place) for place in range(1, 56)]
    weights = pages[1 + trace.names.index("trf_blocks.0.att.weights")]
    parts = ("Block 1 · attention · weights", "stage 16 of 55", "(1, 2, 4, 4)", "out weights", "min 0")
    assert [weights.find(part) for part in parts] == sorted(weights.find(part) for part in parts)
    assert all(part in weights for part in parts)
    assert "likeliest of 50,257 tokens" in pages[-2]
    assert "the token that was appended" in pages[-1]
    titles = [entry if isinstance(entry, list) else entry["/Title"] for entry in reader.outline]
    assert titles[:2] == ["The run", "Token IDs"]
    assert titles[titles.index("Block 1") + 1][10]["/Title"] == "attention · weights"
    assert reader.get_destination_page_number(titles[titles.index("Block 1") + 1][10]) == 16
    assert titles[-2:] == ["Likeliest next tokens", "Generated tokens"]
    assert "58 pages" in user.window.status.activity.text()


def test_the_slide_of_the_tokens_says_how_each_was_chosen_whatever_is_set_for_the_next_ones(
    user: User, saves: Saves, tmp_path: Path
) -> None:
    session = user.window.session

    def last_page(name: str) -> str:
        saves("Slides as PDF", tmp_path / name)
        return " ".join(PdfReader(tmp_path / name).pages[-1].extract_text().split())

    steps(user, 2)
    session.loop.set_decoding(temperature=0.5, seed=7)
    assert "Chosen by: greedy, deterministic. Hello" in last_page("greedy.pdf")

    steps(user, 1)
    session.travel.pick(user.state.generation.steps[2].candidates[3])
    user.waits()
    steps(user, 1)
    for temperature in (0.6, 0.7):  # more of them would leave no room for the tokens
        session.loop.set_decoding(temperature=temperature)
        steps(user, 1)
    session.loop.set_decoding(temperature=0)

    chosen_by = (
        "greedy, deterministic (steps 1–2); a person (step 3); T 0.5 · seed 7 (step 4); 2 other ways (steps 5–6)"
    )
    assert f"Chosen by: {chosen_by}. Hello" in last_page("mixed.pdf")


def test_escape_stops_slides_and_leaves_nothing(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    pages = []
    user.window.session.exporting.page_wanted.connect(lambda *_: pages.append(1))
    user.window.actions_.exporting.write("pdf", tmp_path / "slides.pdf", user.window.docks["stage"])
    qtbot.waitUntil(lambda: len(pages) >= 3)

    user.presses(Qt.Key.Key_Escape)
    user.waits()

    assert list(tmp_path.iterdir()) == []
    assert "stopped" in user.window.status.activity.text()


def test_another_run_takes_the_place_of_slides(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    pages = []
    user.window.session.exporting.page_wanted.connect(lambda *_: pages.append(1))
    user.window.actions_.exporting.write("pdf", tmp_path / "slides.pdf", user.window.docks["stage"])
    qtbot.waitUntil(lambda: len(pages) >= 3)

    user.runs("Another text")

    assert user.state.trace is not None
    assert user.state.trace.tokens == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["png", "npy"])
def test_what_can_not_be_written_is_said_and_what_was_there_stays(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "old").write_text("what was there")
    monkeypatch.setattr(os, "fsync", full)

    user.window.session.select_stage("trf_blocks.0.att.weights")
    user.window.actions_.exporting.write(kind, tmp_path / "old", user.window.docks["stage"])
    user.waits()

    assert "is full" in str(user.state.message)
    assert "Make room" in str(user.state.message)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "what was there")]


def test_a_folder_is_no_target(user: User, tmp_path: Path) -> None:
    user.window.session.select_stage("trf_blocks.0.att.weights")
    user.window.actions_.exporting.write("npy", tmp_path, user.window.docks["stage"])
    user.waits()

    assert "is a folder" in str(user.state.message)


def test_without_a_pass_there_is_nothing_to_export(open_window: Any, qtbot: QtBot) -> None:
    window = open_window(closed=("flow", "heads"))

    window.actions_.exporting.actions["pdf"].trigger()

    assert str(window.session.state.message) == "There is nothing to export yet: no pass has run. Press Run first"
    assert window.actions_.exporting.dialog is None


@pytest.mark.parametrize("text", ["<b>&amp;</b>", "שלום עולם", "a 🙂 b", "two\nlines", "nul \x00 inside"])
def test_odd_prompts_are_text_in_every_file(user: User, tmp_path: Path, text: str) -> None:
    user.runs(text)
    write = user.window.actions_.exporting.write

    write("svg", tmp_path / "pane.svg", user.window.docks["stage"])
    user.waits()
    user.window.session.select_stage("ids")
    from gptviz.app.export_pane import write_table

    write_table(user.window.session, None, tmp_path / "ids.csv")
    user.waits()

    assert QSvgRenderer(str(tmp_path / "pane.svg")).isValid()
    _, rows = read_csv(tmp_path / "ids.csv")
    assert [row[2] for row in rows] == [piece.text for piece in user.state.trace_pieces]
    assert user.state.message is None


def test_the_menu_is_in_the_file_menu(user: User) -> None:
    texts = [action.text() for action in menu(user.window, "File").actions()]

    assert "Export" in texts
