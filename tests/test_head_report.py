"""``gptviz heads``: what the heads do, for a person and for a script."""

import pytest
from test_cli import HELLO, TINY, Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_heads_are_scored_on_the_text_and_on_the_probe(shell: Shell) -> None:
    report = shell.json("heads", "a rose is a rose is a rose", *TINY)

    assert [score["name"] for score in report["scores"]] == [
        "previous",
        "first",
        "same",
        "induction",
        "entropy",
        "distance",
    ]
    assert [(head["layer"], head["head"]) for head in report["prompt"]["heads"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert report["probe"]["ids"][:32] == report["probe"]["ids"][32:]
    for head in report["probe"]["heads"]:  # random weights: hardly anything else than equal shares
        assert head["induction"] == pytest.approx(report["probe"]["uniform"]["induction"], rel=0.3)


def test_a_score_that_no_token_counts_for_is_null(shell: Shell) -> None:
    report = shell.json("heads", HELLO, *TINY)

    assert report["prompt"]["uniform"]["induction"] is None
    assert report["prompt"]["heads"][0]["first"] is not None


def test_heads_are_listed_for_a_person(shell: Shell) -> None:
    lines = shell.succeeds("heads", HELLO, *TINY).splitlines()

    assert lines[0] == "on the text, 4 tokens"
    assert lines[1].split() == ["block", "head", "previous", "first", "same", "induction", "entropy", "distance"]
    assert [line.split()[:2] for line in lines[3:7]] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert len(lines) == 14


def test_heads_need_a_text(shell: Shell) -> None:
    assert "the text is empty" in shell.fails("heads", "", *TINY)
