"""Colours for numbers: one map for shares from 0 to 1, one for signed values; and one look for "no number"."""

import hashlib
from array import array
from functools import cache
from typing import Any

import numpy as np
from PySide6.QtGui import QBrush, QColor, QImage, Qt

from gptviz.widgets.plotting import pg
from gptviz.widgets.theme import Theme, color, current

Array = np.ndarray[Any, np.dtype[Any]]

_COLOURS = 255  # indices 0 to 254 are colours
_VAST = 1e37  # a range beyond which single precision overflows
NO_NUMBER = 255  # the index of cells that hold no number: transparent, hatched underneath


@cache
def sequential() -> Array:
    """Return viridis as (256, 4) bytes; the last one is transparent."""
    table = pg.colormap.get("viridis").getLookupTable(nPts=_COLOURS, alpha=True)
    return _with_transparent(table)


def diverging(theme: Theme) -> Array:
    """Return the theme's map for signed values as (256, 4) bytes; zero in the middle, the last one transparent."""
    return _diverging(theme.name, theme.diverging)


@cache
def _diverging(_: str, stops: tuple[str, str, str]) -> Array:
    table = pg.ColorMap([0.0, 0.5, 1.0], list(stops)).getLookupTable(nPts=_COLOURS, alpha=True)
    return _with_transparent(table)


def _with_transparent(table: Array) -> Array:
    return np.vstack([table, np.zeros((1, 4))]).astype(np.uint8)


def indices(values: Array, low: float, high: float) -> Array:
    """Return for each value the index (uint8) of its colour between ``low`` and ``high``."""
    span = high - low
    if span > _VAST:
        values = values.astype(np.float64)  # in single precision the difference would be infinite
    scaled = (values - low) * ((_COLOURS - 1) / span) if span > 0 else np.full(values.shape, _COLOURS // 2)
    finite = np.isfinite(values)
    clipped = np.clip(scaled, 0, _COLOURS - 1)
    if finite.all():
        return clipped.astype(np.uint8)
    return np.where(finite, np.where(finite, clipped, 0), NO_NUMBER).astype(np.uint8)


def symmetric_limit(values: Array) -> float:
    """Return the largest finite absolute value, or 1 if there is none above 0: never an empty range."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    return largest if largest > 0 else 1.0


def indexed_image(index: Array, table: Array) -> QImage:
    """Return an image of colour indices (rows, columns); it owns its bytes."""
    data = np.ascontiguousarray(index)
    height, width = data.shape
    image = QImage(data.data, width, height, width, QImage.Format.Format_Indexed8)
    image.setColorTable([QColor(*entry).rgba() for entry in table.tolist()])
    return image.copy()


def shared_image(image: QImage, known: dict[bytes, QImage]) -> QImage:
    """Return the image of ``known`` that is equal to ``image``, which becomes one of them if there is none."""
    colours = array("I", image.colorTable()).tobytes()
    data = hashlib.sha256(image.constBits())
    data.update(colours + repr(image.size().toTuple()).encode())
    return known.setdefault(data.digest(), image)


def hatch(alpha: float = 0.55) -> QBrush:
    """Return the look of cells without a number."""
    return QBrush(color(current().muted, alpha), Qt.BrushStyle.BDiagPattern)
