"""``gptviz export``: one file, decided by its suffix; and one line that says what to change."""

import csv
import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader
from PySide6.QtWidgets import QApplication
from shell import HELLO, TINY, Shell


def test_the_suffix_decides(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = tmp_path / "weights.npy"

    said = shell.succeeds("export", str(out), HELLO, *TINY, "--stage", "trf_blocks.1.att.weights")

    assert "float32 (1, 2, 4, 4)" in said
    assert np.load(out).shape == (1, 2, 4, 4)


def test_a_small_file_is_told_in_bytes(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    said = shell.succeeds("export", str(tmp_path / "ids.npy"), "Hi", *TINY, "--stage", "ids")

    assert said.startswith("ids as .npy: int64 (1, 1), 136 bytes, written to ")


def test_a_link_into_a_folder_that_is_gone_names_that_folder(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "ids.csv").symlink_to(tmp_path / "gone" / "ids.csv")

    said = shell.fails("export", str(tmp_path / "ids.csv"), "Hi", *TINY, "--stage", "ids")

    assert f"there is no folder {tmp_path / 'gone'}. Make it first" in said


def test_slides_with_generated_tokens(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = tmp_path / "slides.pdf"

    said = shell.succeeds("export", str(out), "Hi\nyou", *TINY, "--max-new-tokens", "3", "--theme", "dark")

    assert "58 pages" in said
    reader = PdfReader(out)
    assert len(reader.pages) == 1 + 55 + 1 + 1
    assert reader.metadata is not None
    assert str(reader.metadata.title).startswith("Hi⏎you · tiny")
    assert float(reader.pages[0].mediabox.width) / float(reader.pages[0].mediabox.height) == pytest.approx(16 / 9)
    assert "Steps 1 to 3 of 3" in " ".join(reader.pages[-1].extract_text().split())


def test_a_pane_as_a_drawing(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = tmp_path / "attention.svg"

    said = shell.succeeds("export", str(out), HELLO, *TINY, "--pane", "attention", "--size", "1280x800")

    assert "heatmaps as images in it" in said
    assert out.read_text(encoding="utf-8").count(">Hello</text>") >= 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.txt"], "must end in one of .pdf"),
        (["x.png"], "say of which with --pane NAME"),
        (["x.npy"], "say of which with --stage NAME"),
        (["x.csv"], "--pane NAME or --stage NAME"),
        (["x.pdf", "--stage", "ids"], "leave out --stage"),
        (["x.npy", "--stage", "ids", "--pane", "flow"], "leave out --pane"),
        (["x.pdf", "--size", "800x600"], ".pdf is slides of all stages: leave out --size"),
        (["x.csv", "--pane", "heads", "--theme", "dark"], "without colours: leave out --theme"),
        (["x.pdf", "--max-new-tokens", "-1"], "must be at least 0"),
        (["missing/x.pdf"], "there is no folder"),
        (["folder.pdf"], "is a folder"),
        (["x" * 300 + ".pdf"], "there can't be a file of that name"),
        ([""], "OUT must end in one of"),
    ],
)
def test_what_can_not_be_is_said_in_a_line(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.pdf").mkdir()

    assert words in shell.fails("export", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.pdf"]


def test_a_stage_that_is_none_is_named(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    said = shell.fails("export", str(tmp_path / "x.npy"), HELLO, *TINY, "--stage", "nonsense")

    assert said == "gptviz: there is no stage 'nonsense': 'gptviz trace' lists them"


def test_a_misspelt_stage_meets_those_that_are_like_it(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    said = shell.fails("export", str(tmp_path / "x.npy"), HELLO, *TINY, "--stage", "trf_blocks.1.att.weigths")

    assert "did you mean trf_blocks.1.att.weights or " in said


def test_a_table_says_which_head_it_is_of(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    """A pane without a table has the numbers of the stage that is selected in it, as in the window."""
    weights, out = "trf_blocks.1.att.weights", tmp_path / "weights.csv"
    shell.succeeds("export", str(tmp_path / "weights.npy"), HELLO, *TINY, "--stage", weights)

    for options in (("--stage", weights), ("--pane", "attention", "--stage", weights)):
        said = shell.succeeds("export", str(out), HELLO, *TINY, *options)

        assert said.startswith(f"{weights}, head 1 as CSV: 4 rows of 7 columns")
        with out.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["position", "token ID", "token", *(f"head 1 key {key}" for key in range(4))]
        numbers = np.array([row[3:] for row in rows], dtype=np.float32)
        assert numbers.tobytes() == np.load(tmp_path / "weights.npy")[0, 0].tobytes()
        out.unlink()


@pytest.mark.parametrize(
    "words", [("export", "{}.pdf"), ("export", "{}.npy", "--stage", "ids"), ("shot", "{}.png"), ("record", "{}.gptviz")]
)
def test_a_folder_that_may_not_be_entered_is_named(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Whoever runs the tests may be root, who may enter all."""
    stat, closed = os.stat, str(tmp_path / "closed" / "x")

    def refuses(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(closed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refuses)

    said = shell.fails(*(word.format(closed) for word in words), *TINY)

    assert said == f"gptviz: the folder {tmp_path / 'closed'} may not be entered: choose another one"
