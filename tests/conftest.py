"""What the tests share: the models, and the figures that come from outside."""

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gptviz.model import GPTModel


@pytest.fixture(scope="session")
def figures() -> dict[str, Any]:
    """The chapter's printed figures, and what its published code computes."""
    return json.loads(Path(__file__).with_name("reference_figures.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tiny_model() -> "GPTModel":
    """A small model in eval mode, shared by all tests: leave it as it is."""
    from gptviz.model import TINY, initialise

    return initialise(TINY, seed=123)


@pytest.fixture
def own_tiny_model(tiny_model: "GPTModel") -> "GPTModel":
    """A copy of the small model that a test may change."""
    return copy.deepcopy(tiny_model)


@pytest.fixture(scope="session")
def small_model() -> "GPTModel":
    """The untrained 124M model in eval mode, shared by all tests: mark those that use it ``large``."""
    from gptviz.model import GPT2_SMALL, initialise

    return initialise(GPT2_SMALL, seed=123)
