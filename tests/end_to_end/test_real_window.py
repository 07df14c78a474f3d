"""The real ``gptviz`` on a virtual display: started, used with mouse and keyboard, and closed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from virtual_display import Gptviz, VirtualDisplay, eventually, places_of

from gptviz.widgets.theme import DARK, LIGHT

pytestmark = pytest.mark.end_to_end

PROMPT = QRect(20, 40, 400, 30)
LEFT = QRect(0, 120, 480, 600)  # the shape trace
RIGHT = QRect(960, 120, 320, 320)  # the next token
BELOW = QRect(1080, 480, 180, 280)  # the generation
STATUS = QRect(0, 772, 480, 28)


def has_result(picture: QImage) -> bool:
    """Whether the next token and its bars are there."""
    return len(places_of(LIGHT.families["head"], picture, RIGHT)) > 100


def is_idle(picture: QImage) -> bool:
    """Whether the status bar offers no Cancel, whose text alone is as dark as this."""
    return not places_of(LIGHT.text, picture, STATUS)


def shows(display: VirtualDisplay, area: QRect, before: QImage) -> QImage | None:
    """Return the picture once ``area`` has changed and all work is done."""
    now = display.picture()
    return now if now.copy(area) != before.copy(area) and has_result(now) and is_idle(now) else None


def colours(picture: QImage) -> int:
    return len({picture.pixel(x, y) for x in range(0, picture.width(), 3) for y in range(0, picture.height(), 3)})


def test_a_person_runs_a_prompt_looks_around_and_closes_the_window(
    gptviz: Callable[..., Gptviz], display: VirtualDisplay, tmp_path: Path
) -> None:
    application = gptviz("--config", "tiny")
    window = application.window()
    assert display.xdotool("getwindowname", window) == "gptviz"

    # the default prompt has run by itself
    first = eventually(lambda: shows(display, RIGHT, QImage()), "the next token of the default prompt")
    assert first.save(str(tmp_path / "first.png"))
    assert colours(first) > 50

    # type a prompt, and run it
    display.click(*PROMPT.center().toTuple())
    display.press("ctrl+a")
    display.write("Every effort moves you")
    display.press("Return")
    second = eventually(lambda: shows(display, RIGHT, first), "another next token")
    assert second.copy(PROMPT) != first.copy(PROMPT)

    # click on a stage of attention in the shape trace: its row is the selected one
    stages = places_of(LIGHT.families["attention"], second, LEFT)
    x, y = stages[len(stages) // 2]
    row = QRect(x + 40, y - 4, 200, 8)
    display.click(x + 60, y)
    display.point(x + 60, 10)  # away from the row, which is also lit while the mouse is over it
    third = eventually(lambda: shows(display, row, second), "the clicked stage is selected")

    # generate a token
    display.press("ctrl+g")
    eventually(lambda: shows(display, BELOW, third), "the generated token")

    # change the colours
    display.press("ctrl+t")
    eventually(lambda: len(places_of(DARK.panel, display.picture(), RIGHT)) > 1000, "the dark theme")

    assert application.ends_after("ctrl+q") == 0
    assert application.stderr == ""


def test_the_keyboard_comes_back_from_a_dialog_without_a_window_manager(
    gptviz: Callable[..., Gptviz], display: VirtualDisplay
) -> None:
    application = gptviz("--config", "tiny")
    application.window()
    eventually(lambda: shows(display, RIGHT, QImage()), "the next token of the default prompt")

    def dialog() -> str:
        return display.xdotool("search", "--onlyvisible", "--name", "^Open run$")

    def dialog_after(press: Callable[[str], None], keys: str) -> str:
        if not dialog() or keys == "Escape":
            press(keys)  # again and again: a window is in sight a moment before it hears the keyboard
        return dialog()

    eventually(lambda: dialog_after(application.press, "ctrl+alt+o"), "the dialog for a run")
    eventually(lambda: not dialog_after(display.press, "Escape"), "the window without the dialog")

    assert application.ends_after("ctrl+q") == 0
    assert application.stderr == ""


@pytest.mark.large
def test_closing_before_the_model_is_there_ends_the_application(
    gptviz: Callable[..., Gptviz], display: VirtualDisplay
) -> None:
    application = gptviz()
    application.window()
    assert not has_result(display.picture())

    assert application.ends_after("ctrl+q") == 0
    assert application.stderr == ""


@pytest.mark.large
def test_closing_while_a_huge_model_is_initialised_ends_the_application(gptviz: Callable[..., Gptviz]) -> None:
    application = gptviz("--config", "gpt2-xl")
    application.window()
    eventually(lambda: application.memory > 10**9, "the model has begun to fill the memory")

    assert application.ends_after("ctrl+q", within=5 * 10**9) == 0  # the whole of it takes 6 GB
    assert application.stderr == ""
