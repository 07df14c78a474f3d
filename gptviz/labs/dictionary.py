"""The chapter's dictionary as text, both ways. Nothing that is pasted is ever run."""

import ast
from dataclasses import fields

from gptviz.model.config import GPTConfig

SETTINGS = ("vocab_size", "context_length", "emb_dim", "n_heads", "n_layers", "drop_rate", "qkv_bias")
_LONGEST = 20_000  # characters


class DictionaryError(ValueError):
    """The text is no dictionary of settings; the message says why."""


def as_dictionary(config: GPTConfig) -> str:
    """Write ``config`` as Python: the chapter's seven settings, and others where they are not the default."""
    others = [
        field.name
        for field in fields(config)
        if field.name not in SETTINGS and getattr(config, field.name) != field.default
    ]
    lines = [f"    {name!r}: {getattr(config, name)!r}," for name in (*SETTINGS, *others)]
    return "\n".join(("{", *lines, "}")).replace("'", '"')


def read_dictionary(text: str) -> dict[str, object]:
    """Read a dictionary of literals, with or without ``NAME =`` before it.

    Raises
    ------
    DictionaryError
        If the text is anything else.
    """
    if len(text) > _LONGEST:
        raise DictionaryError(f"{len(text):,} characters are no configuration: copy the dictionary alone")
    try:
        statements = ast.parse(text.strip()).body
        node = statements[0] if len(statements) == 1 else None
        value = ast.literal_eval(node.value) if isinstance(node, ast.Expr | ast.Assign) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise DictionaryError('it is no Python dictionary such as {"emb_dim": 768, …} with plain values') from None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise DictionaryError('it is no Python dictionary such as {"emb_dim": 768, …} with plain values')
    return value
