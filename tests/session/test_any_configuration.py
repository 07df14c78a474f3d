"""Models of other configurations than the named ones."""

import pytest
from holding import Wait

from gptviz.labs import configuration
from gptviz.model import TINY, GPTConfig
from gptviz.session.requests import UntrainedRequest
from gptviz.session.session import Session

ODD = GPTConfig(vocab_size=60_000, context_length=7, emb_dim=12, n_heads=3, n_layers=1, qkv_bias=True)


def test_any_configuration_can_be_used(ready: Session, wait: Wait) -> None:
    ready.use_model(ODD, 5)
    wait()

    assert ready.state.model is not None
    assert ready.state.model.config == ODD
    assert ready.state.model.description == "custom 1 × 12 · seed 5 · 1.4 M"
    assert ready.making.wanted == UntrainedRequest(ODD, 5)
    assert ready.state.trace is not None
    assert ready.state.message is None


def test_a_configuration_with_a_name_is_called_by_it(ready: Session, wait: Wait) -> None:
    ready.use_model(GPTConfig(**vars(TINY)), 9)
    wait()

    assert ready.making.wanted == UntrainedRequest("tiny", 9)
    assert ready.state.model is not None
    assert ready.state.model.title == "tiny"


def test_ids_beyond_gpt2s_vocabulary_have_no_text(ready: Session) -> None:
    assert ready.token_text(59_999) == "‹unused 59999›"
    assert ready.text_of([15496, 59_999]) == "Hello‹unused 59999›"


def test_a_vocabulary_that_is_too_small_for_the_prompt_is_told(ready: Session, wait: Wait) -> None:
    ready.use_model(GPTConfig(vocab_size=100, context_length=8, emb_dim=4, n_heads=1, n_layers=1), 5)
    wait()

    assert ready.state.trace is None
    assert "outside the vocabulary, which goes from 0 to 99" in str(ready.state.message)


def test_a_model_that_does_not_fit_is_refused_with_the_figures_and_the_present_one_stays(
    ready: Session, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ready.state
    monkeypatch.setattr(configuration, "available_memory", lambda: 3_000_000_000)

    ready.use_model("gpt2-xl", 5)
    wait()

    message = str(ready.state.message)
    assert message.startswith("The model could not be initialised: it needs 6.6 GB of memory, and 3.0 GB are free")
    assert "Choose a smaller configuration" in message
    assert (ready.state.model, ready.state.trace) == (before.model, before.trace)
    assert ready.making.wanted == UntrainedRequest("tiny", 123)
