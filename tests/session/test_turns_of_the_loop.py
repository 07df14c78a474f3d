"""Decoding, the five lines, the cache and its cost, through the session."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from generated import HELLO, chosen, count_passes, runner_up, shown_ids
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.analysis.decoding import choose
from gptviz.analysis.decoding_settings import Decoding, DecodingError
from gptviz.model import GPTConfig, GPTModel
from gptviz.session.session import Session

Generate = Callable[[int], list[int]]


# --- decoding --------------------------------------------------------------------------------------------


def sampled_by_hand(model: GPTModel, decoding: Decoding, count: int) -> list[int]:
    ids = list(HELLO)
    for _ in range(count):
        with torch.no_grad():
            logits = model(torch.tensor([ids]))[0, -1].numpy()
        ids.append(choose(logits, decoding, len(ids), 1).chosen.id)
    return ids[4:]


def test_the_same_seed_gives_the_same_text(
    ready: Session, generate: Generate, wait: Wait, tiny_model: GPTModel
) -> None:
    decoding = Decoding(temperature=1.3, top_k=500, top_p=0.9, seed=5)
    ready.loop.set_decoding(temperature=1.3, top_k=500, top_p=0.9, seed=5)
    first = generate(4)
    ready.loop.reset()
    wait()

    assert generate(4) == first == sampled_by_hand(tiny_model, decoding, 4)
    assert ready.state.generation.steps[0].decoding == decoding
    ready.loop.set_decoding(seed=6)
    ready.loop.reset()
    wait()
    assert generate(4) != first


def test_going_back_and_on_again_draws_the_same(ready: Session, generate: Generate, wait: Wait) -> None:
    ready.loop.set_decoding(temperature=2.0)
    first = generate(4)
    ready.travel.pick(runner_up(ready.state, 1), 1)
    generate(2)

    ready.travel.undo()
    ready.travel.undo()
    ready.travel.undo()
    ready.travel.undo()
    wait()
    assert chosen(ready.state) == first[:3]

    assert generate(1) == first


def test_choosing_again_with_other_settings_branches(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(3)
    ready.travel.show(1)
    ready.loop.set_decoding(temperature=50.0, seed=9)

    ready.travel.redraw()
    wait()

    assert chosen(ready.state)[0] == tokens[0]
    assert chosen(ready.state)[1] != tokens[1]
    assert len(ready.state.generation.branches) == 2
    assert ready.state.generation.steps[1].chance is not None


def test_choosing_the_same_again_says_so(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(2)

    ready.travel.redraw()
    wait()

    assert chosen(ready.state) == tokens
    assert str(ready.state.message).startswith("No branch was made: the same token was chosen again.")


def test_settings_without_sense_leave_the_last_good_ones(ready: Session) -> None:
    ready.loop.set_decoding(temperature=0.5)

    with pytest.raises(DecodingError):
        ready.loop.set_decoding(temperature=float("nan"))

    assert ready.state.decoding == Decoding(temperature=0.5)


# --- the five lines --------------------------------------------------------------------------------------


def test_a_turn_tells_what_each_line_did(ready: Session, generate: Generate) -> None:
    generate(2)

    lines = ready.state.loop
    assert [(run.before, run.after) for run in lines.runs] == [
        ((1, 5), (1, 5)),
        ((1, 5), (1, 5, 50257)),
        ((1, 5, 50257), (1, 50257)),
        ((1, 50257), (1, 1)),
        ((1, 5), (1, 6)),
    ]
    assert all(run.ms is not None and run.ms >= 0 for run in lines.runs)
    assert (lines.lit, lines.recomputed) == (None, 5)


def test_a_pass_that_ran_before_is_not_said_to_run_again(ready: Session, generate: Generate) -> None:
    generate(1)

    assert [run.ms is None for run in ready.state.loop.runs] == [False, True, False, False, False]
    assert ready.state.loop.recomputed == 0


def test_past_the_context_the_crop_is_told(ready: Session, generate: Generate, wait: Wait) -> None:
    ready.set_prompt(" the" * 64)
    ready.run()
    wait()
    generate(2)

    lines = ready.state.loop
    assert (lines.text_tokens, lines.runs[0].before, lines.runs[0].after) == (65, (1, 65), (1, 64))
    assert lines.runs[4].after == (1, 66)


def test_line_by_line_the_worker_waits_before_each(
    ready: Session, generate: Generate, wait: Wait, qtbot: QtBot
) -> None:
    generate(1)
    passes = count_passes(ready)
    for done, lit in enumerate((1, 2, 3, 4), start=1):
        ready.loop.line()
        qtbot.waitUntil(lambda done=done: ready.state.loop.held and len(ready.state.loop.runs) == done)
        assert ready.state.loop.lit == lit
        assert len(passes) == (done > 1)
        assert len(chosen(ready.state)) == 1

    ready.loop.line()
    wait()

    assert len(chosen(ready.state)) == 2
    assert len(ready.state.loop.runs) == 5


def test_a_held_turn_can_be_finished_or_given_up(ready: Session, generate: Generate, wait: Wait, qtbot: QtBot) -> None:
    generate(1)
    ready.loop.line()
    qtbot.waitUntil(lambda: ready.state.loop.held and len(ready.state.loop.runs) == 1)
    ready.loop.step()
    wait()
    assert len(chosen(ready.state)) == 2

    ready.loop.line()
    qtbot.waitUntil(lambda: ready.state.loop.held and len(ready.state.loop.runs) == 1)
    ready.cancel()
    wait()

    assert len(chosen(ready.state)) == 2
    assert (ready.state.loop.lit, ready.state.loop.held) == (None, False)


# --- the cache and the cost ------------------------------------------------------------------------------


def test_with_the_cache_the_tokens_are_the_same(ready: Session, generate: Generate, wait: Wait) -> None:
    plain = generate(6)
    ready.loop.reset()
    ready.loop.set_caching(True)
    wait()

    assert generate(6) == plain
    assert all(step.cached for step in ready.state.generation.steps)
    assert ready.state.loop.recomputed == 1
    assert ready.state.loop.cache_shape == (2, 1, 2, 9, 16)
    assert ready.state.loop.cache_bytes == 2 * 2 * 2 * 9 * 16 * 4


def test_a_step_from_the_cache_is_shown_with_a_whole_pass(ready: Session, generate: Generate) -> None:
    ready.loop.set_caching(True)

    tokens = generate(3)

    assert ready.state.generation.shown == 2
    assert shown_ids(ready.state) == [*HELLO, *tokens[:2]]


def test_playing_from_the_cache_the_panes_follow_at_the_end(ready: Session, wait: Wait, qtbot: QtBot) -> None:
    ready.loop.set_caching(True)
    passes = count_passes(ready)

    ready.loop.play(20)
    qtbot.waitUntil(lambda: not ready.state.generation.playing and not ready.busy)

    assert len(chosen(ready.state)) == 20
    assert passes == [1]
    assert shown_ids(ready.state) == [*HELLO, *chosen(ready.state)[:19]]
    assert ready.state.generation.shown == 19


def test_among_steps_from_the_cache_one_goes_back_and_stays(ready: Session, generate: Generate, wait: Wait) -> None:
    ready.loop.set_caching(True)
    tokens = generate(5)

    for place in (1, 3, 0, 2):
        ready.travel.show(place)
        wait()
        assert ready.state.generation.shown == place
        assert shown_ids(ready.state) == [*HELLO, *tokens[:place]]
    ready.travel.forget()
    ready.travel.back()
    wait()
    assert ready.state.generation.shown == 1
    ready.travel.pick(runner_up(ready.state, 0), 0)
    generate(3)
    ready.travel.forget()
    ready.travel.show(1)
    ready.travel.switch(0)
    wait()

    assert ready.state.generation.shown == 1
    assert shown_ids(ready.state) == [*HELLO, tokens[0]]


def test_both_ways_are_measured_step_by_step(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(5)

    ready.costing.measure()
    wait()

    costs = ready.state.costs
    assert costs.complete
    assert [(row.context_tokens, row.computed) for row in costs.rows] == [(4, 4), (5, 1), (6, 1), (7, 1), (8, 1)]
    assert all(row.agrees and row.difference < 1e-4 for row in costs.rows)
    assert costs.rows[0].difference == 0.0
    assert (costs.shape, costs.nbytes) == ((2, 1, 2, 8, 16), 2 * 2 * 2 * 8 * 16 * 4)
    assert costs.allocated == 2 * 2 * 2 * 64 * 16 * 4


def test_what_was_measured_stands_while_the_text_grows_and_no_longer(
    ready: Session, generate: Generate, wait: Wait
) -> None:
    generate(2)
    ready.costing.measure()
    wait()

    generate(1)
    assert len(ready.state.costs.rows) == 2
    ready.travel.pick(runner_up(ready.state, 0), 0)

    assert ready.state.costs.rows == ()


def test_measuring_can_be_stopped(ready: Session, generate: Generate, wait: Wait, hold: Hold, qtbot: QtBot) -> None:
    generate(3)
    ready.costing.measure()
    qtbot.waitUntil(lambda: len(ready.state.costs.rows) >= 1)
    ready.cancel()
    wait()

    assert ready.state.activity is None
    assert 1 <= len(ready.state.costs.rows) <= 3


def test_stop_ends_what_is_measured_within_a_pass(
    ready: Session, generate: Generate, wait: Wait, hold: Hold, qtbot: QtBot
) -> None:
    generate(3)
    passes = count_passes(ready)
    gate = hold("trf_blocks.0", until_cancelled=True)
    ready.costing.measure()
    qtbot.waitUntil(lambda: gate.reached)

    ready.cancel()
    wait()

    assert passes == []  # none came to its end
    assert ready.state.costs.rows == ()


def test_play_while_something_is_measured_begins_after_it(
    ready: Session, generate: Generate, hold: Hold, qtbot: QtBot
) -> None:
    generate(2)
    gate = hold("trf_blocks.1")
    ready.costing.measure()
    qtbot.waitUntil(lambda: gate.reached)

    ready.loop.play(2)
    gate.open()
    qtbot.waitUntil(lambda: not ready.busy and not ready.state.generation.playing)

    assert len(chosen(ready.state)) == 4
    assert len(ready.state.costs.rows) == 2


def test_a_cache_that_was_switched_off_holds_nothing(ready: Session, generate: Generate) -> None:
    ready.loop.set_caching(True)
    generate(2)
    assert ready.state.loop.cache_bytes > 0

    ready.loop.set_caching(False)
    ready.loop.set_caching(True)

    assert (ready.state.loop.cache_shape, ready.state.loop.cache_bytes) == ((), 0)


@pytest.mark.parametrize("caching", [False, True])
def test_a_message_stays_while_tokens_are_appended(
    ready: Session, wait: Wait, qtbot: QtBot, tmp_path: Path, caching: bool
) -> None:
    ready.loop.set_caching(caching)
    ready.loop.play()
    ready.recording.save(tmp_path / "run.gptviz")
    assert "tokens are being generated" in str(ready.state.message)

    steps = len(ready.state.generation.steps)
    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= steps + 3)
    assert "tokens are being generated" in str(ready.state.message)

    ready.loop.pause()
    wait()
    ready.loop.step()
    assert ready.state.message is None
    wait()


# --- a model without numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("caching", [False, True])
def test_where_nothing_can_be_drawn_it_is_said_until_a_token_is_chosen(
    ready: Session, wait: Wait, caching: bool
) -> None:
    assert ready.state.trace is not None
    with torch.no_grad():
        ready.state.trace.replay.model.get_parameter("out_head.weight")[700].fill_(torch.nan)
    ready.run()
    wait()
    ready.loop.set_caching(caching)
    ready.loop.set_decoding(temperature=0.8)

    ready.loop.play()
    wait()
    assert not ready.state.generation.playing
    assert chosen(ready.state) == []
    assert "not all finite" in str(ready.state.message)
    assert "Choose Greedy" in str(ready.state.message)

    ready.loop.set_decoding(temperature=0.0)
    ready.loop.step()
    wait()
    assert chosen(ready.state) == [700]  # what the model's argmax takes
    assert ready.state.message is None


def test_top_k_is_never_more_than_the_vocabulary(ready: Session, wait: Wait) -> None:
    ready.loop.set_decoding(temperature=1.0, top_k=400)

    ready.use_model(GPTConfig(vocab_size=300, context_length=8, emb_dim=8, n_heads=2, n_layers=1), 0)
    wait()

    assert ready.state.decoding == Decoding(temperature=1.0, top_k=None)


@pytest.mark.parametrize("caching", [False, True])
def test_a_session_that_is_closed_while_it_plays_asks_for_nothing_more(
    ready: Session, qtbot: QtBot, caching: bool
) -> None:
    ready.loop.set_caching(caching)
    ready.loop.play()
    qtbot.waitUntil(lambda: len(ready.state.generation.steps) >= 3)
    changes: list[object] = []

    ready.close()
    ready.changed.connect(lambda old, new: changes.append(new))
    ready.loop.step()
    qtbot.wait(30)  # in which nothing happens

    assert changes == []
    assert ready.idle
