"""The logit lens and the comparison of two texts on the command line."""

import json

import pytest

from gptviz.cli import main

TINY = ("--config", "tiny")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    out = capsys.readouterr()
    assert out.err == ""
    return out.out


def test_the_lens_in_json_ends_with_what_trace_prints(capsys: pytest.CaptureFixture[str]) -> None:
    lens = json.loads(printed(capsys, "lens", "Hello, I am", *TINY, "--json"))
    trace = json.loads(printed(capsys, "trace", "Hello, I am", *TINY, "--json"))

    assert [row["stage"] for row in lens["rows"]] == ["drop_emb", "trf_blocks.0.shortcut2", "trf_blocks.1.shortcut2"]
    assert [token["text"] for token in lens["tokens"]] == ["Hello", ",", " I", " am"]
    assert lens["last_row_difference"] == 0
    last = lens["rows"][-1]["positions"][-1]
    assert [one["id"] for one in last] == [one["id"] for one in trace["top"][:5]]
    assert last[0]["probability"] == pytest.approx(trace["top"][0]["probability"])


def test_the_lens_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "lens", "Hello, I am", *TINY).splitlines()

    assert "a reading" in lines[0]
    assert [line.split("  ")[0] for line in lines[2:5]] == ["embeddings", "block 1", "block 2"]
    assert "' Hallow'" in lines[4]
    assert lines[-1].endswith("the largest difference of a logit is 0.")


def test_two_texts_are_compared_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "compare", "Hello, I am", "Hello, you are not", *TINY, "--json"))

    assert [token["same"] for token in found["tokens"]] == [True, True, False, False, False]
    assert found["tokens"][4] == {"position": 4, "same": False, "a": None, "b": {"id": 407, "text": " not"}}
    assert [one["rank"] for one in found["top"]["a"]] == list(range(1, 11))
    stages = {one["name"]: one for one in found["stages"]}
    assert len(stages) == 55
    assert (stages["tok_emb"]["shape_a"], stages["tok_emb"]["shape_b"]) == ([1, 4, 32], [1, 5, 32])
    assert stages["pos_emb"]["relative_difference"] == 0
    assert stages["ids"]["differing_tokens"] == 2


def test_two_texts_are_compared_as_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "compare", "Hello, I am", "Hello, you are", *TINY).splitlines()

    assert lines[0].split() == ["0", "=", "'Hello'", "'Hello'"]
    assert lines[2].startswith("   2  ≠  ' I'")
    assert any(line.startswith("trf_blocks.1.att.weights") for line in lines)


@pytest.mark.parametrize("words", [("lens", ""), ("compare", "Hello", "")])
def test_an_empty_text_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert main([*words, *TINY]) == 2
    assert capsys.readouterr().err == "gptviz: the text is empty: give at least one character\n"
