"""The model while it is being built."""

import pytest
from holding import Hold, SlowBuild, Wait
from pytestqt.qtbot import QtBot

from gptviz.model import TINY
from gptviz.session.requests import UntrainedRequest
from gptviz.session.session import Session

HELLO = (15496, 11, 314, 716)


def test_typing_while_the_model_is_being_built_does_not_cancel_the_build(
    session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    session.set_prompt("another")
    qtbot.waitUntil(lambda: session.state.prompt_tokens.text == "another")
    slow_build.go_on()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)

    assert slow_build.begun == 1
    assert session.state.trace is not None
    assert session.state.trace.ids.tolist() == [[29214]]


def test_run_while_the_model_is_being_built_waits_for_it(session: Session, slow_build: SlowBuild, qtbot: QtBot) -> None:
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    session.run()
    slow_build.go_on()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)

    assert slow_build.begun == 1
    assert session.state.message is None


def test_the_progress_of_the_build_is_shown(session: Session, slow_build: SlowBuild, qtbot: QtBot) -> None:
    session.start("tiny", 123)

    qtbot.waitUntil(lambda: session.state.activity is not None and session.state.activity.fraction == 0.5)
    assert session.state.activity is not None
    assert session.state.activity.text == "Initialising tiny"


def test_a_cancelled_build_leaves_no_model_and_run_builds_it_again(
    session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    session.cancel()
    qtbot.waitUntil(lambda: not session.busy)
    assert (session.state.model, session.state.activity, session.state.message) == (None, None, None)

    slow_build.go_on()
    session.run()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)
    assert slow_build.begun == 2
    assert session.state.model is not None
    assert session.state.model.config == TINY


def test_closing_while_the_model_is_being_built_ends_the_threads(
    session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    session.close()

    assert session.state.model is None


def test_another_model_while_one_is_being_built_replaces_it(
    session: Session, slow_build: SlowBuild, qtbot: QtBot
) -> None:
    session.start("tiny", 1)
    qtbot.waitUntil(lambda: slow_build.begun == 1)

    session.use_model("tiny", 2)
    qtbot.waitUntil(lambda: slow_build.begun == 2)
    slow_build.go_on()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)

    assert session.state.model is not None
    assert session.state.model.seed == 2
    assert session.making.wanted == UntrainedRequest("tiny", 2)


def test_another_model_during_a_run_cancels_the_run(ready: Session, hold: Hold, wait: Wait, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.0.norm1", until_cancelled=True)
    ready.set_prompt("Hi")
    ready.run()
    qtbot.waitUntil(lambda: gate.reached)

    ready.use_model("tiny", 7)
    wait()

    assert ready.state.model is not None
    assert ready.state.model.seed == 7
    assert ready.state.trace is not None
    assert ready.state.trace.ids.tolist() == [[17250]]
    assert ready.state.trace.replay.model is not gate


def test_a_model_that_cannot_be_built_is_a_message(
    session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gptviz.model.parameters.initialise", refuse)
    session.start("tiny", 123)
    qtbot.waitUntil(lambda: session.state.message is not None and not session.busy)

    assert str(session.state.message) == (
        "The model could not be initialised: the machine has not enough memory for it. "
        "Choose a smaller model or a shorter prompt"
    )


def test_a_tokenizer_that_cannot_be_read_is_a_message_and_nothing_waits_for_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def missing() -> None:
        raise FileNotFoundError("gptviz's own file vocab.bpe is missing: install gptviz again")

    with monkeypatch.context() as patch:
        patch.setattr("gptviz.tokenizer.gpt2_tokenizer", missing)
        session.start("tiny", 123)
        qtbot.waitUntil(lambda: session.state.model is not None and session.state.message is not None)
        qtbot.waitUntil(lambda: not session.busy)
    assert str(session.state.message).startswith(
        "The tokenizer could not be read: FileNotFoundError: gptviz's own file vocab.bpe is missing"
    )

    session.run()
    qtbot.waitUntil(lambda: session.state.trace is not None and not session.busy)
    assert session.state.message is None
