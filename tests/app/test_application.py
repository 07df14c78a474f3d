"""From the start of the application to its end."""

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from panes_of import pane_of
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from reading import painted_words
from user import CONTROL, User

from gptviz.app.application import ErrorReporter, open_window
from gptviz.app.main_window import MainWindow
from gptviz.app.settings import Settings
from gptviz.panes.generation import GenerationPane
from gptviz.panes.next_token import NextTokenPane
from gptviz.session.requests import UntrainedRequest
from gptviz.session.session import Session
from gptviz.widgets.text import percent
from gptviz.widgets.theme import DARK, current


class Visitor(QObject):
    """Waits inside the application's own event loop for the first result, notes what it sees, and leaves."""

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self.seen: list[tuple[str, str]] = []
        self._app = app
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(5)

    @Slot()
    def _look(self) -> None:
        window = next((w for w in self._app.topLevelWidgets() if isinstance(w, MainWindow)), None)
        if window is None or window.session.state.trace is None or window.session.busy:
            return
        self._timer.stop()
        model = window.session.state.model
        assert model is not None
        self.seen.append((window.prompt_bar.edit.toPlainText(), model.description))
        window.close()


def test_the_application_starts_runs_the_prompt_and_ends_with_its_window(qapp: QApplication) -> None:
    visitor = Visitor(qapp)

    status = open_window("Every day", UntrainedRequest("tiny", 7))

    assert status == 0
    assert visitor.seen == [("Every day", "tiny · seed 7 · 3.2 M")]


def test_the_application_starts_as_it_was_left(qapp: QApplication) -> None:
    Settings().colour_scheme = "dark"
    visitor = Visitor(qapp)

    open_window("Hi", UntrainedRequest("tiny", 7))

    assert visitor.seen
    assert current() is DARK
    Settings().colour_scheme = "system"


# --- errors that nobody caught ---------------------------------------------------------------------------


class Careless(QObject):
    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.asked.connect(self._fail)

    @Slot()
    def _fail(self) -> None:
        raise ZeroDivisionError("<i>out of luck</i>")


@pytest.fixture
def reporter(session: Session, monkeypatch: pytest.MonkeyPatch) -> ErrorReporter:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    return ErrorReporter(session)


def test_an_error_in_a_slot_is_a_message(
    reporter: ErrorReporter, session: Session, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    careless = Careless()

    careless.asked.emit()

    qtbot.waitUntil(lambda: session.state.message is not None)
    assert str(session.state.message).startswith(
        "Something unforeseen happened: ZeroDivisionError: <i>out of luck</i>."
    )
    assert "Traceback" in capsys.readouterr().err


def test_an_error_in_a_thread_is_a_message(
    reporter: ErrorReporter, session: Session, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()

    qtbot.waitUntil(lambda: session.state.message is not None)
    assert "ZeroDivisionError" in str(session.state.message)
    assert "Traceback" in capsys.readouterr().err


def test_the_reporter_puts_back_what_was_there(session: Session) -> None:
    before = sys.excepthook, threading.excepthook

    ErrorReporter(session).remove()

    assert (sys.excepthook, threading.excepthook) == before


# --- the model that everybody starts with ----------------------------------------------------------------


@pytest.mark.large
def test_the_default_window_shows_the_reference_figures(
    open_window: Callable[..., MainWindow], session: Session, qtbot: QtBot, figures: dict
) -> None:
    reference = figures["untrained_124m_seed_123"]
    window = open_window()
    user = User(window, qtbot)

    session.start()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)

    ranking, generation = pane_of(window, NextTokenPane), pane_of(window, GenerationPane)
    assert "".join(painted_words(window.prompt_bar.strip)) == "Hello15496,11␣I314␣am716"
    assert ranking.choice.text() == "␣Feature"
    assert ranking.bars.accessibleDescription().startswith("␣Feature 0.0205 %; 677 0.0150 %; TRUMP 0.0143 %;")
    assert percent(reference["last_position_top10"][0]["probability"]) == "0.0205 %"

    for _ in range(10):
        user.presses(Qt.Key.Key_G, CONTROL)
        user.waits()
    tokens = [generation.model.index(row, 1).data() for row in range(generation.model.rowCount())]
    assert "Hello, I am" + "".join(tokens).replace("␣", " ") == reference["greedy_10_text"]
    assert generation.text.toPlainText() == reference["greedy_10_text"]


def test_the_window_is_there_before_the_heavy_libraries() -> None:
    heavy = "{'torch', 'tiktoken', 'numpy', 'pyqtgraph'}"
    code = f"import sys, gptviz.app.application; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
