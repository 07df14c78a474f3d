"""``gptviz record``, ``gptviz open`` and ``gptviz shot --run``."""

import os
import re
import signal
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, random_model
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from safetensors import safe_open
from shell import HELLO, TINY, Shell, run

from gptviz.cli import main

HELLO_IDS = [15496, 11, 314, 716]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_recorded_generation_says_what_is_in_it(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = tmp_path / "run.gptviz"
    generated = shell.json("generate", HELLO, "--max-new-tokens", "3", *TINY)

    said = shell.succeeds("record", str(out), HELLO, "--max-new-tokens", "3", *TINY)
    found = shell.json("open", str(out))

    assert said.startswith("Saved run.gptviz, 3.")
    assert said.endswith(" MB: all 2 blocks, 2 of 2 other passes\n")
    assert found["format"] == 1
    assert found["bytes"] == out.stat().st_size
    assert found["prompts"] == [HELLO]
    assert found["rows"] == [generated["ids"][:-1]]
    assert (found["model"]["title"], found["model"]["seed"], found["model"]["n_layers"]) == ("tiny", 123, 2)
    assert found["branches"] == [
        {
            "name": "Branch 1",
            "ids": generated["ids"][4:],
            "text": generated["text"].removeprefix(HELLO),
        }
    ]
    assert [(one["tokens"], one["blocks"]) for one in found["passes"]] == [(6, [0, 1]), (4, [0, 1]), (5, [0, 1])]
    assert all(check["ok"] for check in found["checks"])
    with safe_open(str(out), framework="pt") as file:
        assert file.get_tensor("passes.1.ids").tolist() == [HELLO_IDS]
        assert file.get_slice("passes.0.trf_blocks.1.att.weights").get_shape() == [1, 2, 6, 6]


def test_record_answers_in_json_and_adds_the_suffix(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    options = ("--temperature", "0.8", "--top-k", "40", "--sample-seed", "7", "--max-new-tokens", "1")

    found = shell.json("record", str(tmp_path / "run"), HELLO, *options, *TINY)

    assert found["decoding"] == {"temperature": 0.8, "top_k": 40, "top_p": 1.0, "seed": 7}
    assert names(tmp_path) == ["run.gptviz"]


def test_a_run_opens_in_another_process_where_its_checkpoint_is_gone(
    shell: Shell, qapp: QApplication, tmp_path: Path
) -> None:
    weights = hugging_face(tmp_path / "gpt2", random_model(SMALL))
    out, here, there = (str(tmp_path / name) for name in ("run.gptviz", "a.png", "b.png"))
    words = ("--weights", str(weights), "--stage", "trf_blocks.1.att.weights", "--pane", "attention")
    shell.succeeds("record", out, "0 1 2", "--weights", str(weights))
    shell.succeeds("shot", here, "0 1 2", *words)
    for file in (tmp_path / "gpt2").iterdir():
        file.unlink()

    done = run("shot", there, "--run", out, *words[2:], HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))

    assert (done.returncode, done.stderr) == (0, "")
    assert QImage(there) == QImage(here)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-new-tokens", "-1"), "--max-new-tokens must be at least 0, but is -1"),
        (("--budget", "0"), "--budget is a number of megabytes above 0, but is 0"),
        (("--budget", "nan"), "--budget is a number of megabytes above 0, but is nan"),
        (("--budget", "0.01"), "and the budget is 0.01 MB. Choose a budget of 1 MB or more"),
        (("--temperature", "-1"), "the temperature must be a finite number of at least 0"),
        (("--top-k", "99999"), "--top-k is 99999, but the vocabulary has 50257 tokens"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    shell: Shell, qapp: QApplication, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in shell.fails("record", str(tmp_path / "run.gptviz"), HELLO, *TINY, *words)
    assert names(tmp_path) == []


def test_places_that_cannot_be_written_to_are_refused_before_anything_runs(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "notes.txt").write_text("no run")
    (tmp_path / "folder.gptviz").mkdir()
    for out, said in (
        ("nowhere/run.gptviz", "there is no folder"),
        ("file/run.gptviz", "there is no folder"),
        ("folder", "folder.gptviz is a folder. Add a name for the file"),
        ("folder.gptviz", "folder.gptviz is a folder: add a name for the file"),
        ("run/", "run/ is a folder: add a name for the file"),
        ("notes.txt", "notes.txt is there and no recorded run: choose another name"),
        ("a" * 300, "is no name for a file: choose another one"),
        ("/dev/full", "full is a device and no file"),
    ):
        assert said in shell.fails("record", f"{tmp_path}/{out}" if out[0] != "/" else out, HELLO, *TINY)
    assert (tmp_path / "notes.txt").read_text() == "no run"


def test_a_text_in_place_of_the_file_is_no_name_for_a_file(shell: Shell, tmp_path: Path) -> None:
    assert "gptviz record run.gptviz 'Hello, I am'" in shell.fails("record", HELLO, *TINY)
    assert "the file has no name" in shell.fails("record", "", HELLO, *TINY)


def test_the_text_may_come_first(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    shell.succeeds("record", HELLO, str(tmp_path / "run.gptviz"), *TINY)

    assert shell.json("open", str(tmp_path / "run.gptviz"))["prompts"] == [HELLO]


def test_a_checkpoint_that_does_not_tell_its_heads_says_which_option_does(
    shell: Shell, qapp: QApplication, tmp_path: Path
) -> None:
    weights = tmp_path / "model.pth"
    torch.save(random_model(SMALL).state_dict(), weights)

    said = shell.fails("record", str(tmp_path / "run"), "0 1 2", "--weights", str(weights))
    assert "can't tell its heads: add --heads " in said

    heads = ("--heads", str(SMALL.n_heads), "--budget", "1e12")
    shell.succeeds("record", str(tmp_path / "run"), "0 1 2", "--weights", str(weights), *heads)


def test_names_are_printed_on_one_line_and_tilde_is_the_home_folder(
    shell: Shell, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    said = shell.succeeds("record", "~/two\nlines.v2", HELLO, *TINY)

    assert said.count("\n") == 1
    assert names(tmp_path) == ["two\nlines.v2"]
    assert shell.json("open", "~/two\nlines.v2")["prompts"] == [HELLO]
    assert "leave out --config" in shell.fails("open", "~/two\nlines.v2", *TINY)
    shell.succeeds("record", "~/two\nlines.v2", HELLO, *TINY)  # a run is replaced, whatever it is called


def test_an_existing_file_is_replaced_by_the_whole_new_one(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "run.gptviz").write_text("something else")

    shell.succeeds("record", str(tmp_path / "run.gptviz"), HELLO, *TINY)

    assert shell.json("open", str(tmp_path / "run.gptviz"))["rows"] == [HELLO_IDS]


def test_what_is_no_run_is_refused(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    weights = hugging_face(tmp_path / "gpt2", random_model(SMALL))
    (tmp_path / "text").write_text("a text that is no run at all")
    picture = str(tmp_path / "a.png")
    for words, said in (
        (("open", str(tmp_path / "nothing"), "--json"), "there is no file"),
        (("open", str(tmp_path / "nothing")), "there is no file"),
        (("open", str(tmp_path)), "is a folder. Choose the file of a run"),
        (("open", str(tmp_path / "text"), "--json"), "text is no recorded run"),
        (("open", str(tmp_path / "text")), "text is no recorded run"),
        (("open", str(next(weights.glob("*.safetensors"))), "--json"), "Open it with File → Open checkpoint"),
        (("shot", picture, "--run", str(tmp_path / "text")), "text is no recorded run"),
        (("shot", picture, "hi", "--run", str(tmp_path / "text")), "leave out a text"),
        (("shot", picture, "--run", str(tmp_path / "text"), *TINY), "leave out --config"),
    ):
        assert said in shell.fails(*words)
    assert not Path(picture).exists()


@pytest.mark.parametrize("cut", [0, 5, 100, -1])
def test_a_file_that_was_cut_is_refused_before_a_window_opens(
    shell: Shell, qapp: QApplication, tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "run.gptviz"
    shell.succeeds("record", str(path), HELLO, *TINY)
    path.write_bytes(path.read_bytes()[:cut])

    said = shell.fails("open", str(path))

    assert re.search(r"run\.gptviz is (empty|no recorded run|damaged)", said)
    assert said == shell.fails("open", str(path), "--json")


def test_a_run_given_as_weights_says_how_to_open_it(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    shell.succeeds("record", str(tmp_path / "run.gptviz"), HELLO, *TINY)

    said = shell.fails("trace", HELLO, "--weights", str(tmp_path / "run.gptviz"))

    assert "run.gptviz is a recorded run and no checkpoint" in said
    assert "'gptviz open'" in said


@pytest.mark.large
def test_a_run_of_the_124m_model_keeps_what_fits(shell: Shell, qapp: QApplication, tmp_path: Path) -> None:
    out = str(tmp_path / "run.gptviz")

    shell.succeeds("record", out, HELLO, "--max-new-tokens", "2", "--budget", "6")
    found = shell.json("open", out)

    assert found["branches"][0]["ids"] == [27018, 24086]  # as the chapter has it
    assert found["bytes"] < 9 * 2**20  # besides the tensors, what was measured: the heads' maps on the probe
    assert len(found["passes"]) == 2
    assert 0 < len(found["passes"][0]["blocks"]) <= 12


def test_ctrl_c_ends_a_recording_and_leaves_nothing(
    tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    listens = Event()
    handle = signal.signal

    def noting(number: int, handler: Any) -> Any:
        before = handle(number, handler)
        listens.set()
        return before

    def press() -> None:
        assert listens.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(signal, "signal", noting)
    Thread(target=press).start()
    status = main(["record", str(tmp_path / "run.gptviz"), HELLO, *TINY, "--max-new-tokens", "50000"])

    assert status == 130
    assert names(tmp_path) == []
