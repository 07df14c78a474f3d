"""The training script: what it learns from, and that an interruption changes nothing."""

import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from gptviz.tokenizer import gpt2_tokenizer

SCRIPT = Path(__file__).parent.parent / "scripts" / "train_small.py"
TEXT = Path(__file__).with_name("held_out_excerpt.txt").read_text(encoding="utf-8")
SIZES = {"layers": 1, "heads": 2, "features": 16, "context": 16, "batch": 6, "repeats": 2, "warm_up": 2}


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("train_small", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["train_small"] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["train_small"]


@pytest.fixture(scope="module")
def corpus(script: ModuleType) -> Any:
    return script.Corpus(TEXT)


@pytest.fixture
def training(script: ModuleType, corpus: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes a training in a folder; the signals stay this process's own."""
    monkeypatch.setattr(script.signal, "signal", lambda *_: None)
    return lambda folder, steps=6: script.Training(corpus, script.Settings(**SIZES), folder, steps)


def weights(training: Any) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in training.model.state_dict().items()}


def test_an_interrupted_training_ends_with_the_same_weights(training: Any, tmp_path: Path) -> None:
    whole = training(tmp_path)
    assert whole.run(every=2, minutes=None)

    cut = tmp_path / "cut"
    cut.mkdir()
    first = training(cut)
    one_step = first.one_step

    def step_and_stop() -> float:
        first.stopped = first.progress.step == 2  # as Ctrl+C does
        return float(one_step())

    first.one_step = step_and_stop
    assert not first.run(every=2, minutes=None)
    second = training(cut)
    second.resume()
    assert second.progress.step == 3
    assert second.run(every=2, minutes=None)

    for name, value in weights(whole).items():
        torch.testing.assert_close(second.model.state_dict()[name], value, rtol=0, atol=0)


def test_a_finish_request_lets_the_rate_fall_from_here(training: Any, tmp_path: Path) -> None:
    (tmp_path / "finish").touch()
    early = training(tmp_path, steps=1000)

    assert early.run(every=1000, minutes=None)
    assert early.progress.step < 10
    assert early.progress.rate(early.settings) == 0


def test_other_settings_do_not_go_on_with_a_checkpoint(
    script: ModuleType, corpus: Any, training: Any, tmp_path: Path
) -> None:
    training(tmp_path).run(every=10, minutes=None)
    other = script.Training(corpus, script.Settings(**{**SIZES, "seed": 7}), tmp_path, 6)

    with pytest.raises(SystemExit, match="other settings"):
        other.resume()


def test_a_failed_write_leaves_the_checkpoint_as_it_was(script: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    script.save_atomically({"step": 1}, path)
    with pytest.raises(Exception, match="pickle"):
        script.save_atomically({"step": lambda: None}, path)

    assert torch.load(path) == {"step": 1}


def test_the_training_part_ends_where_the_held_out_part_begins(corpus: Any) -> None:
    ids = gpt2_tokenizer().encode(TEXT)

    assert len(corpus.train) + len(corpus.held_out) == len(ids)
    assert corpus.occurring[corpus.train].tolist() == ids[: len(corpus.train)]
    known = corpus.held_out != corpus.unknown
    assert corpus.occurring[corpus.held_out[known]].tolist() == torch.tensor(ids[len(corpus.train) :])[known].tolist()


def test_a_batch_depends_on_seed_and_step_alone(script: ModuleType, corpus: Any) -> None:
    settings = script.Settings(**{**SIZES, "unknown_rate": 0.0})
    inputs, targets = script.batch_of(corpus, settings, 5)
    again, _ = script.batch_of(corpus, settings, 5)
    other, _ = script.batch_of(corpus, settings, 6)

    assert torch.equal(inputs, again)
    assert not torch.equal(inputs, other)
    counted = targets[:, :-1] != -100
    assert torch.equal(targets[:, :-1][counted], inputs[:, 1:][counted])  # a target is the token that comes next


def test_repetitions_repeat(script: ModuleType, corpus: Any) -> None:
    for seed in range(8):
        row, counts = script.repetition(corpus, 128, torch.Generator().manual_seed(seed))
        period = next(p for p in range(1, 129) if torch.equal(row[p:], row[:-p]))

        assert 8 <= period <= 64
        assert counts.all() or int((~counts).sum()) == period - 1


@torch.no_grad()
def test_the_loss_is_that_of_the_whole_vocabulary(script: ModuleType, corpus: Any) -> None:
    """Tokens without a row of their own count one by one, though they have one logit."""
    settings = script.Settings(**SIZES)
    model = script.new_model(settings, corpus.unknown + 1).eval()
    inputs, targets = torch.tensor([[1, 2, 3]]), torch.tensor([[2, 3, corpus.unknown]])
    shared = script.loss_of(model, inputs, targets, corpus.log_sharing)

    logits = model(inputs)
    never = 50257 - corpus.unknown
    whole = torch.cat((logits[..., :-1], logits[..., -1:].expand(-1, -1, never)), dim=-1)
    assert whole.shape[-1] == 50257
    expected = torch.nn.functional.cross_entropy(whole[0], targets[0])
    assert float(shared) == pytest.approx(float(expected), rel=1e-5)
    assert float(shared) == pytest.approx(math.log(50257), rel=0.02)
