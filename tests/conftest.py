"""What the tests share: the models, the figures that come from outside, and a person at the window."""

import copy
import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from holding import Hold, SlowBuild, Wait
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot
    from shell import Shell
    from user import User

    from gptviz.app.appearance import Appearance
    from gptviz.app.main_window import MainWindow
    from gptviz.app.settings import Settings
    from gptviz.model import GPTModel
    from gptviz.session.session import Session

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported: no test opens a window on a real screen
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: its threads would only wait for each other
os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported: the same
os.environ["THP_MEM_ALLOC_ENABLE"] = "1"  # before torch is imported: as the application has it
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # where it has more threads, they must not wait by turning in circles


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "without_panes(names): the window has these panes closed, to be there sooner")
    config.addinivalue_line("markers", "with_panes(names): the window has only these panes open, to be there sooner")
    config.addinivalue_line("markers", "with_all_panes: the window is whole, other than in the rest of the file")
    config.addinivalue_line("markers", "without_pauses: checks and tidying begin at once, to be waited for")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make Qt's own warnings errors too."""
    for item in items:
        item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
        item.add_marker(pytest.mark.qt_log_ignore("^This plugin does not support", extend=True))  # offscreen


def pytest_collection_finish() -> None:
    """Leave out of all later collections what was imported, and the tests themselves."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Compute in one thread, fixtures of all scopes included, unless the model is large."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(os.cpu_count() if _is_large(item) else 1)


def _is_large(test: pytest.Item) -> bool:
    return test.get_closest_marker("large") is not None


# --- models and figures ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def figures() -> dict[str, Any]:
    """The chapter's printed figures, and what its published code computes."""
    return json.loads(Path(__file__).with_name("reference_figures.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tiny_model() -> "GPTModel":
    """A small model in eval mode, shared by all tests: leave it as it is."""
    from gptviz.model import TINY, initialise

    return initialise(TINY, seed=123)


@pytest.fixture
def own_tiny_model(tiny_model: "GPTModel") -> "GPTModel":
    """A copy of the small model that a test may change."""
    return copy.deepcopy(tiny_model)


@pytest.fixture(scope="session")
def small_model() -> "GPTModel":
    """The untrained 124M model in eval mode, shared by all tests: mark those that use it ``large``."""
    from gptviz.model import GPT2_SMALL, initialise

    return initialise(GPT2_SMALL, seed=123)


# --- what no test may do ---------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep every QSettings of this process away from the person's own."""
    from PySide6.QtCore import QSettings

    folder = str(tmp_path_factory.mktemp("settings"))
    for kind in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(kind, QSettings.Scope.UserScope, folder)


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves a thread of the application, a running timer or a top-level widget."""
    timers = _watch_timers(monkeypatch)
    widgets = set(_top_level_widgets())
    yield
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("gptviz-")]
    left += [f"a timer of {timer.interval()} ms" for timer in timers if _is_running(timer)]
    if not widgets.issuperset(_top_level_widgets()):
        request.node.funcargs.clear()  # else they hold widgets until after this check
        gc.collect()  # pyqtgraph's plots and their menus hold each other
    left += [repr(widget) for widget in _top_level_widgets() if widget not in widgets]
    assert left == []


def _watch_timers(monkeypatch: pytest.MonkeyPatch) -> "list[QTimer]":
    from PySide6.QtCore import QTimer

    started: list[QTimer] = []
    start = QTimer.start

    def noting(timer: QTimer, *interval: int) -> None:
        started.append(timer)
        start(timer, *interval)

    monkeypatch.setattr(QTimer, "start", noting)
    return started


def _is_running(timer: "QTimer") -> bool:
    import shiboken6

    return shiboken6.isValid(timer) and timer.isActive()


def _top_level_widgets() -> list[Any]:
    from PySide6.QtWidgets import QApplication

    if not isinstance(QApplication.instance(), QApplication):
        return []
    of_qt = "QTipLabel"  # the one tooltip, which Qt deletes later
    return [widget for widget in QApplication.topLevelWidgets() if widget.metaObject().className() != of_qt]


@pytest.fixture(scope="session", autouse=True)
def _wait_patiently() -> Iterator[None]:
    """Look every 2 ms whether what is waited for is there, not every 10; give up when it will never come.

    Not after pytest-qt's 5 s: the worker's threads stand back (``nice``), so beside busy programs they take five times
    as long.
    """
    from pytestqt.qtbot import QtBot

    wait = QtBot.wait
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QtBot, "wait", lambda bot, ms: wait(bot, 2 if ms == 10 else ms))
        for waiting in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitCallback):
            patch.setitem(waiting.__kwdefaults__, "timeout", 60_000)
        yield


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Shell":
    """The ``gptviz`` command, called in this process."""
    from shell import Shell

    _leave_out_pauses(monkeypatch)
    return Shell(capsys)


def _leave_out_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what begins when a person pauses begin at once: a test that waits for it has nothing to look at."""
    from gptviz.session import checking, measuring, tidying

    for module in (checking, measuring, tidying):
        monkeypatch.setattr(module, "_PAUSE_MS", 10)


# --- the application on the small model ------------------------------------------------------------------


@pytest.fixture
def session(qtbot: "QtBot", request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Session]":
    """A session that was not started."""
    from gptviz.session import jobs
    from gptviz.session.session import Session

    if not _is_large(request.node):
        monkeypatch.setattr(jobs, "use_threads", lambda: None)
    if request.node.get_closest_marker("without_pauses"):
        _leave_out_pauses(monkeypatch)
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 1)  # it is frozen, see above; counting takes 20 ms
    session = Session()
    yield session
    session.close()


@pytest.fixture
def ready(session: "Session", tiny_model: "GPTModel", qtbot: "QtBot", monkeypatch: pytest.MonkeyPatch) -> "Session":
    """A session that has run the default prompt on the small model: a copy of it, which is there sooner."""
    from gptviz.model import parameters

    with monkeypatch.context() as patch:
        patch.setattr(parameters, "initialise", lambda *_: copy.deepcopy(tiny_model))
        session.start("tiny", 123)
        qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)
    return session


