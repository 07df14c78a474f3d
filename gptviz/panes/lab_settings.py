"""The settings of a configuration as a form has them; shared by the labs that edit one."""

import re
from dataclasses import fields, replace

from gptviz.labs.dictionary import SETTINGS
from gptviz.model.config import ConfigError, GPTConfig
from gptviz.widgets.settings_form import Setting, SettingsForm, Value

_TIPS = {
    "vocab_size": ("V", "How many tokens the vocabulary has"),
    "context_length": ("C", "The largest number of tokens the model can see"),
    "emb_dim": ("E", "Features of each token"),
    "n_heads": ("H", "Attention heads of each block; they share the features"),
    "n_layers": ("L", "Transformer blocks"),
    "drop_rate": ("", "Share of numbers that dropout sets to 0 in training"),
    "qkv_bias": ("", "Whether the projections to queries, keys and values have a bias"),
    "tie_weights": ("", "Whether the output head shares the token embedding's matrix, as in the published GPT-2"),
}
_WORD, _MESSAGE = 18, 200  # characters
_LONG_WORD = re.compile(rf"\S{{{_WORD + 15},}}")
NAMES = (*SETTINGS, "tie_weights")
PRESETS = (
    ("gpt2-small", "small", "GPT-2 small, the chapter's: E 768, L 12, H 12"),
    ("gpt2-medium", "medium", "GPT-2 medium: E 1024, L 24, H 16"),
    ("gpt2-large", "large", "GPT-2 large: E 1280, L 36, H 20"),
    ("gpt2-xl", "XL", "GPT-2 XL: E 1600, L 48, H 25"),
    ("tiny", "tiny", "For first looks: E 32, L 2, H 2, C 64"),
)


def settings() -> list[Setting]:
    """Return the chapter's seven settings and the tied head, with the chapter's values."""
    default = GPTConfig()
    return [
        Setting(name, getattr(default, name), tip, letter, 0.05 if name == "drop_rate" else 1)
        for name, (letter, tip) in _TIPS.items()
    ]


def values_of(config: GPTConfig) -> dict[str, Value]:
    """Return what a form shows of ``config``."""
    return {name: getattr(config, name) for name in NAMES}


def read(form: SettingsForm, before: GPTConfig) -> GPTConfig | None:
    """Return ``before`` with what ``form`` shows; if there is no such one, say so at the setting that is to blame."""
    try:
        config = replace(before, **form.values)  # type: ignore[arg-type]
    except ConfigError as error:
        name, _, reason = brief(str(error)).partition(" ")
        form.refuse(name if name in NAMES else "emb_dim", f"{reason[:1].upper()}{reason[1:]}.")
        return None
    form.accept()
    return config


def brief(message: str) -> str:
    """Shorten the numbers and words of ``message`` that somebody may have pasted: the place for it is small."""
    words = _LONG_WORD.sub(lambda word: f"{word[0][:_WORD]}…", message)
    return words if len(words) <= _MESSAGE else f"{words[:_MESSAGE]}…"


def others_of(config: GPTConfig) -> str:
    """List the settings that no form shows and that are not the chapter's."""
    own = {field.name: getattr(config, field.name) for field in fields(config) if field.name not in NAMES}
    return ", ".join(f"{name} = {value!r}" for name, value in own.items() if value != getattr(GPTConfig(), name))
