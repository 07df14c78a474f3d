"""Walking through all stages of a pass, there and back."""

import statistics
import time

from benchmarks.process import inside, tell
from benchmarks.window import resident, run_in_window, wait_while


def walk() -> None:
    for tokens in (64, 1024):
        figures = inside(f"walk-{tokens}")
        print(
            f"walk, {tokens:>4} tokens: one step {figures['median_ms']:.0f} ms (slowest in a block "
            f"{figures['within_ms']:.0f} ms, into another block {figures['across_ms']:.0f} ms; "
            f"all of that block after {figures['whole_ms']:.0f} ms)   "
            f"memory after all stages there and back: {figures['grown']:+.0f} MB"
        )


def measure_walk(tokens: int) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    def look(app: object, session: object, window: object) -> None:
        session.run()
        wait_while(app, lambda: session.busy or session.checking.pending)
        within: list[float] = []
        across: list[float] = []
        whole: list[float] = []

        def press(key: Qt.Key) -> None:
            layer = session.state.selection.layer
            start = time.perf_counter()
            QTest.keyClick(window, key)
            wait_while(app, lambda: not session.state.trace.has(session.state.selection.stage) or session.turns.pending)
            app.processEvents()
            took = (time.perf_counter() - start) * 1000
            wait_while(app, lambda: session.computing)
            whole.append((time.perf_counter() - start) * 1000)
            (within if session.state.selection.layer == layer else across).append(took)

        def there_and_back() -> None:
            for key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
                for _ in range(len(session.walk.stages)):
                    press(key)

        there_and_back()
        wait_while(app, lambda: not session.settled)
        before = resident()
        there_and_back()
        wait_while(app, lambda: not session.settled)
        tell(
            median_ms=statistics.median(within + across),
            within_ms=max(within),
            across_ms=max(across),
            whole_ms=max(whole),
            grown=(resident() - before) / 1e6,
        )

    run_in_window(" the" * tokens, look)
