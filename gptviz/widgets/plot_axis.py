"""An axis in the theme's look, for all plots: true minus signs, powers of ten written as such."""

from collections.abc import Sequence

from gptviz.widgets.plotting import pg
from gptviz.widgets.theme import color, current, mono_font, text_font

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class PlotAxis(pg.AxisItem):  # type: ignore[misc]
    """Ticks of numbers, of whole numbers alone, or of powers of ten (the values are then their exponents)."""

    def __init__(self, place: str, kind: str = "number") -> None:
        """Make the axis at ``place`` (left or bottom); ``kind`` is number, whole or power."""
        super().__init__(place)
        self._kind = kind
        self.enableAutoSIPrefix(False)
        self.apply_theme()

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels = super().tickSpacing(low, high, size)
        if self._kind == "number":
            return list(levels)[:1]
        return [(max(1.0, round(spacing)), offset) for spacing, offset in list(levels)[:1]]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self._kind == "power":
            return [f"10{str(round(value)).translate(_SUPERSCRIPT)}" for value in values]
        if self._kind == "whole":
            return [f"{round(value)}" for value in values]
        return [text.replace("-", "−") for text in super().tickStrings(values, scale, spacing)]

    def apply_theme(self) -> None:
        """Draw the axis in the theme's colours."""
        self.setPen(pg.mkPen(color(current().hairline)))
        self.setTextPen(pg.mkPen(color(current().muted)))
        self.setTickFont(text_font(11) if self._kind == "power" else mono_font(10))
        self.setStyle(tickLength=-4, tickTextOffset=4)
