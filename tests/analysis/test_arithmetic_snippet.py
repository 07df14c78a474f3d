"""Copy as PyTorch: programs that print the number that they were copied from."""

import contextlib
import io
from pathlib import Path

import pytest
import torch

from gptviz.analysis.arithmetic import explain, snippet
from gptviz.capture import Stage, Trace, capture, catalogue
from gptviz.model import TINY, GPTConfig, GPTModel, initialise


@pytest.fixture(scope="module")
def plain_trace(tiny_model: GPTModel) -> Trace:
    return capture(tiny_model, torch.tensor([[15496, 11, 314, 716], [40, 716, 257, 1332]]), budget=2**30)


def printed_by(program: str) -> list[float]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    return [float(line) for line in out.getvalue().splitlines()]


def middle(trace: Trace, stage: Stage) -> tuple[int, ...]:
    return tuple(size // 2 for size in stage.shape(trace.config, trace.batch, trace.tokens))


@pytest.mark.parametrize("stage", [s for s in catalogue(TINY) if s.layer != 0], ids=lambda stage: stage.name)
def test_the_program_prints_the_number(plain_trace: Trace, stage: Stage) -> None:
    index = middle(plain_trace, stage)
    explanation = explain(plain_trace, stage.name, index)
    assert explanation is not None

    arithmetic, model = printed_by(snippet(plain_trace, explanation, seed=123))

    assert model == plain_trace[stage.name][index].item()
    assert arithmetic == pytest.approx(model, rel=1e-4, abs=1e-6)


def test_masked_cells_have_a_program_too(plain_trace: Trace) -> None:
    for name in ("att.masked", "att.weights"):
        explanation = explain(plain_trace, f"trf_blocks.0.{name}", (0, 0, 1, 2))
        assert explanation is not None
        arithmetic, model = printed_by(snippet(plain_trace, explanation, seed=123))
        assert arithmetic == model == explanation.captured


def test_it_is_short_and_speaks_of_public_names(plain_trace: Trace) -> None:
    explanation = explain(plain_trace, "trf_blocks.0.att.scores", (0, 1, 3, 1))
    assert explanation is not None

    program = snippet(plain_trace, explanation, seed=123)

    assert "from gptviz.model import TINY, initialise" in program
    assert "._" not in program
    assert len(program.splitlines()) <= 14


def test_a_model_of_other_settings_is_written_out() -> None:
    config = GPTConfig(emb_dim=8, n_heads=2, n_layers=1, context_length=4, qkv_bias=True)
    trace = capture(initialise(config, seed=7), torch.tensor([[1, 2, 3]]))
    explanation = explain(trace, "trf_blocks.0.att.W_query", (0, 2, 5))
    assert explanation is not None

    program = snippet(trace, explanation, seed=7)

    assert "GPTConfig(context_length=4, emb_dim=8, n_heads=2, n_layers=1, qkv_bias=True)" in program
    arithmetic, model = printed_by(program)
    assert model == explanation.captured
    assert arithmetic == pytest.approx(model, rel=1e-4)


def test_a_checkpoint_is_loaded_by_the_program(tmp_path: Path) -> None:
    config = GPTConfig(vocab_size=61, emb_dim=8, n_heads=2, n_layers=1, context_length=4)
    model = initialise(config, seed=7)
    torch.save(model.state_dict(), tmp_path / "weights.pth")
    trace = capture(model, torch.tensor([[1, 2, 3]]))
    explanation = explain(trace, "trf_blocks.0.norm1", (0, 2, 5))
    assert explanation is not None

    arithmetic, captured = printed_by(snippet(trace, explanation, None, str(tmp_path / "weights.pth")))

    assert captured == explanation.captured
    assert arithmetic == pytest.approx(captured, rel=1e-4)


def test_a_checkpoint_of_the_hub_is_named(plain_trace: Trace) -> None:
    explanation = explain(plain_trace, "drop_emb", (0, 0, 0))
    assert explanation is not None

    program = snippet(plain_trace, explanation, None, "hf:openai-community/gpt2")

    assert "load(download('openai-community/gpt2', " in program
    compile(program, "snippet", "exec")
