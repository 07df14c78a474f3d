"""The chapter's dictionary as text, both ways."""

from dataclasses import replace

import pytest

from gptviz.labs.dictionary import DictionaryError, as_dictionary, read_dictionary
from gptviz.model import GPT2_SMALL, TINY, GPTConfig


def test_it_is_the_chapters_dictionary() -> None:
    assert eval(as_dictionary(GPT2_SMALL)) == {
        "vocab_size": 50257,
        "context_length": 1024,
        "emb_dim": 768,
        "n_heads": 12,
        "n_layers": 12,
        "drop_rate": 0.1,
        "qkv_bias": False,
    }


@pytest.mark.parametrize("config", [TINY, replace(GPT2_SMALL, tie_weights=True, drop_rate=0.25)])
@pytest.mark.parametrize("form", ["{}", "GPT_CONFIG = {}", "\n  {}  # settings\n"])
def test_what_was_copied_can_be_pasted(config: GPTConfig, form: str) -> None:
    text = form.replace("{}", as_dictionary(config))

    assert GPTConfig.from_dict(read_dictionary(text)) == config


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[1, 2]",
        "{1: 2}",
        "{'emb_dim': 768",
        "{'emb_dim': open('x')}",
        "__import__('os').system('true')",
        "a = 1; b = 2",
        "(" * 9_000,
        "{'emb_dim': " + "-" * 15_000 + "1}",
        "x" * 30_000,
        "{'emb_dim': '\0'}",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(DictionaryError):
        read_dictionary(text)
