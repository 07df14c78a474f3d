"""Whether the tokens are GPT-2's: a model of the same architecture may have been trained on others."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gptviz import resources
from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.files import Found, read_json

GPT2_TOKENS = 50257
_LARGEST = 64 * 2**20  # bytes


def has_gpt2_tokens(found: Found, vocab_size: int) -> bool:
    """Tell whether IDs mean what they mean in GPT-2, by the size and by the vocabulary beside the weights, if any."""
    if vocab_size < GPT2_TOKENS:
        return False
    theirs = _vocabulary_beside(found.weights[0].parent)
    return theirs is None or all(theirs.get(token) == place for token, place in _gpt2().items())


def _vocabulary_beside(folder: Path) -> Mapping[str, Any] | None:
    """Return the IDs by token that a tokenizer's file lists; None if there is none that can be read."""
    for name, keys in (("vocab.json", ()), ("tokenizer.json", ("model", "vocab"))):
        try:
            found: Any = read_json(folder / name, _LARGEST)
        except CheckpointError:
            continue
        added = found.get("added_tokens") if keys else None
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict):
            return found | _added(added)
    return None


def _added(entries: Any) -> dict[str, Any]:
    """Return the tokens that a tokenizer.json lists apart, such as <|endoftext|>."""
    listed = entries if isinstance(entries, list) else []
    return {str(entry.get("content")): entry.get("id") for entry in listed if isinstance(entry, dict)}


@cache
def _gpt2() -> dict[str, int]:
    tokens: dict[str, int] = json.loads(resources.path("gpt2-bpe", "encoder.json").read_text(encoding="utf-8"))
    return tokens
