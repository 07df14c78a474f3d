"""A window with the 124M model to measure in, and what measuring takes."""

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path


def run_in_window(prompt: str, look: Callable[..., None], config: str = "gpt2-small") -> None:
    """Open the window with a model, the 124M one by default, run ``prompt`` after the first run, then call ``look``."""
    from gptviz.app.appearance import Appearance
    from gptviz.app.application import make_application
    from gptviz.app.main_window import MainWindow
    from gptviz.session.session import Session

    app = make_application()
    session = Session()
    window = MainWindow(session, Appearance(app, "light"))
    window.resize(1440, 900)
    window.show()
    session.start(config)
    wait_while(app, lambda: session.busy)
    session.set_prompt(prompt)
    wait_while(app, lambda: session.busy)
    look(app, session, window)
    window.close()


def wait_while(app: object, condition: Callable[[], bool]) -> None:
    from PySide6.QtCore import QEventLoop

    app.processEvents()
    while condition():
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def resident() -> int:
    """Bytes of memory that this process holds at present."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Beats:
    """A timer of a millisecond in the GUI thread: where its beats are far apart, the window stood still."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.times: list[float] = []
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(1)
        self._timer.timeout.connect(lambda: self.times.append(time.perf_counter()))
        self._timer.start()

    def gaps(self) -> list[float]:
        """Return the ms between the beats since the last call; one that lasts counts the next time."""
        times, self.times = self.times, self.times[-1:]
        return [(later - earlier) * 1000 for earlier, later in itertools.pairwise(times)]

    def stop(self) -> None:
        self._timer.stop()
