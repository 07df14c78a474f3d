"""Settings and names that are made to do harm, or only unusual."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, logits, nanogpt, random_model

from gptviz.checkpoints import CheckpointError, load
from gptviz.checkpoints.door import describe


def endless() -> list[Any]:
    """A few bytes in a pickle, and 2¹⁰⁰ numbers if somebody writes it out."""
    value: list[Any] = [0]
    for _ in range(100):
        value = [value, value]
    return value


@pytest.mark.parametrize("setting", ["n_layer", "n_head", "dropout", "vocab_size", "bias"])
def test_a_setting_that_can_not_be_written_out_is_told_by_its_kind(tmp_path: Path, setting: str) -> None:
    path = nanogpt(tmp_path / "ckpt.pt", random_model(SMALL), **{setting: endless()})

    with pytest.raises(CheckpointError, match="‹list›"):
        load(path)


def test_what_else_is_in_the_file_does_not_matter(tmp_path: Path) -> None:
    path = nanogpt(tmp_path / "ckpt.pt", random_model(SMALL), extra=endless(), more=torch.eye(3).to_sparse())

    assert load(path).format == "nanoGPT"


NAMES = ["new\nline", "tab\tstop", "bell\a", "\x1b[31mred", "<b>bold", "ünï 漢字 🙂", "%s{0}", "~draft", "-x", "' \""]


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not have")
@pytest.mark.parametrize("name", NAMES)
def test_any_name_opens_and_is_shown_on_one_line(tmp_path: Path, name: str) -> None:
    model = random_model(SMALL)
    checkpoint = load(hugging_face(tmp_path / name, model))
    assert torch.equal(logits(checkpoint.model), logits(model))
    assert checkpoint.name.isprintable()
    assert len(checkpoint.name) == len(name)

    (tmp_path / f"{name}.txt").write_text("no checkpoint")
    with pytest.raises(CheckpointError, match="is a text file and no checkpoint") as refused:
        load(tmp_path / f"{name}.txt")
    assert str(refused.value).isprintable()


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not have")
def test_a_name_that_only_looks_like_a_home_directory_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hugging_face(tmp_path / "~nobody-of-that-name", random_model(SMALL))
    monkeypatch.chdir(tmp_path)

    assert load("~nobody-of-that-name").name == "~nobody-of-that-name"


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text")
@pytest.mark.parametrize("read", [load, describe])
def test_a_name_that_is_no_text_is_told(tmp_path: Path, read: Any) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    hugging_face(folder, random_model(SMALL))

    with pytest.raises(CheckpointError, match="is no valid UTF-8") as refused:
        read(folder)
    assert str(refused.value).isprintable()
