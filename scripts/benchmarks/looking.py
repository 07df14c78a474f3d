"""Looking at one pass: the event loop meanwhile, a repaint, an explanation."""

import itertools
import statistics
import time

from benchmarks.process import inside, tell
from benchmarks.window import Beats, run_in_window, wait_while


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


def arithmetic() -> None:
    figures = inside("arithmetic")
    answer, shown = figures["slowest_answer_ms"], figures["slowest_shown_ms"]
    print(f"arithmetic, 64 tokens, slowest of all stages: answer {answer:.1f} ms, in all panes after {shown:.0f} ms")


def measure_event_loop() -> None:
    def look(app: object, session: object, window: object) -> None:
        beats = Beats()
        worst = {"running": 0.0, "showing": 0.0}
        for _ in range(3):
            beats.times.clear()
            session.run()
            before = session.state.trace
            wait_while(app, lambda before=before: session.state.trace is before)
            shown = time.perf_counter()
            wait_while(app, lambda shown=shown: time.perf_counter() < shown + 0.5)
            for start, end in itertools.pairwise(beats.times):
                phase = "running" if end < shown - 0.2 else "showing"
                worst[phase] = max(worst[phase], (end - start) * 1000)
        beats.stop()
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
