"""``gptviz export``: one file, decided by its suffix; and one line that says what to change."""

import csv
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader
from shell import Shell

import gptviz


def test_the_suffix_decides(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "weights.npy"

    status = shell.run("export", str(out), "Hello, I am", "--config", "tiny", "--stage", "trf_blocks.1.att.weights")

    assert gptviz.__version__
    assert status == 0
    assert np.load(out).shape == (1, 2, 4, 4)


def test_slides_with_generated_tokens(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "slides.pdf"

    status = shell.run("export", str(out), "Hi", "--config", "tiny", "--max-new-tokens", "3", "--theme", "dark")

    assert status == 0
    reader = PdfReader(out)
    assert len(reader.pages) == 1 + 55 + 1 + 1
    assert float(reader.pages[0].mediabox.width) / float(reader.pages[0].mediabox.height) == pytest.approx(16 / 9)
    assert "Steps 1 to 3 of 3" in " ".join(reader.pages[-1].extract_text().split())


@pytest.mark.parametrize("pane", ["shape-trace", "checks", "heads", "lens", "where-from", "arithmetic", "generation"])
def test_panes_with_tables(shell: Shell, tmp_path: Path, pane: str) -> None:
    out = tmp_path / "table.csv"
    options = ["--config", "tiny", "--pane", pane, "--stage", "trf_blocks.1.shortcut2", "--max-new-tokens", "2"]

    status = shell.run("export", str(out), "Hello, I am", *options)

    assert status == 0
    with out.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert rows
    assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.txt"], "must end in one of .pdf"),
        (["x.png"], "say of which with --pane NAME"),
        (["x.npy"], "say of which with --stage NAME"),
        (["x.csv"], "--pane NAME or --stage NAME"),
        (["x.pdf", "--stage", "ids"], "leave out --stage"),
        (["x.npy", "--stage", "ids", "--pane", "flow"], "leave out --pane"),
        (["x.npy", "--stage", "nonsense", "--config", "tiny"], "there is no stage 'nonsense'"),
        (["x.png", "--pane", "nonsense", "--config", "tiny"], "there is no pane 'nonsense'"),
        (["x.csv", "--pane", "flow", "--config", "tiny"], "has no table"),
        (["x.pdf", "--max-new-tokens", "-1"], "must be at least 0"),
        (["missing/x.pdf"], "there is no folder"),
    ],
)
def test_what_can_not_be_is_said_in_a_line(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)

    status = shell.run("export", *arguments)

    assert status == 2
    assert words in shell.error
    assert shell.error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
