"""Giving memory back to the system: what a replaced trace held at once, the rest when a person pauses."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.session import jobs
from gptviz.session.state import ViewState

if TYPE_CHECKING:
    from gptviz.session.session import Session

_PAUSE_MS = 1000
_LOOK_MS = 20


class Tidying(QObject):
    """Of small tensors the C library keeps the memory until it is told.

    Large ones go back to the system when the last one lets go of them, which takes 30 ms for the logits of a thousand
    tokens. So a thread of its own is the last one, and not the GUI's; torch lets others run meanwhile.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._tidy)
        self._replaced: list[object] = []  # what each replaced trace held
        self._freeing = ThreadPoolExecutor(1, "gptviz-freeing")
        self._looking = QTimer(self)
        self._looking.setSingleShot(True)
        self._looking.setInterval(_LOOK_MS)
        self._looking.timeout.connect(self._free)
        session.changed.connect(self._state_changed)

    @property
    def pending(self) -> bool:
        """Whether there is something to give back."""
        return self._timer.isActive()

    def close(self) -> None:
        self._timer.stop()
        self._looking.stop()
        self._freeing.shutdown()

    @Slot(object, object)
    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.trace is not old.trace:
            self._timer.start()
            if old.trace is not None:
                self._replaced.append(old.trace.large_tensors())
                if not self._looking.isActive():
                    self._looking.start()

    @Slot()
    def _free(self) -> None:
        """Let go of what was replaced, once the panes have; they may have the last one still to replace."""
        kept = self._replaced[-1:] if self._session.turns.pending else []
        gone, self._replaced = self._replaced[: len(self._replaced) - len(kept)], kept
        if kept:
            self._looking.start()
        self._freeing.submit(gone.clear)

    @Slot()
    def _tidy(self) -> None:
        if not self._session.idle or self._session.watched or self._session.measuring.unfinished:
            self._timer.start()
        else:
            self._session.submit_quietly(jobs.give_memory_back, lambda outcome: None)
