"""Generate, lens and compare on models whose numbers are not finite, or as sure as can be."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from shell import Shell

from gptviz.cli import main
from gptviz.model import GPTModel

Broken = Callable[[Callable[[GPTModel], object]], tuple[str, ...]]
HELLO = "Hello, I am"
URN = 700  # the token 'urn'


@pytest.fixture
def broken(own_tiny_model: GPTModel, tmp_path: Path) -> Broken:
    """A function that changes the small model's weights, and returns the options that name the file with them."""

    def broken(change: Callable[[GPTModel], object]) -> tuple[str, ...]:
        with torch.no_grad():
            change(own_tiny_model)
        torch.save(own_tiny_model.state_dict(), tmp_path / "broken.pth")
        return "--weights", str(tmp_path / "broken.pth"), "--heads", "2"

    return broken


def nan_for_urn(model: GPTModel) -> None:
    model.get_parameter("out_head.weight")[URN].fill_(math.nan)


def infinity_for_urn(model: GPTModel) -> None:
    """Give the token a logit of +∞ at every position."""
    model.get_parameter("final_norm.shift")[0] = 5.0
    model.get_parameter("out_head.weight")[URN].fill_(0.0)
    model.get_parameter("out_head.weight")[URN, 0] = 3.4e38


@pytest.mark.parametrize("change", [nan_for_urn, infinity_for_urn])
def test_all_commands_name_the_token_that_the_models_argmax_takes(
    shell: Shell, broken: Broken, change: Callable[[GPTModel], None]
) -> None:
    model = broken(change)

    generated = shell.json("generate", HELLO, "--max-new-tokens", "2", *model)
    lens = shell.json("lens", HELLO, *model)
    compared = shell.json("compare", HELLO, "I am", *model)
    trace = shell.json("trace", HELLO, *model)

    first = generated["steps"][0]
    assert (first["id"], first["probability"], first["top"][0]["id"]) == (URN, None, URN)
    assert generated["ids"][-2:] == [URN, URN]
    for row in lens["rows"]:
        assert [position[0]["id"] for position in row["positions"]] == [URN] * 4
        assert row["positions"][0][0]["probability"] is None
    assert lens["last_row_difference"] == 0
    best = compared["top"]["a"][0]
    assert (best["id"], best["rank"], best["other_rank"], best["probability"]) == (URN, 1, 1, None)
    assert trace["top"][0]["id"] == URN


def test_nothing_is_drawn_where_there_are_no_probabilities(shell: Shell, broken: Broken) -> None:
    said = shell.fails("generate", HELLO, "--max-new-tokens", "2", "--temperature", "0.7", *broken(nan_for_urn))

    assert "the logits of the last position are not all finite" in said
    assert "leave --temperature out" in said


def test_the_lens_writes_certainty_as_100_per_cent(shell: Shell, broken: Broken) -> None:
    lines = shell.succeeds("lens", HELLO, *broken(lambda model: model.out_head.weight.mul_(400))).splitlines()

    assert lines[4].count(" 100 %") == 4


def test_settings_of_a_draw_without_a_temperature_are_not_passed_over_in_silence(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("generate", HELLO, "--max-new-tokens", "1", "--config", "tiny")
    plain = shell.succeeds(*words)

    assert main((*words, "--top-k", "3")) == 0

    printed = capsys.readouterr()
    assert printed.out == plain
    assert printed.err == "gptviz: nothing is drawn without --temperature, so the likeliest token is taken\n"
