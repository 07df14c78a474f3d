"""``--weights`` for every command."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkpoint_writers import SMALL, nanogpt, random_model
from PySide6.QtGui import QImage

from gptviz.cli import main

REAL = Path(__file__).parent / "checkpoints" / "real_writers"
EXPECTED = json.loads((REAL / "expected.json").read_text())
NANOGPT, BOOK = str(REAL / "nanogpt-compiled"), str(REAL / "book-model-and-optimizer")


def output(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


@pytest.fixture
def characters(tmp_path: Path) -> list[str]:
    """The options for a model of 4 characters."""
    (tmp_path / "table.txt").write_text("\\n\n \na\nb\n")
    path = nanogpt(tmp_path / "ckpt.pt", random_model(replace(SMALL, vocab_size=4)))
    return ["--weights", str(path), "--table", str(tmp_path / "table.txt")]


def test_trace_shows_the_checkpoints_numbers_and_says_where_they_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    trace = output(capsys, "trace", "Hello, I am", "--weights", NANOGPT)

    assert (trace["model"]["trained"], trace["model"]["format"]) == (True, "nanoGPT")
    assert (trace["model"]["name"], trace["model"]["tie_weights"]) == ("nanogpt-compiled/ckpt.pt", True)
    for shown, (token, logit) in zip(trace["top"], EXPECTED["nanogpt-compiled"]["last_position_top5"], strict=False):
        assert shown["id"] == token
        assert shown["logit"] == pytest.approx(logit, abs=1e-4)
    assert all(check["ok"] for check in trace["checks"])


def test_generate_gives_the_tokens_of_the_program_that_wrote_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("generate", "Hello, I am", "--max-new-tokens", "8", "--weights", BOOK, "--heads", "2")

    assert output(capsys, *words)["ids"] == EXPECTED["book-model-and-optimizer"]["greedy_8_ids"]


def test_a_missing_number_of_heads_is_asked_for_with_a_proposal(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "trace", "Hello", "--weights", BOOK)

    assert "add --heads N; --heads 2 is likely" in said


def test_tokens_and_parameters_need_no_number_of_heads(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "tokens", "Hello", "--weights", BOOK)["tokens"][0]["id"] == 15496
    count = output(capsys, "params", "--weights", BOOK)
    assert (count["total"], count["tied"]) == (1_615_840, False)


def test_the_parameters_of_a_tied_model_are_counted_once_in_one_of_the_totals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    count = output(capsys, "params", "--weights", NANOGPT)

    assert (count["total_tied"], count["tied"]) == (812_480, True)


def test_a_table_reads_and_writes_characters(capsys: pytest.CaptureFixture[str], characters: list[str]) -> None:
    shown = output(capsys, "tokens", "ab a", *characters)["tokens"]

    assert [(token["id"], token["text"]) for token in shown] == [(2, "a"), (3, "b"), (1, " "), (2, "a")]
    assert output(capsys, "generate", "ab", "--max-new-tokens", "3", *characters)["text"].startswith("ab")


def test_without_a_table_texts_are_bare_ids(capsys: pytest.CaptureFixture[str], characters: list[str]) -> None:
    assert output(capsys, "trace", "0 3", *characters[:2])["tokens"][1]["text"] == "3"
    assert "'ab' is no token ID" in refusal(capsys, "trace", "ab", *characters[:2])


def test_a_character_that_the_table_lacks_is_one_line(
    capsys: pytest.CaptureFixture[str], characters: list[str]
) -> None:
    assert "no token for 'é'" in refusal(capsys, "tokens", "é", *characters)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tokens", "Hi", "--weights", "/no/such/path"], "/no/such/path does not exist"),
        (["params", "--weights", __file__], "is a text file and no checkpoint"),
        (["trace", "Hi", "--weights", NANOGPT, "--config", "tiny"], "leave them out with --weights"),
        (["trace", "Hi", "--weights", NANOGPT, "--seed", "1"], "leave them out with --weights"),
        (["trace", "Hi", "--heads", "2"], "--heads belongs to a checkpoint"),
        (["trace", "Hi", "--table", "t.txt"], "--table belongs to a checkpoint"),
        (["trace", "Hi", "--weights", BOOK, "--heads", "3"], "16 features can't be dealt out to 3 heads"),
        (["tokens", "Hi", "--weights", NANOGPT, "--table", "/no/such/table"], "is no file"),
        (["shot", "out.png", "--weights", BOOK], "add --heads 2"),
        (["shot", "out.png", "--weights", __file__], "is a text file"),
    ],
)
def test_what_can_not_be_done_is_one_line_that_says_what_to_change(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert said in refusal(capsys, *words)


def test_a_model_that_holds_nan_is_told_and_no_crash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = random_model(replace(SMALL, vocab_size=4))
    model.final_norm.scale.data[0] = float("nan")
    path = str(nanogpt(tmp_path / "ckpt.pt", model))

    trace = output(capsys, "trace", "0 1", "--weights", path)
    assert trace["top"][0]["logit"] is None
    assert any(check["ok"] is False for check in trace["checks"])
    assert output(capsys, "generate", "0 1", "--max-new-tokens", "1", "--weights", path)["steps"][0]["logit"] is None


def test_a_shot_shows_the_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str], characters: list[str]) -> None:
    assert main(["shot", str(tmp_path / "a.png"), "ab", "--size", "800x600", *characters]) == 0
    assert capsys.readouterr().out == ""
    assert QImage(str(tmp_path / "a.png")).width() == 800
