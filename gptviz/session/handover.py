"""Where the worker waits for what the window paints."""

from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gptviz.session.worker import JobContext


class Handover:
    """The worker asks for one page at a time and takes its bytes; nothing piles up between the two."""

    def __init__(self) -> None:
        self._given: SimpleQueue[bytes | None] = SimpleQueue()

    def give(self, data: bytes) -> None:
        """Hand over what was asked for; runs in the GUI thread."""
        self._given.put(data)

    def take(self, what: object, context: "JobContext") -> bytes:
        """Ask for ``what`` and wait for its bytes; runs in the worker, and raises Cancelled if that is cancelled."""
        context.wake = self._wake
        context.report(context.text or "", context.fraction)
        context.tell(what)
        data = self._given.get()
        context.report(context.text or "", context.fraction)
        return data or b""

    def _wake(self) -> None:
        self._given.put(None)
