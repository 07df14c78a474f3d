"""Colours, type and spacing: the one place that the look comes from."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QFont, QFontDatabase

from gptviz import resources

UNIT = 4  # px, the spacing everything is a multiple of
_FONT_FILES = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")
TEXT_FAMILY = "Inter"
MONO_FAMILY = "JetBrains Mono"
_HAS_FONTS = "gptviz-has-fonts"  # a property of the application


@dataclass(frozen=True)
class Theme:
    """One set of colours. ``families`` colours operations; see the catalogue of stages."""

    name: str
    window: str
    panel: str
    raised: str
    text: str
    muted: str
    hairline: str
    accent: str
    on_accent: str
    warning: str
    error: str
    diverging: tuple[str, str, str]  # negative, zero, positive
    families: Mapping[str, str]


LIGHT = Theme(
    name="light",
    window="#FAFAF9",
    panel="#FFFFFF",
    raised="#F1F0EE",
    text="#1C1917",
    muted="#57534E",
    hairline="#E7E5E4",
    accent="#2563EB",
    on_accent="#FFFFFF",
    warning="#92600A",
    error="#B91C1C",
    diverging=("#1D5FA8", "#F7F6F4", "#C2410C"),
    families=MappingProxyType(
        {
            "embedding": "#0E7490",
            "norm": "#B45309",
            "attention": "#6D28D9",
            "feed-forward": "#047857",
            "shortcut": "#64748B",
            "head": "#BE185D",
        }
    ),
)
DARK = Theme(
    name="dark",
    window="#16181D",
    panel="#1D2026",
    raised="#272B33",
    text="#E7E9EE",
    muted="#9AA3B2",
    hairline="#2B3038",
    accent="#6EA8FE",
    on_accent="#0B1220",
    warning="#F2A541",
    error="#FF8A80",
    diverging=("#63A4FF", "#20242B", "#FF9D66"),
    families=MappingProxyType(
        {
            "embedding": "#22B8CF",
            "norm": "#F2A541",
            "attention": "#A78BFA",
            "feed-forward": "#34D399",
            "shortcut": "#94A3B8",
            "head": "#F472B6",
        }
    ),
)


class _Look:
    """What everything is drawn with at present."""

    theme = LIGHT
    scale = 1.0
    tabular = True


def current() -> Theme:
    """Return the theme that is in use; widgets hear of a change through their palette's change."""
    return _Look.theme


def use(theme: Theme, scale: float) -> None:
    """Draw everything in ``theme``, ``scale`` times as large as normal (1.5 in lectures)."""
    _Look.theme, _Look.scale = theme, scale


@contextmanager
def drawn_in(theme: Theme, scale: float, tabular: bool) -> Iterator[None]:
    """Draw in another look for a moment, such as on a slide; figures of equal width if ``tabular``.

    In a PDF these are glyphs without a character: a text with them can't be searched or copied.
    """
    before = _Look.theme, _Look.scale, _Look.tabular
    _Look.theme, _Look.scale, _Look.tabular = theme, scale, tabular
    try:
        yield
    finally:
        _Look.theme, _Look.scale, _Look.tabular = before


def look() -> tuple[Theme, float]:
    """Return what colours and sizes come from: Qt tells of many a change of palette or font that changes neither."""
    return _Look.theme, _Look.scale


def color(value: str, alpha: float = 1.0) -> QColor:
    """Return a colour of the theme, with an opacity from 0 to 1."""
    result = QColor(value)
    result.setAlphaF(alpha)
    return result


def tone(name: str) -> str:
    """Return a colour of the present theme: that of a family of operations, or accent, text or muted."""
    theme = current()
    return {"accent": theme.accent, "text": theme.text, "muted": theme.muted}.get(name) or theme.families[name]


def blend(over: str, under: str, share: float) -> QColor:
    """Mix two colours: ``share`` of ``over``, the rest of ``under``."""
    a, b = QColor(over), QColor(under)
    parts = [round(x * share + y * (1 - share)) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True)]  # type: ignore[index]
    return QColor(*parts)


def load_fonts() -> None:
    """Make the bundled fonts known to the application, once: each time Qt forgets what it knew of all fonts."""
    application = QCoreApplication.instance()
    if application is None or application.property(_HAS_FONTS):
        return
    application.setProperty(_HAS_FONTS, True)
    for name in _FONT_FILES:
        QFontDatabase.addApplicationFont(str(resources.path("fonts", name)))


def px(size: float) -> int:
    """Return ``size`` pixels, scaled for lectures."""
    return round(size * _Look.scale)


def text_font(size: float = 13, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the text font at ``size`` px, with figures of equal width."""
    return _font(TEXT_FAMILY, px(size), weight, _Look.tabular)


def mono_font(size: float = 12) -> QFont:
    """Return the font of numbers, IDs and shapes at ``size`` px."""
    return _font(MONO_FAMILY, px(size), QFont.Weight.Normal, False)


def set_figures(font: QFont, tabular: bool | None = None) -> None:
    """Give ``font`` figures of equal width, or not; by default as everything is drawn at present."""
    wanted = _Look.tabular if tabular is None else tabular
    font.setFeature(QFont.Tag("tnum"), int(wanted))  # 0 too: else a painter takes it from the widget's font
    if not wanted:
        font.setFeature(QFont.Tag("calt"), 0)  # brackets beside figures are other glyphs then


@cache
def _font(family: str, pixels: int, weight: QFont.Weight, tabular: bool) -> QFont:
    font = QFont(family)
    font.setPixelSize(pixels)
    font.setWeight(weight)
    if family == TEXT_FAMILY:
        set_figures(font, tabular)
    else:
        font.setStyleHint(QFont.StyleHint.Monospace)
    return font
