"""Opening a checkpoint while something else is under way: what is on screen stays whole, whatever comes of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from checkpoint_writers import SMALL, nanogpt, random_model
from pytestqt.qtbot import QtBot
from user import User

from gptviz.session.requests import CheckpointRequest

pytestmark = pytest.mark.with_panes()


@pytest.fixture
def good(tmp_path: Path) -> CheckpointRequest:
    config = replace(SMALL, vocab_size=50304, activation="gelu", tie_weights=True)
    return CheckpointRequest(str(nanogpt(tmp_path / "trained.pt", random_model(config))))


def begins(user: User, doing: str, qtbot: QtBot) -> None:
    session = user.window.session
    if doing == "a run":
        session.run()
    elif doing == "a held pass":
        session.live.start()
        qtbot.waitUntil(lambda: user.state.held is not None)
    else:
        session.loop.toggle()
        qtbot.waitUntil(lambda: user.state.generation.shown is not None and user.state.generation.shown > 1)


DOING = ["a run", "a held pass", "generation"]


@pytest.mark.parametrize("doing", DOING)
@pytest.mark.parametrize("ends", ["badly", "cancelled"])
def test_the_model_on_screen_stays(user: User, good: CheckpointRequest, doing: str, ends: str, qtbot: QtBot) -> None:
    session, model, trace = user.window.session, user.state.model, user.state.trace
    assert trace is not None
    begins(user, doing, qtbot)

    session.opening.open(replace(good, path="no such file.pth") if ends == "badly" else good)
    if ends == "cancelled":
        session.cancel()
    user.waits()

    assert user.state.model is model
    assert user.state.trace is not None
    assert user.state.trace.config is trace.config
    assert user.state.trace is trace or doing == "generation"
    assert (user.state.held, user.state.live, user.state.generation.playing) == (None, None, False)
    assert (user.state.message is not None) == (ends == "badly")
    user.runs("Still here")
    assert user.state.message is None
    assert user.state.trace.tokens == 2


@pytest.mark.parametrize("doing", DOING)
def test_the_new_model_takes_its_place(user: User, good: CheckpointRequest, doing: str, qtbot: QtBot) -> None:
    begins(user, doing, qtbot)

    user.window.session.opening.open(good)
    user.waits()

    assert user.state.model is not None
    assert user.state.trace is not None
    assert user.state.model.title == "trained.pt"
    assert user.state.trace.config == user.state.model.config
    assert (user.state.held, user.state.live, user.state.generation.steps) == (None, None, ())
