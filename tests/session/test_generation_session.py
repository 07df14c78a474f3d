"""The greedy loop: step, play, pause, reset, and going back to a step."""

from collections.abc import Callable

import pytest
import torch
from generated import HELLO, chosen, shown_ids
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.model import GPTModel, greedy_steps
from gptviz.session.session import Session

Generate = Callable[[int], list[int]]


def expected(model: GPTModel, prompt: tuple[int, ...], count: int) -> list[int]:
    return [int(step.next_ids) for step in greedy_steps(model, torch.tensor([prompt]), count)]


def test_after_a_run_the_generation_begins_with_the_prompt(ready: Session) -> None:
    generation = ready.state.generation

    assert (generation.prompt, generation.steps, generation.shown, generation.playing) == (HELLO, (), None, False)


def test_the_first_step_reads_the_token_off_the_trace_that_is_there(
    ready: Session, generate: Generate, tiny_model: GPTModel
) -> None:
    before = ready.state.trace

    generate(1)

    assert chosen(ready.state) == expected(tiny_model, HELLO, 1)
    assert ready.state.trace is before


def test_steps_are_those_of_the_greedy_loop(ready: Session, generate: Generate, tiny_model: GPTModel) -> None:
    generate(4)

    tokens = expected(tiny_model, HELLO, 4)
    assert chosen(ready.state) == tokens
    assert ready.state.generation.ids == (*HELLO, *tokens)
    assert ready.state.generation.shown == 3
    assert shown_ids(ready.state) == [*HELLO, *tokens[:3]]


def test_a_step_has_the_runners_up_in_order(ready: Session, generate: Generate) -> None:
    generate(1)

    candidates = ready.state.generation.steps[0].candidates
    assert ready.state.trace is not None
    best = torch.topk(ready.state.trace["last"][0], 5)
    assert [candidate.id for candidate in candidates] == best.indices.tolist()
    assert [candidate.logit for candidate in candidates] == best.values.tolist()


def test_beyond_the_context_the_first_tokens_fall_out(
    ready: Session, generate: Generate, wait: Wait, tiny_model: GPTModel
) -> None:
    ready.set_prompt(" the" * 63)
    ready.run()
    wait()
    prompt = (262,) * 63

    generate(4)

    tokens = expected(tiny_model, prompt, 4)
    assert chosen(ready.state) == tokens
    assert [step.context_tokens for step in ready.state.generation.steps] == [63, 64, 64, 64]
    assert ready.state.generation.context(3, 64) == (*prompt, *tokens[:3])[-64:]
    assert ready.state.message is None


