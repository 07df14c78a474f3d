"""Collecting cyclic garbage in the GUI thread alone."""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL_MS = 50  # often, so that each time there is little to look through


class GuiThreadGarbage(QObject):
    """Python collects in whatever thread allocates. In the worker's, that would delete dead Qt objects there, which
    need the interpreter's lock while they hold one of Qt's: the GUI thread, waiting the other way round, would hang.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._frozen = False
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    def close(self) -> None:
        """Let Python collect by itself again; call it when the worker has ended."""
        self._timer.stop()
        if self._frozen:
            gc.unfreeze()
        gc.enable()

    def spare_what_is_there(self) -> None:
        """Leave out of all later collections what exists by now: torch alone brings objects for 200 ms of looking."""
        if not self._frozen and not gc.get_freeze_count():  # which counts one by one: once is enough
            self._frozen = True
            gc.freeze()

    @Slot()
    def _collect(self) -> None:
        """Collect the oldest generation that is due, by Python's own thresholds."""
        due = [count > limit for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if due[0]:
            gc.collect(2 if due[1] and due[2] else 1 if due[1] else 0)
