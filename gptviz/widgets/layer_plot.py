"""Sizes layer by layer on a logarithmic axis, one line of dots a series."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSizePolicy

from gptviz.widgets.curve_plot import CurveStyle
from gptviz.widgets.plot_axis import PlotAxis
from gptviz.widgets.plotting import pg
from gptviz.widgets.theme import Theme, color, current, look, px, tone

Array = np.ndarray[Any, np.dtype[Any]]

_SYMBOLS = ("s", "o", "d")
_MANY = 60  # layers, from which on a line without dots is clearer
_BELOW = 0.6  # powers of ten below the smallest, where zeros stand


class LayerPlot(pg.PlotWidget):  # type: ignore[misc]
    """A zero has no logarithm: it is drawn as a mark at the bottom. What is not finite is left out."""

    def __init__(self, name: str, styles: Sequence[CurveStyle], title: str) -> None:
        self._axes = {"left": PlotAxis("left", "power"), "bottom": PlotAxis("bottom", "whole")}
        self._look: tuple[Theme, float] | None = None  # what it is drawn in
        super().__init__(background=None, enableMenu=False, axisItems=self._axes)
        self._styles = styles
        self._title = title
        self._count = 1
        self.setFrameShape(self.Shape.NoFrame)
        self.setStyleSheet("background: transparent")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(name)
        plot = self.getPlotItem()
        plot.hideButtons()
        plot.setMouseEnabled(False, False)
        plot.getViewBox().setDefaultPadding(0)
        plot.showGrid(x=False, y=True, alpha=0.12)
        self._lines = [pg.PlotCurveItem() for _ in styles]
        self._dots = [
            pg.ScatterPlotItem(symbol=symbol, useCache=False) for _, symbol in zip(styles, _SYMBOLS, strict=False)
        ]
        self._zeros = [pg.ScatterPlotItem(symbol="t", useCache=False) for _ in styles]
        for item in (*self._lines, *self._dots, *self._zeros):
            self.addItem(item)
        self._apply_theme()

    def set_series(self, series: Sequence[Sequence[float]]) -> None:
        """Show for each style its sizes, one a layer, first layer first."""
        values = np.array(series, dtype=np.float64)  # (series, layers)
        shown = np.where(np.isfinite(values) & (values > 0), values, np.nan)
        exponents = np.log10(shown)
        known = exponents[np.isfinite(exponents)]
        low, high = (math.floor(known.min()), math.ceil(known.max())) if known.size else (-1, 0)
        high = max(high, low + 1)
        has_zeros = bool((values == 0).any())
        floor = low - _BELOW if has_zeros else low
        layers = np.arange(1, values.shape[1] + 1)
        self._count = len(layers)
        for index, row in enumerate(exponents):
            self._lines[index].setData(layers, row, connect="finite")
            there = np.isfinite(row) & (self._count <= _MANY)
            self._dots[index].setData(layers[there], row[there])
            zero = values[index] == 0
            self._zeros[index].setData(layers[zero], np.full(int(zero.sum()), floor + _BELOW / 3))
        self._apply_theme()
        self.setXRange(0.6, self._count + 0.4, padding=0)
        self.setYRange(floor - 0.1, high + 0.1, padding=0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the pane scrolls

    def sizeHint(self) -> QSize:
        return QSize(px(420), px(220))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), px(160))

    def _apply_theme(self) -> None:
        self._look = look()
        for axis in self._axes.values():
            axis.apply_theme()
        self._axes["left"].setWidth(px(44))
        self._axes["bottom"].setLabel(self._title, **{"color": current().muted, "font-size": f"{px(11)}px"})
        parts = zip(self._styles, self._lines, self._dots, self._zeros, strict=True)
        for style, line, dots, zeros in parts:
            shade = color(tone(style.tone))
            pen = pg.mkPen(shade, width=px(2))
            if style.dashed:
                pen.setDashPattern([4.0, 3.0])
            line.setPen(pen)
            dots.setSize(px(9))
            dots.setBrush(pg.mkBrush(shade))
            dots.setPen(pg.mkPen(color(current().panel), width=1.5))
            many = self._count > _MANY
            zeros.setSize(px(3 if many else 8))
            zeros.setBrush(pg.mkBrush(shade if many else color(current().panel)))
            zeros.setPen(pg.mkPen(None) if many else pg.mkPen(shade, width=1.5))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._look not in (None, look()):
            self._apply_theme()
