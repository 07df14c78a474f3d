"""``gptviz shot``: the window after a run as a picture."""

import errno
import os
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from shell import HELLO, TINY, Shell, run


def colours(picture: QImage) -> set[str]:
    points = ((x, y) for x in range(0, picture.width(), 9) for y in range(0, picture.height(), 9))
    return {picture.pixelColor(x, y).name() for x, y in points}


def test_a_shot_needs_no_display_and_has_the_size_that_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "window.png"

    done = run("shot", str(out), HELLO, *TINY, "--size", "1280x800", HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    picture = QImage(str(out))
    assert (picture.width(), picture.height()) == (1280, 800)
    assert len(colours(picture)) > 20
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(("theme", "lightest"), [("light", True), ("dark", False)])
def test_a_shot_has_the_theme_that_is_asked_for(
    shell: Shell, qapp: QApplication, tmp_path: Path, theme: str, lightest: bool
) -> None:
    out = tmp_path / "window.png"

    shell.succeeds("shot", str(out), HELLO, *TINY, "--theme", theme, "--size", "900x700")

    assert (QColor(QImage(str(out)).pixelColor(2, 690)).lightness() > 128) is lightest


def test_a_shot_of_one_pane_is_smaller_than_the_window(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = tmp_path / "pane.png"

    shell.succeeds("shot", str(out), HELLO, *TINY, "--pane", "next-token", "--size", "1280x800")

    picture = QImage(str(out))
    assert 100 < picture.width() < 800
    assert len(colours(picture)) > 5


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--pane", "nothing"), "there is no pane 'nothing': choose one of shape-trace, "),
        (("",), "There is nothing to run: the prompt is empty. Type at least one character"),
        ((" the" * 65,), "65 tokens are more than the model's context of 64. Shorten it by 1 token"),
    ],
)
def test_a_shot_that_cannot_be_made_says_why(
    shell: Shell, qapp: QApplication, tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    out = tmp_path / "window.png"

    assert reason in shell.fails("shot", str(out), *words, *TINY)
    assert not out.exists()


def test_a_shot_that_cannot_be_written_says_so(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()

    assert "folder.png can't be written" in shell.fails("shot", str(tmp_path / "folder.png"), HELLO, *TINY)


def test_a_full_disk_leaves_the_old_picture(
    shell: Shell, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old.png").write_text("what was there")

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = shell.fails("shot", str(tmp_path / "old.png"), HELLO, *TINY)

    assert f"old.png can't be written: the disk of {tmp_path} is full. Make room there" in said
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.png", "what was there")]
