"""``gptviz explain``, as it is called from a shell and from a script."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gptviz.cli import main

ASKED = ("explain", "Hello, I am", "--config", "tiny")
WEIGHTS = ("--stage", "trf_blocks.0.att.weights", "--index", "0,1,3,1")
Call = Callable[..., str]


@pytest.fixture
def explains(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that returns what the command prints."""

    def explains(*words: str) -> str:
        status = main((*ASKED, *words))
        printed = capsys.readouterr()
        assert (status, printed.err) == (0, "")
        return printed.out

    return explains


@pytest.fixture
def refuses(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that returns the one line with which the command refuses."""

    def refuses(*words: str) -> str:
        status = main((*ASKED, *words))
        printed = capsys.readouterr()
        assert (status, printed.out, printed.err.count("\n")) == (2, "", 1)
        return printed.err

    return refuses


def as_json(printed: str) -> dict[str, Any]:
    assert printed.count("\n") == 1
    return json.loads(printed)


def test_an_attention_weight_is_explained_line_by_line(explains: Call) -> None:
    printed = explains(*WEIGHTS)

    assert printed.startswith("trf_blocks.0.att.weights[0, 1, 3, 1] = 0.1836")
    for line in ("largest score", "this key", "all keys", "its share"):
        assert f"  {line}" in printed
    assert "trf_blocks.0.att.masked[0, 1, 3, 1]" in printed
    assert printed.splitlines()[-1].endswith("at most 0.0001: ok")


def test_json_holds_operands_steps_and_the_comparison(explains: Call) -> None:
    shown = as_json(explains("--stage", "trf_blocks.1.ff.layers.2", "--index", "0,3,7", "--json"))

    assert (shown["stage"], shown["index"]) == ("trf_blocks.1.ff.layers.2", [0, 3, 7])
    assert shown["ok"] is True
    assert shown["recomputed"] == pytest.approx(shown["value"], abs=1e-5)
    assert shown["relative_difference"] <= shown["tolerance"] == 1e-4
    assert shown["operands"][0]["name"] == "trf_blocks.1.ff.layers.2.bias"
    terms = shown["terms"]
    assert (terms["count"], len(terms["largest"]), terms["rest"]["count"]) == (128, 8, 120)
    total = sum(term["value"] for term in terms["largest"]) + terms["rest"]["sum"] + shown["operands"][0]["value"]
    assert total == pytest.approx(shown["recomputed"])
    left, right = terms["largest"][0]["operands"]
    assert (left["kind"], right["kind"]) == ("stage", "parameter")
    assert left["value"] * right["value"] == pytest.approx(terms["largest"][0]["value"])
    assert [token["id"] for token in shown["tokens"]] == [15496, 11, 314, 716]
    assert "from gptviz.capture import capture" in shown["python"]


def test_all_terms_can_be_had(explains: Call) -> None:
    asked = ("--stage", "out_head", "--index", "0,3,464")

    assert "the sum of the other 24" in explains(*asked)
    assert "the sum of the other" not in explains(*asked, "--all")
    assert len(as_json(explains(*asked, "--all", "--json"))["terms"]["largest"]) == 32


def test_a_masked_score_has_no_number_in_json(explains: Call) -> None:
    shown = as_json(explains("--stage", "trf_blocks.1.att.masked", "--index", "0,0,1,2", "--json"))

    assert (shown["value"], shown["difference"], shown["ok"]) == ("-inf", 0, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--stage", "att", "--index", "0,0"), "there is no stage 'att'"),
        (("--stage", "last", "--index", "0,50257"), "last has the shape (1, 50257): number 2 of the index goes from 0"),
        (("--stage", "last", "--index", "0"), "an index has 2 numbers, but this one has 1"),
        (("--stage", "last", "--index=-1,0"), "goes from 0 to 0, but is -1"),
        (("--stage", "last", "--index", "0,a"), "'0,a' is no index such as 0,3,2,1"),
        (("--stage", "last", "--index", ""), "'' is no index"),
        (("--stage", "last", "--index", "0,1_0"), "'0,1_0' is no index"),
        (("--stage", "last", "--index", "0,٣"), "'0,٣' is no index"),
        (("--stage", "last", "--index", "0,1.5"), "'0,1.5' is no index"),
        (("--stage", "last", "--index", "9" * 5000), "9…' is no index"),
        (("--stage", "last", "--index", "0," + "9" * 20), "but is 99999999999999999999"),
        (("--stage", "last", "--index", ",".join("0" * 500)), "this one has 500"),
        (("--stage", "x" * 5000, "--index", "0"), "x…': 'gptviz trace' lists them"),
        (("--stage", "a\x1b[31m\nb", "--index", "0"), r"there is no stage 'a\x1b[31m\nb'"),
        (("--stage", "last"), "--index"),
    ],
)
def test_a_number_that_is_not_there_is_refused_in_one_line(refuses: Call, words: tuple[str, ...], reason: str) -> None:
    message = refuses(*words)

    assert reason in message
    assert len(message) < 200
