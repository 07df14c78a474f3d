"""The labs' computations: a thread for each lab that was opened, so that a lab never waits for a model."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gptviz.session.worker import JobContext, Outcome, Worker


class LabWork(QObject):
    """Runs what labs compute; of each lab the newest request alone is answered."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._workers: dict[str, Worker] = {}

    @property
    def pending(self) -> bool:
        """Whether a lab still computes."""
        return any(worker.context is not None for worker in self._workers.values())

    def submit(
        self,
        lab: str,
        work: Callable[[JobContext], object],
        on_end: Callable[[Outcome], None],
        on_tell: Callable[[object], None] | None = None,
    ) -> None:
        """Let the thread of ``lab`` do ``work``, and give its outcome to ``on_end`` in the GUI thread."""
        if lab not in self._workers:
            self._workers[lab] = Worker(lab, self)
        self._workers[lab].submit(work, on_end, on_tell)

    def close(self) -> None:
        """Cancel everything and end the threads."""
        for worker in self._workers.values():
            worker.close()
