"""Making a flow's pictures bit by bit: all of them at once, when it is painted, would stop the window for a moment."""

import time
from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QRectF

from gptviz.widgets.flow_plan import Kind
from gptviz.widgets.flow_view import FlowView

_MOMENT = 0.008  # s


class FlowPreparing:
    """While pictures are missing, the flow on screen stays as it is."""

    def __init__(self, view: FlowView) -> None:
        self._view = view
        self._left: Iterator[Callable[[], object]] = iter(())

    def begin(self) -> None:
        """Hold the painting; ``go_on`` has to be called until it is done."""
        self._view.viewport().setUpdatesEnabled(False)
        self._left = self._parts()

    def go_on(self) -> bool:
        """Make pictures for a moment; return whether all are there, in which case they are painted."""
        until = time.perf_counter() + _MOMENT
        for prepare in self._left:
            prepare()
            if time.perf_counter() > until:
                return False
        self._view.viewport().setUpdatesEnabled(True)
        return True

    def _parts(self) -> Iterator[Callable[[], object]]:
        """Yield what makes the picture of each part in sight."""
        view = self._view
        yield view.labels.prepare
        seen = QRectF(view.mapToScene(view.viewport().rect()).boundingRect())
        for item in view.items_.values():
            if item.stage.kind not in (Kind.CHIPS, Kind.NEXT) and seen.intersects(item.boundingRect()):
                yield item.strip
        ratio = view.viewport().devicePixelRatioF()
        for river in (*view.bands, *view.shortcuts):
            if seen.intersects(river.boundingRect()):
                yield partial(river.prepare, ratio)
