"""Situations that the tour has to find words for."""

from collections.abc import Callable
from functools import cache

import pytest
import torch

from gptviz.capture import Trace, capture
from gptviz.model import TINY, GPTConfig, initialise
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.tour.measure import measure
from gptviz.tour.situation import Situation

SMALL = GPTConfig(vocab_size=50257, context_length=4, emb_dim=6, n_heads=1, n_layers=1, qkv_bias=True, tie_weights=True)
OTHER = GPTConfig(
    context_length=8,
    emb_dim=12,
    n_heads=2,
    n_layers=2,
    n_inner=7,
    activation="relu",
    bias=False,
    norm_eps=1e-6,
    scale_attn_by_inverse_layer_idx=True,
)
CASES = {
    "default": (TINY, ["Hello, I am"]),
    "one token": (TINY, ["Hello"]),
    "batch": (TINY, ["Every effort moves you", "Every day holds a"]),
    "full context, one head, one block": (SMALL, ["Hello, I am"]),
    "another kind of model": (OTHER, ["Hello, I am"]),
    "markup": (TINY, ["**<b>{x}</b>\n\t`"]),
}


@cache
def _trace(case: str) -> Trace:
    config, texts = CASES[case]
    rows = [gpt2_tokenizer().encode(text) for text in texts]
    return capture(initialise(config, 123), torch.tensor(rows))


_measure = cache(measure)


@pytest.fixture
def situation() -> Callable[..., Situation]:
    """A function that makes the situation after a pass of one of ``CASES``."""

    def situation(case: str = "default", **what: object) -> Situation:
        trace = _trace(case)
        config = trace.config
        given: dict[str, object] = {
            "title": "a model",
            "config": config,
            "seed": 123,
            "parameters": 1,
            "trace": trace,
            "generated": (15496,),
            "measured": _measure(config),
            "token_text": gpt2_tokenizer().token_text,
        }
        return Situation(**{**given, **what})  # type: ignore[arg-type]

    return situation
