"""How soon the window is there."""

import os
import statistics
import sys
import time

from benchmarks.process import START, inside, tell


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