def test_a_step_of_the_past_can_be_shown(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(3)

    ready.travel.show(1)
    wait()

    assert shown_ids(ready.state) == [*HELLO, chosen(ready.state)[0]]
    assert ready.state.generation.shown == 1
    assert len(ready.state.generation.steps) == 3


def test_a_step_of_the_past_has_the_tensors_that_it_had(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(2)
    assert ready.state.trace is not None
    first = ready.state.trace["out_head"]
    generate(2)

    ready.travel.show(1)
    wait()

    assert torch.equal(ready.state.trace["out_head"], first)


def test_after_looking_back_the_next_step_goes_on_from_the_end(
    ready: Session, generate: Generate, wait: Wait, tiny_model: GPTModel
) -> None:
    generate(3)
    ready.travel.show(0)
    wait()

    generate(1)

    assert chosen(ready.state) == expected(tiny_model, HELLO, 4)
    assert ready.state.generation.shown == 3


@pytest.mark.parametrize("index", [-1, 2])
def test_a_step_that_does_not_exist_is_not_shown(ready: Session, generate: Generate, index: int) -> None:
    generate(2)
    before = ready.state

    ready.travel.show(index)

    assert ready.state is before


def test_a_step_that_was_to_be_taken_soon_is_not_taken_once_the_session_is_closed(ready: Session) -> None:
    ready.close()
    before = ready.state

    ready.loop.step()

    assert ready.state is before
    assert not ready._live_timer.isActive()


def test_play_goes_on_until_pause(ready: Session, wait: Wait, tiny_model: GPTModel, qtbot: QtBot) -> None:
    ready.loop.play()
    assert ready.state.generation.playing
    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= 5)

    ready.loop.pause()
    wait()

    count = len(ready.state.generation.steps)
    assert not ready.state.generation.playing
    assert chosen(ready.state) == expected(tiny_model, HELLO, count)


def test_reset_drops_the_tokens_and_shows_the_prompt_again(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(3)

    ready.loop.reset()
    wait()

    generation = ready.state.generation
    assert (generation.prompt, generation.steps, generation.shown) == (HELLO, (), None)
    assert shown_ids(ready.state) == list(HELLO)


def test_reset_stops_playing(ready: Session, wait: Wait, qtbot: QtBot) -> None:
    ready.loop.play()
    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= 2)

    ready.loop.reset()
    wait()

    assert ready.state.generation.steps == ()
    assert not ready.state.generation.playing
    assert shown_ids(ready.state) == list(HELLO)


def test_a_step_that_was_done_when_the_generation_was_reset_is_not_appended(
    ready: Session, generate: Generate, wait: Wait
) -> None:
    generate(1)
    ready.loop.step()
    ready._worker._executor.submit(lambda: None).result(20)  # the step's pass is done, its end not yet delivered

    ready.loop.reset()
    wait()

    assert ready.state.generation.steps == ()
    assert shown_ids(ready.state) == list(HELLO)


def test_a_run_begins_a_new_generation(ready: Session, generate: Generate, wait: Wait, tiny_model: GPTModel) -> None:
    generate(2)

    ready.set_prompt("Hi")
    ready.run()
    wait()
    generate(1)

    assert ready.state.generation.prompt == (17250,)
    assert chosen(ready.state) == expected(tiny_model, (17250,), 1)


def test_a_cancelled_step_appends_nothing_and_can_be_taken_again(
    ready: Session, generate: Generate, hold: Hold, wait: Wait, qtbot: QtBot
) -> None:
    generate(1)
    gate = hold("trf_blocks.1.norm1", until_cancelled=True)
    ready.loop.play()
    qtbot.waitUntil(lambda: gate.reached)

    ready.cancel()
    wait()
    assert len(ready.state.generation.steps) == 1
    assert not ready.state.generation.playing

    gate.open()
    generate(1)
    assert len(ready.state.generation.steps) == 2


def test_a_failed_step_is_a_message_and_ends_the_playing(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(1)
    assert ready.state.trace is not None
    broken = ready.state.trace.replay.model.final_norm.register_forward_hook(fail)

    ready.loop.play()
    wait()

    assert str(ready.state.message).startswith("The next token could not be generated: CaptureError:")
    assert not ready.state.generation.playing
    assert len(ready.state.generation.steps) == 1
    broken.remove()


def fail(*_: object) -> None:
    raise ZeroDivisionError("out of luck")


def test_a_step_while_one_is_under_way_is_not_taken_twice(
    ready: Session, generate: Generate, hold: Hold, wait: Wait, qtbot: QtBot
) -> None:
    generate(1)
    begun: list[int] = []
    assert ready.state.trace is not None
    ready.state.trace.replay.model.tok_emb.register_forward_hook(lambda *_: begun.append(1))
    gate = hold("tok_emb")
    ready.loop.step()
    qtbot.waitUntil(lambda: gate.reached)

    ready.loop.step()
    gate.open()
    wait()

    assert len(ready.state.generation.steps) == 2
    assert len(begun) == 1


def test_choosing_another_block_does_not_stop_the_playing(
    ready: Session, hold: Hold, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("gptviz.capture.recorder.blocks_within", lambda *_: 0)
    gate = hold("trf_blocks.0.norm1")
    ready.loop.play()
    qtbot.waitUntil(lambda: gate.reached)

    ready.select(layer=1)  # its inside has to be replayed after the pass
    gate.open()

    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= 4)
    ready.loop.pause()


def test_play_during_a_replay_begins_after_it(
    ready: Session, hold: Hold, monkeypatch: pytest.MonkeyPatch, wait: Wait, qtbot: QtBot
) -> None:
    monkeypatch.setattr("gptviz.capture.recorder.blocks_within", lambda *_: 0)
    ready.run()
    wait()
    gate = hold("trf_blocks.1.norm1")
    ready.select(layer=1)
    qtbot.waitUntil(lambda: gate.reached)

    ready.loop.play()
    gate.open()

    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= 2)
    ready.loop.pause()


def test_a_cancelled_look_back_tells_which_step_is_on_screen(
    ready: Session, generate: Generate, hold: Hold, wait: Wait, qtbot: QtBot
) -> None:
    generate(3)
    ready.travel.forget()  # so that the pass has to run again
    gate = hold("tok_emb", until_cancelled=True)
    ready.travel.show(0)
    qtbot.waitUntil(lambda: gate.reached)

    ready.cancel()
    wait()

    assert ready.state.generation.shown == 2
    assert shown_ids(ready.state) == list(ready.state.generation.context(2, 64))


def test_there_is_no_step_without_a_trace(session: Session) -> None:
    session.loop.step()
    session.loop.play()

    assert session.state.generation.steps == ()
    assert not session.state.generation.playing
