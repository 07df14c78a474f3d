"""Files that other programs wrote, with the logits that those programs computed."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from gptviz.checkpoints import HeadsNeeded, load
from gptviz.model import greedy_steps

FOLDER = Path(__file__).with_name("real_writers")
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
HEADS = {"book-model-and-optimizer": 2}  # the others tell


@pytest.mark.parametrize("name", EXPECTED)
def test_a_checkpoint_gives_the_logits_and_tokens_of_the_program_that_wrote_it(name: str) -> None:
    expected = EXPECTED[name]
    model = load(FOLDER / name, heads=HEADS.get(name)).model
    prompt = torch.tensor([expected["prompt_ids"]])

    last = model(prompt)[0, -1].detach()
    for token, logit in expected["last_position_top5"]:
        assert float(last[token]) == pytest.approx(logit, abs=1e-4)
    chosen = [int(step.next_ids) for step in greedy_steps(model, prompt, 8)]
    assert [*expected["prompt_ids"], *chosen] == expected["greedy_8_ids"]


@pytest.mark.parametrize(
    ("name", "kind", "tied", "parameters"),
    [
        ("hf-gpt2-legacy-keys", "Hugging Face GPT-2", True, 811_728),
        ("nanogpt-compiled", "nanoGPT", True, 812_480),
        ("book-model-and-optimizer", "state dict of the chapter's GPTModel", False, 1_615_840),
    ],
)
def test_a_checkpoint_says_what_it_is(name: str, kind: str, tied: bool, parameters: int) -> None:
    checkpoint = load(FOLDER / name, heads=HEADS.get(name))

    assert (checkpoint.format, checkpoint.tied, checkpoint.parameters) == (kind, tied, parameters)
    assert (checkpoint.stored_as, checkpoint.notes) == ("fp32", ())
    assert not checkpoint.model.training


def test_a_file_that_cannot_tell_the_number_of_heads_asks_with_a_proposal() -> None:
    with pytest.raises(HeadsNeeded, match="how many attention heads its 16 features") as asked:
        load(FOLDER / "book-model-and-optimizer")

    assert asked.value.choices == (1, 2, 4, 8, 16)
    assert asked.value.proposal == 2
