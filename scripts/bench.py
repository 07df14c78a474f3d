"""Measure gptviz on this machine: `python scripts/bench.py`, or with the names of parts to measure only those.

Times are ratios taken in one run, alternating between the two sides, so that they mean something on another
machine and on a noisy one. Each part runs in a process of its own.
"""

import argparse
import itertools
import json
import os
import resource  # not on Windows: the memory part needs it
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

START = "GPTVIZ_BENCH_START"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; default all")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if options.inside:
        INSIDE[options.inside]()
        return
    for name in options.parts or PARTS:
        PARTS[name]()


def inside(name: str) -> dict[str, float]:
    """Run one measurement in a fresh process and return what it prints."""
    started = {START: repr(time.clock_gettime(time.CLOCK_MONOTONIC))}
    done = subprocess.run(
        [sys.executable, __file__, "--inside", name],
        env={**os.environ, **started},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def tell(**figures: float) -> None:
    print(json.dumps(figures))


# --- captured ÷ plain forward pass -----------------------------------------------------------------------


def capture_ratio() -> None:
    for tokens in (4, 64, 256, 1024):
        figures = inside(f"ratio-{tokens}")
        print(
            f"captured ÷ plain, {tokens:>4} tokens: {figures['ratio']:.3f}   "
            f"(fastest ÷ fastest {figures['fastest']:.3f}; plain {figures['plain_ms']:.0f} ms)"
        )


def ratio_of(tokens: int, pairs: int) -> None:
    import torch

    from gptviz.capture import capture
    from gptviz.model import GPT2_SMALL, initialise

    model = initialise(GPT2_SMALL, 123)
    ids = torch.randint(0, 50257, (1, tokens))

    def plain() -> None:
        with torch.no_grad():
            model(ids)

    def captured() -> None:
        capture(model, ids)

    plain(), captured()
    times: dict[Callable[[], None], list[float]] = {plain: [], captured: []}
    for turn in range(pairs):
        for run in (plain, captured) if turn % 2 else (captured, plain):
            start = time.perf_counter()
            run()
            times[run].append(time.perf_counter() - start)
    ratios = [b / a for a, b in zip(times[plain], times[captured], strict=True)]
    tell(
        ratio=statistics.median(ratios),
        fastest=min(times[captured]) / min(times[plain]),
        plain_ms=min(times[plain]) * 1000,
    )


# --- memory that capture adds ----------------------------------------------------------------------------


def memory() -> None:
    plain, captured, walked = (inside(f"memory-{what}")["peak"] for what in ("plain", "captured", "walked"))
    print(
        f"memory added by capture, 1024 tokens: {(captured - plain) / 1e6:.0f} MB; "
        f"by looking into every block too: {(walked - plain) / 1e6:.0f} MB   (plain pass: {plain / 1e6:.0f} MB)"
    )


def peak_memory(what: str) -> None:
    import torch

    from gptviz.capture import capture
    from gptviz.model import GPT2_SMALL, initialise

    model = initialise(GPT2_SMALL, 123)
    ids = torch.randint(0, 50257, (1, 1024))
    if what == "plain":
        with torch.no_grad():
            model(ids)
    else:
        trace = capture(model, ids)
        for layer in range(12) if what == "walked" else ():
            trace = trace.with_block(layer)
    tell(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


# --- the window ------------------------------------------------------------------------------------------


def window_start() -> None:
    bare, ours = [], []
    for _ in range(7):
        bare.append(inside("paint-bare")["seconds"])
        ours.append(inside("paint-gptviz")["seconds"])
    ratio = statistics.median(b / a for a, b in zip(bare, ours, strict=True))
    fastest = f"{min(ours) * 1000:.0f} ms ÷ {min(bare) * 1000:.0f} ms"
    print(f"window painted ÷ bare PySide6 + pyqtgraph window: {ratio:.2f}   (fastest: {fastest})")


def tell_first_paint() -> object:
    """Return an event filter that ends the process when the first window was painted, and tells when."""
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication

    class FirstPaint(QObject):
        painted = False
        last = 0.0  # when the last part of the window was painted

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                self.last = time.clock_gettime(time.CLOCK_MONOTONIC)
                if not self.painted:
                    self.painted = True
                    QTimer.singleShot(0, self.finish)  # comes once the whole window is painted
            return False

        def finish(self) -> None:
            tell(seconds=self.last - float(os.environ[START]))
            sys.stdout.flush()
            os._exit(0)

    watch = FirstPaint()
    QApplication.instance().installEventFilter(watch)
    return watch


def paint_bare() -> None:
    import pyqtgraph as pg
    from PySide6.QtWidgets import QApplication, QMainWindow

    app = QApplication([])
    watch = tell_first_paint()
    window = QMainWindow()
    window.setCentralWidget(pg.PlotWidget())
    window.resize(1280, 800)
    window.show()
    app.exec()
    del watch


def paint_gptviz() -> None:
    from gptviz.app.application import make_application, open_window
    from gptviz.session.requests import UntrainedRequest

    app = make_application()
    watch = tell_first_paint()
    open_window("Hello, I am", UntrainedRequest("gpt2-small", 123))
    del app, watch


def event_loop() -> None:
    figures = inside("event-loop")
    print(
        f"worst event-loop gap, 512-token run: {figures['worst_ms']:.0f} ms   "
        f"(while the pass runs {figures['running_ms']:.0f} ms, showing the result {figures['showing_ms']:.0f} ms)"
    )


def repaint() -> None:
    figures = inside("repaint")
    median, worst = figures["median_ms"], figures["worst_ms"]
    print(f"repaint of a 1024 x 1024 head after a click: {median:.0f} ms   (worst {worst:.0f} ms)")


def walk() -> None:
    for tokens in (64, 1024):
        figures = inside(f"walk-{tokens}")
        print(
            f"walk, {tokens:>4} tokens: one step {figures['median_ms']:.0f} ms (slowest in a block "
            f"{figures['within_ms']:.0f} ms, into another block {figures['across_ms']:.0f} ms; "
            f"all of that block after {figures['whole_ms']:.0f} ms)   "
            f"memory after all stages there and back: {figures['grown']:+.0f} MB"
        )


def arithmetic() -> None:
    figures = inside("arithmetic")
    answer, shown = figures["slowest_answer_ms"], figures["slowest_shown_ms"]
    print(f"arithmetic, 64 tokens, slowest of all stages: answer {answer:.1f} ms, in all panes after {shown:.0f} ms")


def run_in_window(prompt: str, look: Callable[..., None]) -> None:
    """Open the window with the 124M model, run ``prompt`` after the first run, then call ``look``."""
    from gptviz.app.appearance import Appearance
    from gptviz.app.application import make_application
    from gptviz.app.main_window import MainWindow
    from gptviz.session.session import Session

    app = make_application()
    session = Session()
    window = MainWindow(session, Appearance(app, "light"))
    window.resize(1440, 900)
    window.show()
    session.start()
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


def measure_event_loop() -> None:
    from PySide6.QtCore import Qt, QTimer

    def look(app: object, session: object, window: object) -> None:
        beats: list[float] = []
        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.setInterval(1)
        timer.timeout.connect(lambda: beats.append(time.perf_counter()))
        timer.start()
        worst = {"running": 0.0, "showing": 0.0}
        for _ in range(3):
            beats.clear()
            session.run()
            before = session.state.trace
            wait_while(app, lambda before=before: session.state.trace is before)
            shown = time.perf_counter()
            wait_while(app, lambda shown=shown: time.perf_counter() < shown + 0.5)
            for start, end in itertools.pairwise(beats):
                phase = "running" if end < shown - 0.2 else "showing"
                worst[phase] = max(worst[phase], (end - start) * 1000)
        timer.stop()
        tell(worst_ms=max(worst.values()), running_ms=worst["running"], showing_ms=worst["showing"])

    run_in_window(" the" * 512, look)


def measure_repaint() -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    def look(app: object, session: object, window: object) -> None:
        session.run()
        wait_while(app, lambda: session.busy)
        app.processEvents()
        grid = window.docks["attention"].pane.grid
        times = []
        for head in (1, 5, 9, 3, 11, 7, 2, 10, 4, 8):
            point = grid.map_box(0, head).center().toPoint()
            start = time.perf_counter()
            QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=point)
            app.processEvents()
            times.append((time.perf_counter() - start) * 1000)
            assert session.state.selection.head == head
        tell(median_ms=statistics.median(times), worst_ms=max(times))

    run_in_window(" the" * 1024, look)


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
            wait_while(app, lambda: not session.state.trace.has(session.state.selection.stage))
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


def measure_arithmetic() -> None:
    from gptviz.analysis.arithmetic import Place, explain

    def look(app: object, session: object, window: object) -> None:
        session.run()
        wait_while(app, lambda: session.busy or session.checking.pending)
        window.show_pane("arithmetic")
        trace, answers, shown = session.state.trace, [], []
        for record in [record for record in trace.records if record.stage.layer in (None, 0)]:
            place = Place(record.name, tuple(size * 2 // 3 for size in record.output_shape))
            times = []
            for _ in range(9):
                start = time.perf_counter()
                assert explain(trace, place.name, place.index).ok
                times.append((time.perf_counter() - start) * 1000)
            answers.append(statistics.median(times))
            start = time.perf_counter()
            session.go_to(place)
            app.processEvents()
            shown.append((time.perf_counter() - start) * 1000)
        tell(slowest_answer_ms=max(answers), slowest_shown_ms=max(shown))

    run_in_window(" the" * 64, look)


def resident() -> int:
    """Bytes of memory that this process holds at present."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


PARTS: dict[str, Callable[[], None]] = {
    "capture": capture_ratio,
    "memory": memory,
    "event-loop": event_loop,
    "start": window_start,
    "repaint": repaint,
    "walk": walk,
    "arithmetic": arithmetic,
}
INSIDE: dict[str, Callable[[], None]] = {
    "ratio-4": lambda: ratio_of(4, 60),
    "ratio-64": lambda: ratio_of(64, 40),
    "ratio-256": lambda: ratio_of(256, 20),
    "ratio-1024": lambda: ratio_of(1024, 8),
    "memory-plain": lambda: peak_memory("plain"),
    "memory-captured": lambda: peak_memory("captured"),
    "memory-walked": lambda: peak_memory("walked"),
    "paint-bare": paint_bare,
    "paint-gptviz": paint_gptviz,
    "event-loop": measure_event_loop,
    "repaint": measure_repaint,
    "walk-64": lambda: measure_walk(64),
    "walk-1024": lambda: measure_walk(1024),
    "arithmetic": measure_arithmetic,
}

if __name__ == "__main__":
    main()
