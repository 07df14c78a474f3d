"""Drawing tokens with ``gptviz generate``."""

import json
from typing import Any

import pytest

from gptviz.cli import main

TINY = ("--config", "tiny")


class Generates:
    """Calls the command and reads its JSON."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, count: int, *settings: str) -> dict[str, Any]:
        status = main(["generate", "Hello, I am", "--max-new-tokens", str(count), *settings, *TINY, "--json"])
        printed = self._capsys.readouterr()
        assert (status, printed.err) == (0, "")
        return json.loads(printed.out)


@pytest.fixture
def generates(capsys: pytest.CaptureFixture[str]) -> Generates:
    return Generates(capsys)


def test_tokens_can_be_drawn_and_the_seed_decides(generates: Generates) -> None:
    settings = ("--temperature", "1.5", "--top-k", "50", "--top-p", "0.9")
    one, again, other = (generates(4, *settings, "--sample-seed", seed) for seed in ("1", "1", "2"))

    assert one == again
    assert one["ids"] != other["ids"]
    assert one["decoding"] == {"temperature": 1.5, "top_k": 50, "top_p": 0.9, "seed": 1}
    for step in one["steps"]:
        assert 0 < step["chance"] <= 1
        assert step["logit"] <= step["top"][0]["logit"]


def test_temperature_0_is_greedy_whatever_else_is_set(generates: Generates) -> None:
    plain = generates(2)
    greedy = generates(2, "--temperature", "0", "--top-k", "3", "--sample-seed", "9")

    assert greedy == plain
    assert list(plain) == ["prompt_ids", "ids", "text", "steps"]
    assert list(plain["steps"][0]) == ["context_tokens", "id", "text", "logit", "probability", "top"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("--temperature", "nan"), "the temperature must be a finite number of at least 0, but is nan"),
        (("--temperature", "-1"), "the temperature must be a finite number of at least 0, but is -1.0"),
        (("--temperature", "warm"), "argument --temperature: 'warm' is no number"),
        (("--top-k", "0"), "top-k must be at least 1, so that a token is left, but is 0"),
        (("--top-k", "50258"), "--top-k is 50258, but the vocabulary has 50257 tokens"),
        (("--top-p", "1.1"), "top-p must be above 0 and at most 1, but is 1.1"),
        (("--sample-seed", "-1"), "the seed must be between 0 and 2^63 - 1, but is -1"),
    ],
)
def test_decoding_without_sense_is_refused(
    capsys: pytest.CaptureFixture[str], settings: tuple[str, str], message: str
) -> None:
    assert main(["generate", "a", "--max-new-tokens", "1", *settings, *TINY]) == 2
    assert message in capsys.readouterr().err
