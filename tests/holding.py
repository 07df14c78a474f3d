"""Forward passes and builds that stand still until a test lets them go on."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from torch import nn

from gptviz.model import GPTConfig, GPTModel, parameters
from gptviz.session.session import Session

if TYPE_CHECKING:
    from gptviz.session.worker import JobContext


class Gate:
    """Holds a session's forward pass in a module: until it is opened, or until the pass is cancelled."""

    def __init__(self, session: Session, module: nn.Module, until_cancelled: bool) -> None:
        self._reached = threading.Event()
        self._opened = threading.Event()
        self._session = session
        self._until_cancelled = until_cancelled
        self.context: JobContext | None = None  # of the job that came this far
        self._handle = module.register_forward_hook(self._stop)

    def _stop(self, *_: object) -> None:
        self.context = self._session._worker.context
        self._reached.set()
        may_go_on = self.context.cancel if self._until_cancelled and self.context is not None else self._opened
        assert may_go_on.wait(60)
        if self._until_cancelled:
            self._handle.remove()  # the pass that replaces this one may come here before the test goes on

    @property
    def reached(self) -> bool:
        """Whether the pass has come this far."""
        return self._reached.is_set()

    def open(self) -> None:
        """Let the pass go on, and later ones through."""
        self._handle.remove()
        self._opened.set()


class SlowBuild:
    """Stands in for ``initialise``: reports a half until it may go on; it can be cancelled meanwhile."""

    def __init__(self) -> None:
        self.begun = 0
        self._may_go_on = threading.Event()
        self._initialise = parameters.initialise

    def __call__(self, config: GPTConfig, seed: int, on_progress: Callable[[float], None]) -> GPTModel:
        self.begun += 1
        while not self._may_go_on.wait(0.002):
            on_progress(0.5)
        return self._initialise(config, seed, on_progress)

    def go_on(self) -> None:
        self._may_go_on.set()


Hold = Callable[..., Gate]
Wait = Callable[[], None]
