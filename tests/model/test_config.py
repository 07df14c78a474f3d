from dataclasses import FrozenInstanceError

import pytest

from gptviz.model import CONFIGS, GPT2_SMALL, TINY, ConfigError, GPTConfig

SIZES = ["vocab_size", "context_length", "emb_dim", "n_heads", "n_layers"]
CHAPTER_124M = {
    "vocab_size": 50257,
    "context_length": 1024,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


@pytest.mark.parametrize("field", SIZES)
@pytest.mark.parametrize("value", [0, -3])
def test_a_size_below_one_is_refused_by_name(field: str, value: int) -> None:
    with pytest.raises(ConfigError, match=rf"^{field} must be at least 1, but is {value}$"):
        GPTConfig(**{field: value})


@pytest.mark.parametrize("field", SIZES)
@pytest.mark.parametrize("value", [12.0, "12", None, True])
def test_a_size_that_is_no_whole_number_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"^{field} must be a whole number, but is {value!r}$"):
        GPTConfig(**{field: value})


def test_heads_must_get_equal_shares_of_the_features() -> None:
    with pytest.raises(ConfigError, match=r"^emb_dim must be divisible by n_heads.* 768 / 7 leaves 5$"):
        GPTConfig(emb_dim=768, n_heads=7)


@pytest.mark.parametrize("value", [-0.1, 1.0, 1, 1.5, float("nan"), float("inf")])
def test_a_dropout_rate_outside_zero_to_one_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match=r"^drop_rate must be at least 0 and below 1"):
        GPTConfig(drop_rate=value)


@pytest.mark.parametrize("value", ["0.1", None, False])
def test_a_dropout_rate_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=rf"^drop_rate must be a number, but is {value!r}$"):
        GPTConfig(drop_rate=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 0.0, 0.999])
def test_the_limits_of_the_dropout_rate_are_accepted(value: float) -> None:
    assert GPTConfig(drop_rate=value).drop_rate == value


@pytest.mark.parametrize("field", ["qkv_bias", "tie_weights"])
@pytest.mark.parametrize("value", [0, 1, "no", None])
def test_a_switch_that_is_neither_true_nor_false_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"^{field} must be True or False, but is {value!r}$"):
        GPTConfig(**{field: value})


def test_a_refused_setting_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="n_layers"):
        GPTConfig(n_layers=0)


def test_a_configuration_cannot_be_changed_past_its_checks() -> None:
    with pytest.raises(FrozenInstanceError):
        GPT2_SMALL.n_heads = 7  # type: ignore[misc]


def test_the_chapters_dictionary_is_the_default_configuration() -> None:
    assert GPTConfig.from_dict(CHAPTER_124M) == GPTConfig() == GPT2_SMALL


def test_a_dictionary_may_leave_out_what_is_as_in_gpt2() -> None:
    assert GPTConfig.from_dict({"emb_dim": 96, "tie_weights": True}) == GPTConfig(emb_dim=96, tie_weights=True)


def test_unknown_settings_of_a_dictionary_are_named() -> None:
    with pytest.raises(ConfigError, match=r"^unknown setting depth, width: the settings are .*n_layers"):
        GPTConfig.from_dict({**CHAPTER_124M, "width": 768, "depth": 12})


def test_the_values_of_a_dictionary_are_checked() -> None:
    with pytest.raises(ConfigError, match="emb_dim must be divisible by n_heads"):
        GPTConfig.from_dict({**CHAPTER_124M, "n_heads": 5})


@pytest.mark.parametrize("name", ["gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl"])
def test_the_four_sizes_of_gpt2(name: str, figures: dict) -> None:
    expected, config = figures["sizes"][name], CONFIGS[name]

    assert (config.emb_dim, config.n_layers, config.n_heads) == (
        expected["emb_dim"],
        expected["n_layers"],
        expected["n_heads"],
    )
    assert (config.vocab_size, config.context_length) == (50257, 1024)


def test_tiny_is_two_blocks_two_heads_32_features_and_gpt2s_vocabulary() -> None:
    assert CONFIGS["tiny"] is TINY
    assert (TINY.n_layers, TINY.n_heads, TINY.emb_dim, TINY.context_length) == (2, 2, 32, 64)
    assert TINY.vocab_size == 50257


def test_a_head_gets_its_share_of_the_features() -> None:
    assert GPT2_SMALL.head_dim == 64