@pytest.fixture
def wait(session: "Session", qtbot: "QtBot") -> "Wait":
    """A function that waits until nothing is under way."""
    return lambda: qtbot.waitUntil(lambda: not session.busy)


@pytest.fixture
def hold(session: "Session") -> "Iterator[Hold]":
    """A function that makes the session's model stop in a module, until the test lets it go on."""
    from holding import Gate

    gates: list[Gate] = []

    def hold(module: str, until_cancelled: bool = False) -> Gate:
        assert session.state.trace is not None
        gates.append(Gate(session, session.state.trace.replay.model.get_submodule(module), until_cancelled))
        return gates[-1]

    yield hold
    for gate in gates:
        gate.open()


@pytest.fixture
def slow_build(monkeypatch: pytest.MonkeyPatch) -> "Iterator[SlowBuild]":
    """A build of the model that stands at a half, until the test lets it go on."""
    from holding import SlowBuild

    from gptviz.model import parameters

    build = SlowBuild()
    monkeypatch.setattr(parameters, "initialise", build)
    yield build
    build.go_on()


@pytest.fixture
def appearance(qapp: "QApplication") -> "Iterator[Appearance]":
    """The light look in normal size."""
    from gptviz.app.appearance import Appearance

    appearance = Appearance(qapp, "light")
    yield appearance
    appearance.set_lecture(False)
    _delete(appearance)


@pytest.fixture
def settings(tmp_path: Path) -> "Settings":
    """Settings in a file of their own."""
    from PySide6.QtCore import QSettings

    from gptviz.app.settings import Settings

    return Settings(QSettings(str(tmp_path / "gptviz.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def open_window(
    session: "Session", appearance: "Appearance", qapp: "QApplication", qtbot: "QtBot"
) -> "Iterator[Callable[..., MainWindow]]":
    """A function that shows a window of the session, which was not started."""
    from gptviz.app.main_window import MainWindow

    windows: list[MainWindow] = []

    def open_window(
        settings: "Settings | None" = None, closed: Sequence[str] = (), before: Callable[[], object] = lambda: None
    ) -> MainWindow:
        window = MainWindow(session, appearance, settings)
        windows.append(window)
        window.resize(1440, 900)
        for name in closed:
            window.docks[name].close()
        before()
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    yield open_window
    for window in windows:
        window.close()
        qapp.processEvents()  # a single shot that never fires keeps its window alive
        _delete(window)


@pytest.fixture
def window(open_window: "Callable[..., MainWindow]", request: pytest.FixtureRequest) -> "MainWindow":
    """The window after the default prompt has run on the small model; it is shown after that, to be there sooner."""
    return open_window(closed=_closed_panes(request.node), before=lambda: request.getfixturevalue("ready"))


def _closed_panes(test: pytest.Item) -> Sequence[str]:
    """Return what the nearest of the test's marks tells to close."""
    from gptviz.panes import PANES

    for mark in test.iter_markers():
        if mark.name == "with_all_panes":
            return ()
        if mark.name == "without_panes":
            return mark.args
        if mark.name == "with_panes":
            return [pane.name for pane in PANES if pane.name not in mark.args]
    return ()


@pytest.fixture
def user(window: "MainWindow", qtbot: "QtBot") -> "User":
    """A person at the window."""
    from user import User

    return User(window, qtbot)


def _delete(thing: Any) -> None:
    from PySide6.QtCore import QCoreApplication, QEvent

    thing.deleteLater()
    QCoreApplication.sendPostedEvents(thing, QEvent.Type.DeferredDelete.value)
