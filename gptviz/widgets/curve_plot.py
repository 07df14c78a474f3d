"""Curves over one axis, with a point on them that mouse and keyboard move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy

from gptviz.widgets.plot_axis import PlotAxis
from gptviz.widgets.plotting import pg
from gptviz.widgets.theme import Theme, color, current, look, mono_font, px, tone

Array = np.ndarray[Any, np.dtype[Any]]

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_DASHES = (4.0, 3.0)


@dataclass(frozen=True)
class CurveStyle:
    """How a curve is drawn; ``tone`` is a family of operations, or accent, text or muted."""

    name: str
    tone: str
    dashed: bool = False


class CurvePlot(pg.PlotWidget):  # type: ignore[misc]
    """``moved`` tells where the person wants the point: by a click, a drag, or the arrow keys (Shift: ten times)."""

    moved = Signal(float)
    keeps_arrows = True
    _look: tuple[Theme, float] | None = None  # which it was drawn in

    def __init__(self, name: str, styles: Sequence[CurveStyle], step: float = 0.05) -> None:
        """Make the plot; keys move the point by ``step``, and where that is 1 the axis counts in whole numbers."""
        self._axes = {"left": PlotAxis("left"), "bottom": PlotAxis("bottom", "whole" if step == 1 else "number")}
        super().__init__(background=None, enableMenu=False, axisItems=self._axes)
        self._styles = styles
        self._step = step
        self._x = 0.0
        self._range = (0.0, 1.0)
        self.setFrameShape(self.Shape.NoFrame)
        self.setStyleSheet("background: transparent")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(f"{name}: click or drag moves the point (← →, Shift: ten times as far, Home, End)")
        plot = self.getPlotItem()
        plot.hideButtons()
        plot.setMouseEnabled(False, False)
        plot.getViewBox().setDefaultPadding(0)
        self._zeros = [pg.InfiniteLine(pos=0, angle=angle) for angle in (0, 90)]
        self._place = pg.InfiniteLine(angle=90)
        self._curves = [pg.PlotCurveItem() for _ in styles]
        self._points = pg.ScatterPlotItem(pxMode=True, useCache=False)
        self._marks = pg.ScatterPlotItem(pxMode=True, useCache=False)
        self._labels: list[pg.TextItem] = []
        for item in (*self._zeros, self._place, *self._curves, self._marks, self._points):
            self.addItem(item)
        self._apply_theme()

    def set_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show this part of the plane."""
        self._range = x
        self.setXRange(*x, padding=0)
        self.setYRange(*y, padding=0)

    def set_curve(self, index: int, x: Array, y: Array) -> None:
        """Draw one curve; it is broken where y is NaN."""
        self._curves[index].setData(x, y, connect="finite")

    def set_marks(self, marks: Sequence[tuple[float, float, str]]) -> None:
        """Mark places, each with a short text."""
        for label in self._labels:
            self.removeItem(label)
        self._labels = [pg.TextItem(text, anchor=(0.5, 1.1 if y > 0 else -0.1)) for _, y, text in marks]
        for label, (x, y, _) in zip(self._labels, marks, strict=True):
            label.setPos(x, y)
            self.addItem(label)
        self._marks.setData([x for x, *_ in marks], [y for _, y, _ in marks])
        self._apply_theme()

    def set_point(self, x: float, ys: Sequence[float]) -> None:
        """Put the point on each curve: at ``x``, with the height ``ys`` of each."""
        self._x = x
        self._place.setValue(x)
        inside = self._range[0] <= x <= self._range[1]
        self._place.setVisible(inside)
        shown = [(x, y) for y in ys if np.isfinite(y)] if inside else []
        self._points.setData([p[0] for p in shown], [p[1] for p in shown])
        self._points.setBrush([pg.mkBrush(tone(style.tone)) for style in self._styles[: len(shown)]] or None)

    # --- mouse and keyboard ------------------------------------------------------------------------------

    def place_of(self, x: float, y: float = 0.0) -> QPointF:
        """Return where a point of the plane is, in pixels of the viewport."""
        return QPointF(self.mapFromScene(self.getPlotItem().getViewBox().mapViewToScene(QPointF(x, y))))

    def _move_to(self, x: float) -> None:
        low, high = self._range
        wanted = min(max(round(x / self._step) * self._step, low), high)
        self.moved.emit(round(wanted, 6))

    def _follow(self, event: QMouseEvent) -> None:
        scene = self.mapToScene(event.position().toPoint())
        self._move_to(self.getPlotItem().getViewBox().mapSceneToView(scene).x())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self._follow(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._follow(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the pane scrolls

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            far = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            self._move_to(self._x + _STEPS[key] * far * self._step)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._move_to(self._range[0] if key == Qt.Key.Key_Home else self._range[1])
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._draw_focus()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._draw_focus()

    # --- look --------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(px(420), px(150))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(220), px(110))

    def _draw_focus(self) -> None:
        pen = pg.mkPen(color(current().accent), width=1) if self.hasFocus() else pg.mkPen(None)
        self.getPlotItem().getViewBox().setBorder(pen)

    def _apply_theme(self) -> None:
        self._look = look()
        for axis in self._axes.values():
            axis.apply_theme()
        self._axes["left"].setWidth(px(36))
        for line in self._zeros:
            line.setPen(pg.mkPen(color(current().hairline), width=1))
        self._place.setPen(pg.mkPen(color(current().muted, 0.6), width=1))
        for style, curve in zip(self._styles, self._curves, strict=True):
            pen = pg.mkPen(color(tone(style.tone)), width=px(2))
            if style.dashed:
                pen.setDashPattern(_DASHES)
            curve.setPen(pen)
        self._points.setSize(px(9))
        self._points.setPen(pg.mkPen(color(current().panel), width=1.5))
        self._marks.setSize(px(7))
        self._marks.setBrush(pg.mkBrush(color(current().panel)))
        self._marks.setPen(pg.mkPen(color(current().text), width=1.5))
        for label in self._labels:
            label.setColor(color(current().text))
            label.setFont(mono_font(10))
        self._draw_focus()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._look not in (None, look()):
            self._apply_theme()
