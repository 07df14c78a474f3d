"""Going back, branching, undoing, through the session."""

from collections.abc import Callable

import pytest
import torch
from generated import HELLO, chosen, count_passes, runner_up, shown_ids
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.analysis.candidates import Candidate
from gptviz.model import GPTModel
from gptviz.session.explain import ONE_TEXT_ONLY, SAME_TOKEN_AGAIN, STOPPED_ON_THE_WAY
from gptviz.session.session import Session

Generate = Callable[[int], list[int]]


# --- back and forth --------------------------------------------------------------------------------------


def test_back_and_forward_show_one_step_before_or_after(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(3)

    ready.travel.back()
    wait()
    assert shown_ids(ready.state) == [*HELLO, tokens[0]]
    ready.travel.back()
    ready.travel.back()
    wait()
    assert shown_ids(ready.state) == list(HELLO)
    ready.travel.forward()
    wait()

    assert shown_ids(ready.state) == [*HELLO, tokens[0]]
    assert ready.state.generation.shown == 1


def test_a_pass_that_is_kept_does_not_run_again(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(3)
    assert ready.state.trace is not None
    last, passes = ready.state.trace, count_passes(ready)

    ready.travel.show(1)
    wait()
    ready.travel.show(2)
    wait()

    assert passes == []
    assert ready.state.trace is not None
    assert torch.equal(ready.state.trace["out_head"], last["out_head"])


def test_no_more_passes_are_kept_than_there_is_room_for(
    ready: Session, generate: Generate, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ready.state.trace is not None
    room = 3 * ready.state.trace.nbytes
    monkeypatch.setattr("gptviz.session.time_travel._KEPT_BYTES", room)
    generate(8)
    passes = count_passes(ready)

    ready.travel.show(0)
    wait()

    assert 0 < ready.travel.kept_bytes <= room
    assert passes == [1]


# --- branches --------------------------------------------------------------------------------------------


def test_a_picked_token_makes_a_branch_from_which_it_goes_on(
    ready: Session, generate: Generate, wait: Wait, tiny_model: GPTModel
) -> None:
    tokens = generate(3)
    other = runner_up(ready.state, 1)

    ready.travel.pick(other, 1)
    wait()
    went_on = generate(1)

    with torch.no_grad():
        expected = int(tiny_model(torch.tensor([[*HELLO, tokens[0], other.id]]))[0, -1].argmax())
    assert went_on == [tokens[0], other.id, expected]
    assert ready.state.generation.steps[1].picked
    assert [branch.name for branch in ready.state.generation.branches] == ["Branch 1", "Branch 2"]


def test_picking_shows_the_pass_from_which_was_picked(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(3)

    ready.travel.pick(runner_up(ready.state, 0), 0)
    wait()

    assert shown_ids(ready.state) == list(HELLO)
    assert ready.state.generation.shown == 0
    assert tokens[0] not in chosen(ready.state)


def test_a_token_can_be_picked_before_any_step(ready: Session, generate: Generate) -> None:
    ready.travel.pick(Candidate(262, 0.5, 0.25))

    assert chosen(ready.state) == [262]
    assert ready.state.generation.steps[0].candidates[0].id == generate_first(ready)
    assert len(ready.state.generation.branches) == 1


def generate_first(session: Session) -> int:
    assert session.state.trace is not None
    return int(session.state.trace["last"][0].argmax())


def test_all_branches_are_one_call_away(ready: Session, generate: Generate, wait: Wait) -> None:
    first = generate(3)
    ready.travel.pick(runner_up(ready.state, 1), 1)
    wait()
    second = generate(2)

    ready.travel.switch(0)
    wait()
    assert chosen(ready.state) == first
    assert shown_ids(ready.state) == [*HELLO, *first[:2]]
    ready.travel.switch(1)
    wait()

    assert chosen(ready.state) == second


def test_branches_can_be_named(ready: Session, generate: Generate) -> None:
    generate(1)

    ready.travel.rename(0, "  the \n greedy one ")
    ready.travel.rename(0, "   ")

    assert ready.state.generation.branches[0].name == "the greedy one"
    ready.travel.rename(0, "x" * 1000)
    assert ready.state.generation.branches[0].name == "x" * 40


# --- undo and redo ---------------------------------------------------------------------------------------


def test_undo_takes_back_a_token_and_redo_brings_it_again(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(2)

    ready.travel.undo()
    wait()
    assert chosen(ready.state) == tokens[:1]
    assert shown_ids(ready.state) == list(HELLO)
    ready.travel.redo()
    wait()

    assert chosen(ready.state) == tokens
    assert shown_ids(ready.state) == [*HELLO, tokens[0]]


def test_what_was_played_is_undone_at_once(ready: Session, generate: Generate, wait: Wait, qtbot: QtBot) -> None:
    tokens = generate(1)
    ready.loop.play(4)
    qtbot.waitUntil(lambda: not ready.state.generation.playing and not ready.busy)
    assert len(chosen(ready.state)) == 5

    ready.travel.undo()
    wait()

    assert chosen(ready.state) == tokens


def test_a_reset_and_a_pick_can_be_undone(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(2)
    ready.travel.pick(runner_up(ready.state, 0), 0)
    ready.loop.reset()
    wait()
    assert chosen(ready.state) == []

    ready.travel.undo()
    ready.travel.undo()
    wait()

    assert chosen(ready.state) == tokens
    assert len(ready.state.generation.branches) == 1
    assert [change.what for change in ready.state.history.future] == ["drop the generated tokens", "pick a token"]


def test_a_run_can_be_undone_with_its_prompt(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(2)
    ready.set_prompt("Every day")
    ready.run()
    wait()

    ready.travel.undo()
    wait()

    assert ready.state.prompt == "Hello, I am"
    assert (ready.state.generation.prompt, chosen(ready.state)) == (HELLO, tokens)
    assert shown_ids(ready.state) == [*HELLO, tokens[0]]


def test_another_model_has_nothing_to_undo(ready: Session, generate: Generate, wait: Wait) -> None:
    generate(2)

    ready.use_model("tiny", 7)
    wait()
    ready.travel.undo()
    ready.travel.redo()

    assert (ready.state.history.past, chosen(ready.state)) == ((), [])


def test_nothing_to_undo_is_no_error(ready: Session) -> None:
    before = ready.state

    ready.travel.undo()
    ready.travel.redo()
    ready.travel.back()

    assert ready.state is before


def test_nothing_is_picked_from_the_pass_of_another_step(
    ready: Session, generate: Generate, wait: Wait, hold: Hold, qtbot: QtBot
) -> None:
    """While the way to a step is computed, what is on screen are the candidates of the step before."""
    tokens = generate(3)
    ready.travel.forget()
    gate = hold("trf_blocks.0")
    ready.travel.show(0)
    qtbot.waitUntil(lambda: gate.reached)
    assert ready.travel.here is None

    ready.travel.pick(runner_up(ready.state, 2))
    gate.open()
    wait()

    assert chosen(ready.state) == tokens
    assert (ready.travel.here, shown_ids(ready.state)) == (0, list(HELLO))


def test_picking_what_was_chosen_anyway_changes_nothing_and_can_still_be_redone(
    ready: Session, generate: Generate, wait: Wait
) -> None:
    tokens = generate(2)
    ready.travel.undo()
    wait()
    history = ready.state.history

    ready.travel.pick(ready.state.generation.steps[0].chosen, 0)
    wait()

    assert ready.state.history == history
    ready.travel.redo()
    wait()
    assert chosen(ready.state) == tokens


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("<b>&amp;</b>", "<b>&amp;</b>"),
        ("  two\n\n lines\t", "two lines"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("👩‍" * 30, ("👩‍" * 20).rstrip("\u200d")),
        ("\u202egnorw", "gnorw"),  # no mark that turns what follows it around
        ("a\ud800\x00b", "ab"),
        ("x" * 500, "x" * 40),
        ("", "Branch 1"),
        (" \n\u200b\u200d\u2060 ", "Branch 1"),  # nobody could see it
    ],
)
def test_a_branch_has_a_name_that_can_be_seen(ready: Session, generate: Generate, typed: str, name: str) -> None:
    generate(1)

    ready.travel.rename(0, typed)

    assert ready.state.generation.branches[0].name == name


def test_without_a_run_there_is_no_branch_to_name_and_nothing_to_undo(ready: Session, wait: Wait) -> None:
    ready.set_prompt("word " * 80)
    ready.use_model("tiny", 7)  # which can't run that
    wait()
    assert ready.state.generation.prompt == ()

    ready.travel.rename(0, "Ann")

    assert ready.state.generation.branches[0].name == "Branch 1"
    assert ready.state.history.past == ()


# --- stopped on the way ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["reset", "another branch"])
def test_who_stops_the_way_to_another_text_is_told_that_the_panes_show_the_one_before(
    ready: Session, generate: Generate, wait: Wait, hold: Hold, qtbot: QtBot, *, way: str
) -> None:
    generate(2)
    ready.travel.pick(runner_up(ready.state, 0), 0)
    wait()
    generate(1)
    on_screen = shown_ids(ready.state)
    ready.travel.forget()

    gate = hold("trf_blocks.0", until_cancelled=True)
    {"reset": ready.loop.reset, "another branch": lambda: ready.travel.switch(0)}[way]()
    qtbot.waitUntil(lambda: gate.reached)
    ready.cancel()
    wait()
    assert shown_ids(ready.state) == on_screen
    assert ready.travel.is_astray
    assert ready.state.message == STOPPED_ON_THE_WAY

    ready.loop.step()
    wait()
    assert not ready.travel.is_astray
    assert ready.state.message is None


# --- what was said stands as long as it is so ------------------------------------------------------------


def test_after_undo_nobody_is_told_any_more_that_the_panes_show_another_text(
    ready: Session, generate: Generate, wait: Wait, hold: Hold, qtbot: QtBot
) -> None:
    generate(3)
    ready.travel.forget()
    gate = hold("trf_blocks.0", until_cancelled=True)
    ready.loop.reset()
    qtbot.waitUntil(lambda: gate.reached)
    ready.cancel()
    wait()
    assert ready.state.message == STOPPED_ON_THE_WAY

    ready.travel.undo()
    wait()

    assert not ready.travel.is_astray
    assert ready.state.message is None


def test_a_text_is_not_said_to_be_a_batch_after_undo(ready: Session, generate: Generate, wait: Wait) -> None:
    tokens = generate(2)
    ready.add_prompt()
    ready.run()
    wait()
    ready.loop.step()
    assert ready.state.message == ONE_TEXT_ONLY

    ready.travel.undo()
    wait()

    assert chosen(ready.state) == tokens
    assert ready.state.message is None


def test_at_another_step_it_is_no_longer_said_that_the_same_token_was_chosen(
    ready: Session, generate: Generate, wait: Wait
) -> None:
    generate(2)
    ready.travel.redraw()
    wait()
    assert ready.state.message == SAME_TOKEN_AGAIN

    ready.travel.back()
    wait()

    assert ready.state.message is None
