"""The two looks: contrast as WCAG 2.1 defines it, and the bundled fonts."""

import pytest
from PySide6.QtGui import QColor, QFontInfo

from gptviz.app.appearance import Appearance
from gptviz.widgets.theme import DARK, LIGHT, Theme, blend, current, mono_font, px, text_font

BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(colour: str) -> float:
    parts = [part / 255 for part in QColor(colour).getRgb()[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_formula_knows_black_on_white() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


@BOTH
@pytest.mark.parametrize("ink", ["text", "muted"])
@pytest.mark.parametrize("ground", ["window", "panel", "raised"])
def test_text_can_be_read_on_every_ground(theme: Theme, ink: str, ground: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@BOTH
@pytest.mark.parametrize("ink", ["warning", "error"])
@pytest.mark.parametrize("ground", ["window", "panel"])
def test_warnings_can_be_read(theme: Theme, ink: str, ground: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@BOTH
def test_text_on_the_accent_colour_can_be_read(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5


@BOTH
def test_the_greedy_choice_can_be_read(theme: Theme) -> None:
    assert contrast(theme.families["head"], theme.panel) >= 4.5


@BOTH
def test_every_family_can_be_told_from_the_ground_and_from_the_others(theme: Theme) -> None:
    assert all(contrast(colour, theme.panel) >= 3 for colour in theme.families.values())
    assert len(set(theme.families.values())) == 6


def test_the_theme_follows_the_palette(appearance: Appearance) -> None:
    assert current() is LIGHT

    appearance.set_scheme("dark")
    assert current() is DARK

    appearance.set_scheme("light")
    assert current() is LIGHT


def test_the_bundled_fonts_are_used(appearance: Appearance) -> None:
    assert QFontInfo(text_font()).family() == "Inter"
    assert QFontInfo(mono_font()).family() == "JetBrains Mono"


def test_lecture_size_is_one_and_a_half_times_as_large(appearance: Appearance) -> None:
    assert (px(20), text_font(14).pixelSize(), mono_font(12).pixelSize()) == (20, 14, 12)

    appearance.set_lecture(True)
    assert (px(20), text_font(14).pixelSize(), mono_font(12).pixelSize()) == (30, 21, 18)

    appearance.set_lecture(False)
    assert px(20) == 20


def test_blending_mixes_by_share() -> None:
    assert blend("#FFFFFF", "#000000", 0.25).getRgb()[:3] == (64, 64, 64)
    assert blend("#FF0000", "#0000FF", 1.0).name() == "#ff0000"
