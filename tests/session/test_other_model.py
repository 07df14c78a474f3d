"""What is on screen belongs to the model whose name is on screen."""

from holding import Wait
from pytestqt.qtbot import QtBot

from gptviz.session.session import Session


def test_another_model_takes_the_old_ones_numbers_off_the_screen(ready: Session, wait: Wait) -> None:
    ready.loop.step()
    ready.set_prompt("")
    ready.use_model("tiny", 5)
    wait()

    assert ready.state.model is not None
    assert ready.state.model.seed == 5
    assert (ready.state.trace, ready.state.generation.steps, ready.state.checks.results) == (None, (), ())
    assert "empty" in str(ready.state.message)


def test_a_refused_step_live_holds_no_later_pass(ready: Session, wait: Wait) -> None:
    ready.set_prompt("")
    ready.live.start()
    wait()
    ready.set_prompt("Hello")
    ready.run()
    wait()

    assert ready.state.held is None
    assert ready.state.trace is not None
    assert ready.state.trace.complete


def test_stop_marks_the_step_whose_trace_comes_back(ready: Session, wait: Wait, qtbot: QtBot) -> None:
    for _ in range(3):
        ready.loop.step()
        wait()
    ready.live.start()
    qtbot.waitUntil(lambda: ready.state.held == "ids")
    ready.cancel()
    wait()

    assert ready.state.generation.shown == 2


def test_reset_while_a_pass_is_held_goes_to_the_prompt(ready: Session, wait: Wait, qtbot: QtBot) -> None:
    for _ in range(3):
        ready.loop.step()
        wait()
    ready.live.start()
    qtbot.waitUntil(lambda: ready.state.held == "ids")
    ready.loop.reset()
    wait()

    assert ready.state.trace is not None
    assert ready.state.trace.tokens == 4
    assert ready.state.generation.steps == ()


def test_a_batch_is_not_continued_and_says_why(ready: Session, wait: Wait) -> None:
    ready.add_prompt()
    ready.run()
    wait()
    ready.loop.step()

    assert ready.state.generation.steps == ()
    assert "batch" in str(ready.state.message)


def test_a_batch_has_an_end(ready: Session) -> None:
    for _ in range(12):
        ready.add_prompt()

    assert len(ready.state.prompts) == 8
    assert "at most 8 rows" in str(ready.state.message)
