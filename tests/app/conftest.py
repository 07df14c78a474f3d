"""What the tests of opening files share: files that are chosen, and a model that needs a table."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from checkpoint_writers import SMALL, nanogpt, random_model
from PySide6.QtWidgets import QFileDialog


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | str], None]:
    """A function that says what the next file dialogs answer."""

    def choose(path: Path | str) -> None:
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(path))

    return choose


@pytest.fixture
def character_model(tmp_path: Path) -> Path:
    """A nanoGPT checkpoint with a vocabulary of 4 tokens."""
    config = replace(SMALL, vocab_size=4, activation="gelu", tie_weights=True)
    return nanogpt(tmp_path / "ckpt.pt", random_model(config))
