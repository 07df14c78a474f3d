from dataclasses import replace
from pathlib import Path

import pytest
import torch
from checkpoint_writers import SMALL, logits, random_model, script

from gptviz.checkpoints import load
from gptviz.model import GPTConfig


@pytest.mark.parametrize("config", [SMALL, replace(SMALL, qkv_bias=False), replace(SMALL, tie_weights=True)])
@pytest.mark.parametrize("out", ["model.pth", "model.pt", "folder"])
def test_what_is_saved_opens_again_with_the_same_logits(tmp_path: Path, config: GPTConfig, out: str) -> None:
    model = random_model(config)

    script.save(model, tmp_path / out)
    again = load(tmp_path / out, heads=3).model

    assert torch.equal(logits(again), logits(model))
    assert (again.out_head.weight is again.tok_emb.weight) == config.tie_weights


def test_the_chapters_state_dict_has_the_chapters_names(tmp_path: Path) -> None:
    model = random_model(SMALL)

    script.save(model, tmp_path / "model.pth")

    assert list(torch.load(tmp_path / "model.pth")) == list(model.state_dict())


@pytest.mark.parametrize(
    "config", [replace(SMALL, activation="gelu"), replace(SMALL, bias=False), replace(SMALL, norm_eps=0.1)]
)
def test_what_a_state_dict_cannot_tell_is_not_lost_silently(tmp_path: Path, config: GPTConfig) -> None:
    with pytest.raises(ValueError, match="a state dict can't tell that"):
        script.save(random_model(config), tmp_path / "model.pth")


def test_the_command_saves_a_configuration_and_a_checkpoint_in_the_other_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "tiny.pth", tmp_path / "folder"

    monkeypatch.setattr("sys.argv", ["save", str(first), "--config", "tiny", "--seed", "7"])
    assert script.main() == 0
    monkeypatch.setattr("sys.argv", ["save", str(second), "--weights", str(first), "--heads", "2"])
    assert script.main() == 0

    assert capsys.readouterr().out.splitlines() == [
        str(first),
        str(second / "config.json"),
        str(second / "model.safetensors"),
    ]
    ids = torch.tensor([[15496, 11]])
    assert torch.equal(logits(load(second).model, ids), logits(load(first, heads=2).model, ids))


def test_the_command_says_in_one_line_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["save", str(tmp_path / "out.pth"), "--weights", str(tmp_path / "absent")])

    assert script.main() == 2
    assert capsys.readouterr().err.count("\n") == 1
