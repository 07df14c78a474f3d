"""The colours of a flow's stages: tensors reduced to as many cells as there is room for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from PySide6.QtGui import QColor, QImage

from gptviz.widgets import colormaps
from gptviz.widgets.theme import Theme, current

Array = np.ndarray[Any, np.dtype[Any]]

_CELL = 2.0  # px, the least width of a cell
_LONG_RUN = 256  # columns
_WITHIN = 0.98  # the share of the cells whose colours are not saturated


@dataclass(frozen=True)
class StripValues:
    """What a stage shows: ``values`` (rows, columns); ``shares`` are from 0 to 1, other values signed."""

    values: Array
    shares: bool = False


@dataclass(frozen=True)
class Strip:
    """A picture of a stage: each cell is the value furthest from zero of ``row_step`` x ``column_step`` values."""

    image: QImage
    limit: float
    shares: bool
    row_step: int
    column_step: int


class Strips:
    """Makes and remembers the pictures. ``values`` gives a stage's numbers, or None while they are not at hand."""

    def __init__(self) -> None:
        self.values: Callable[[str], StripValues | None] = lambda name: None
        self._strips: dict[tuple[str, int, int, str], Strip] = {}
        self._counts: dict[str, tuple[int, int]] = {}

    def forget(self, names: Callable[[str], bool] = lambda name: True) -> None:
        """Drop the pictures of the stages that ``names`` picks; all by default."""
        self._strips = {key: strip for key, strip in self._strips.items() if not names(key[0])}
        self._counts = {name: count for name, count in self._counts.items() if not names(name)}

    def strip(self, name: str, width: float, height: float, cell: float = _CELL) -> Strip | None:
        """Return a stage's picture for a box of ``width`` x ``height`` px; None if its numbers are not at hand."""
        counts = self._counts.get(name)
        found = None
        if counts is None:
            found = self.values(name)
            if found is None:
                return None
            counts = self._counts[name] = (found.values.shape[0], found.values.shape[1])
        row_step, column_step = _step(counts[0], height), _step(counts[1], width / cell)
        key = (name, row_step, column_step, current().name)
        if key not in self._strips:
            found = found or self.values(name)
            if found is None:
                return None
            self._strips[key] = _picture(found, row_step, column_step)
        return self._strips[key]


def _step(count: int, room: float) -> int:
    """Return the power of two by which ``count`` has to be divided to fit into ``room`` cells."""
    step = 1
    while count > step * max(1.0, room):
        step *= 2
    return step


def _picture(source: StripValues, row_step: int, column_step: int) -> Strip:
    cells = furthest(source.values, row_step, column_step)
    if source.shares:
        limit, index = 1.0, colormaps.indices(cells, 0.0, 1.0)
    else:
        limit = usual_limit(cells)
        index = colormaps.indices(cells, -limit, limit)
    return Strip(_image(index, source.shares, current()), limit, source.shares, row_step, column_step)


def _image(index: Array, shares: bool, theme: Theme) -> QImage:
    data = np.ascontiguousarray(index)
    height, width = data.shape
    image = QImage(data.data, width, height, width, QImage.Format.Format_Indexed8)
    image.setColorTable(_colours(shares, theme.name, theme.diverging))
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


@cache
def _colours(shares: bool, _: str, stops: tuple[str, str, str]) -> list[int]:
    table = colormaps.sequential() if shares else colormaps.diverging(current())
    return [QColor(*entry).rgba() for entry in table.tolist()]


def usual_limit(cells: Array) -> float:
    """Return the size that 98 % of the finite ``cells`` stay within: a few far ones shall not make the rest pale."""
    sizes = np.abs(cells[np.isfinite(cells)])
    limit = float(np.quantile(sizes, _WITHIN)) if sizes.size else 0.0
    return limit if limit > 0 else colormaps.symmetric_limit(cells)


def furthest(values: Array, row_step: int, column_step: int) -> Array:
    """Reduce ``values`` (rows, columns) to tiles: the finite value furthest from zero, NaN where there is none."""
    cells = _tiled(values, row_step, column_step, False)
    if np.isfinite(cells).all():
        return cells
    return _tiled(np.where(np.isfinite(values), values, np.nan), row_step, column_step, True)


def _tiled(values: Array, row_step: int, column_step: int, skip_nan: bool) -> Array:
    """Reduce along the axis first where it is faster: long runs of columns, else rows."""
    if column_step >= _LONG_RUN:
        return _furthest(_furthest(values, column_step, 1, skip_nan), row_step, 0, skip_nan)
    return _furthest(_furthest(values, row_step, 0, skip_nan), column_step, 1, skip_nan)


def _furthest(values: Array, step: int, axis: int, skip_nan: bool) -> Array:
    if step == 1:
        return values
    whole = values.shape[axis] // step * step
    parts = [part for part in np.split(values, [whole], axis) if part.shape[axis]]
    tiled = [_tiles(part, min(step, part.shape[axis]), axis) for part in parts]
    highest, lowest = (np.fmax, np.fmin) if skip_nan else (np.maximum, np.minimum)
    high = np.concatenate([highest.reduce(part, axis + 1) for part in tiled], axis)
    low = np.concatenate([lowest.reduce(part, axis + 1) for part in tiled], axis)
    result: Array = np.where(high >= -low, high, low)
    return result


def _tiles(values: Array, step: int, axis: int) -> Array:
    """Split ``axis``, whose length ``step`` divides, in two: tiles, and values within a tile."""
    rows, columns = values.shape
    shape = (rows // step, step, columns) if axis == 0 else (rows, columns // step, step)
    return values.reshape(shape)
