"""The distribution of one token's features: histogram, mean, and one standard deviation to each side."""

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QSizePolicy

from gptviz.widgets.plotting import pg
from gptviz.widgets.theme import Theme, color, current, look, mono_font, px

Array = np.ndarray[Any, np.dtype[Any]]

_BINS = 64


class Distribution(pg.PlotWidget):  # type: ignore[misc]
    """A histogram in the colour of an operation's family."""

    def __init__(self, family: str) -> None:
        self._look: tuple[Theme, float] | None = None  # what it is drawn in
        super().__init__(background=None, enableMenu=False)
        self._family = family
        self.setFrameShape(self.Shape.NoFrame)
        self.setStyleSheet("background: transparent")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        plot = self.getPlotItem()
        plot.hideButtons()
        plot.setMouseEnabled(False, False)
        plot.hideAxis("left")
        plot.getViewBox().setDefaultPadding(0)
        self._band = pg.LinearRegionItem(movable=False)
        self._band.setZValue(-10)
        self._mean = pg.InfiniteLine(angle=90)
        self._curve = pg.PlotCurveItem([0.0, 1.0], [0.0], stepMode="center", fillLevel=0)
        for item in (self._band, self._curve, self._mean):
            self.addItem(item)
        self._apply_theme()

    def set_values(self, values: Array, low: float, high: float) -> None:
        """Show the finite ``values`` (E,) on an axis from ``low`` to ``high``; mean and band only if all are finite."""
        exact = values.astype(np.float64)
        finite = exact[np.isfinite(exact)]
        counts, edges = np.histogram(finite, bins=_BINS, range=(low, high))
        self._curve.setData(edges, counts)
        for line in (self._mean, self._band):
            line.setVisible(finite.size == exact.size)
        if finite.size == exact.size:
            mean, deviation = float(exact.mean()), float(exact.std())
            self._mean.setValue(mean)
            self._band.setRegion((mean - deviation, mean + deviation))
        self.setXRange(low, high, padding=0)
        self.setYRange(0, max(1, counts.max()) * 1.08, padding=0)

    def clear_values(self) -> None:
        """Show no values."""
        self._curve.setData([0.0, 1.0], [0.0])

    def sizeHint(self) -> QSize:
        return QSize(px(260), px(84))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(120), px(64))

    def _apply_theme(self) -> None:
        self._look = look()
        tone = current().families[self._family]
        self._curve.setPen(pg.mkPen(color(tone), width=1))
        self._curve.setBrush(pg.mkBrush(color(tone, 0.35)))
        self._mean.setPen(pg.mkPen(color(current().text), width=1))
        self._band.setBrush(pg.mkBrush(color(current().muted, 0.12)))
        for line in self._band.lines:
            line.setPen(pg.mkPen(None))
        axis = self.getPlotItem().getAxis("bottom")
        axis.setPen(pg.mkPen(color(current().hairline)))
        axis.setTextPen(pg.mkPen(color(current().muted)))
        axis.setTickFont(mono_font(10))
        axis.setStyle(tickLength=-4, tickTextOffset=4)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._look not in (None, look()):
            self._apply_theme()
