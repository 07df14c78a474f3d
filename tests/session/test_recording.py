"""Saving a run and opening it without its model: what is the same, what needs the model, and how that comes back."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from checkpoint_writers import SMALL, nanogpt, random_model
from holding import Wait
from pytestqt.qtbot import QtBot
from recording import Save, opened, waits

from gptviz.capture import Trace
from gptviz.session.requests import CheckpointRequest, UntrainedRequest
from gptviz.session.session import Session


def same_bits(one: Trace, two: Trace) -> bool:
    return one.names == two.names and all(
        one[name].dtype == two[name].dtype
        and one[name].shape == two[name].shape
        and torch.equal(one[name].contiguous().view(torch.int32), two[name].contiguous().view(torch.int32))
        for name in one.names
    )


def test_a_run_opens_without_its_model_and_is_the_same_bit_for_bit(
    ready: Session, save: Save, other: Session, qtbot: QtBot
) -> None:
    ready.select_stage("trf_blocks.1.att.weights", head=1, query=2)
    ready.set_option(top_k=17)
    ready.live.toggle_breakpoint("trf_blocks.0.norm1")
    qtbot.waitUntil(lambda: ready.state.checks.complete)

    state = opened(other, save(), qtbot)

    assert state.message is None
    assert not other.has_model
    assert state.recorded is not None
    assert ready.state.trace is not None
    assert state.trace is not None
    assert same_bits(state.trace, ready.state.trace)
    assert state.trace.records == ready.state.trace.records  # times too
    assert {name: array.tolist() for name, array in state.trace.digests.items()} == {
        name: array.tolist() for name, array in ready.state.trace.digests.items()
    }
    fields = ("prompts", "tokens", "model", "trace_rows", "generation", "decoding", "selection", "options", "trail")
    for name in (*fields, "breakpoints", "checks", "costs"):
        assert getattr(state, name) == getattr(ready.state, name), name
    assert (state.trace.parameter("final_norm.scale") == ready.state.trace.parameter("final_norm.scale")).all()


def test_branches_steps_and_names_survive_and_each_recorded_step_can_be_shown(
    ready: Session, save: Save, other: Session, wait: Wait, qtbot: QtBot
) -> None:
    ready.loop.set_decoding(temperature=0.9, seed=7)
    ready.loop.play(3)
    waits(ready, qtbot)
    ready.travel.show(1)
    wait()
    ready.travel.pick(ready.state.generation.steps[1].candidates[2])
    wait()
    ready.loop.step()
    wait()
    ready.travel.rename(1, "another ⇥ way")
    ready.travel.show(1)
    wait()

    state = opened(other, save(), qtbot)

    assert state.generation == ready.state.generation
    assert [branch.name for branch in state.generation.branches] == ["Branch 1", "another ⇥ way"]
    assert state.decoding == ready.state.decoding
    for place in (0, 2, 1):
        other.travel.show(place)
        ready.travel.show(place)
        wait()
        assert other.state.message is None
        assert other.state.generation.shown == place
        assert other.state.trace is not None
        assert ready.state.trace is not None
        assert same_bits(other.state.trace, ready.state.trace)
    other.travel.switch(0)
    other.travel.show(2)
    assert other.state.message is None
    assert other.state.trace is not None
    assert tuple(other.state.trace.ids[0].tolist()) == state.generation.on_branch(0).before(2)


def test_what_was_not_recorded_needs_the_model_and_the_message_says_so(
    ready: Session, save: Save, other: Session, qtbot: QtBot
) -> None:
    ready.loop.play(3)
    waits(ready, qtbot)
    assert ready.state.trace is not None
    path = save(ready.state.trace.nbytes + 2**10)
    assert ready.state.notice.endswith(": all 2 blocks, 0 of 2 other passes")
    state = opened(other, path, qtbot)
    shown = state.trace

    other.travel.show(0)

    assert other.state.trace is shown
    assert other.state.generation.shown == 2
    assert "that pass is not in the recording, and the model is not loaded" in str(other.state.message)


def test_the_model_is_loaded_on_request_and_the_run_stays(
    ready: Session, save: Save, other: Session, qtbot: QtBot
) -> None:
    ready.loop.play(2)
    waits(ready, qtbot)
    state = opened(other, save(2**21), qtbot)
    assert state.trace is not None
    kept = state.trace.kept

    other.recording.load_model()
    waits(other, qtbot)

    assert other.state.message is None
    assert other.state.recorded is None
    assert other.has_model
    assert other.state.trace is not None
    assert other.state.trace.kept is kept
    assert other.state.trace.can_replay
    assert other.state.generation == ready.state.generation
    other.loop.step()
    ready.loop.step()
    waits(other, qtbot)
    waits(ready, qtbot)
    assert other.state.generation.ids == ready.state.generation.ids


@pytest.mark.parametrize("intent", ["run", "step"])
def test_run_and_generate_load_the_model_first_and_go_on(
    ready: Session, save: Save, other: Session, intent: str, qtbot: QtBot
) -> None:
    opened(other, save(), qtbot)
    if intent == "run":
        other.set_prompt("Another text")
        other.run()
    else:
        other.loop.play(2)
    waits(other, qtbot)

    assert other.state.message is None
    assert other.state.recorded is None
    assert other.state.trace is not None
    if intent == "run":
        assert other.text_of(other.state.trace.ids[0].tolist()) == "Another text"
    else:
        assert len(other.state.generation.steps) == 2


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A nanoGPT checkpoint with a vocabulary of its own, and a table for it."""
    config = replace(SMALL, vocab_size=5, activation="gelu", tie_weights=True)
    (tmp_path / "table.txt").write_text("\\n\n \na\nb\n")
    return nanogpt(tmp_path / "ckpt.pt", random_model(config))


def run_checkpoint(session: Session, checkpoint: Path, qtbot: QtBot) -> None:
    session.set_prompts(("ab a",))
    session.start_with(CheckpointRequest(str(checkpoint), table=str(checkpoint.with_name("table.txt"))))
    waits(session, qtbot)
    assert session.state.message is None


def test_a_checkpoints_run_opens_where_the_checkpoint_and_its_table_are_gone(
    session: Session, save: Save, other: Session, checkpoint: Path, qtbot: QtBot
) -> None:
    run_checkpoint(session, checkpoint, qtbot)
    path = save()
    checkpoint.unlink()
    checkpoint.with_name("table.txt").unlink()

    state = opened(other, path, qtbot)

    assert [piece.text for piece in state.trace_pieces] == ["a", "b", " ", "a"]
    assert other.token_text(0) == "\n"
    assert other.token_text(4) == "‹unused 4›"
    assert state.tokens[0].ids == (2, 3, 1, 2)
    assert other.making.wanted == CheckpointRequest(str(checkpoint), table=str(checkpoint.with_name("table.txt")))

    other.recording.load_model()
    waits(other, qtbot)
    assert other.state.trace is state.trace
    assert other.state.recorded is state.recorded
    assert "The model of this run could not be loaded" in str(other.state.message)
    assert "open its checkpoint by hand with File → Open checkpoint" in str(other.state.message)


def test_other_weights_are_told_and_the_recorded_run_stays(
    session: Session, save: Save, other: Session, checkpoint: Path, qtbot: QtBot
) -> None:
    run_checkpoint(session, checkpoint, qtbot)
    path = save()
    model = random_model(replace(SMALL, vocab_size=5, activation="gelu", tie_weights=True))
    with torch.no_grad():
        model.final_norm.shift[0] += 1
    nanogpt(checkpoint, model)
    state = opened(other, path, qtbot)

    other.loop.play(1)  # the pass on screen is enough for one
    waits(other, qtbot)
    other.loop.play(1)
    waits(other, qtbot)

    assert other.state.trace is not None
    assert other.state.trace.kept is state.trace.kept  # type: ignore[union-attr]
    assert other.state.recorded is not None
    assert not other.has_model
    assert not other.state.generation.playing
    assert "has other weights than those that the run was recorded with" in str(other.state.message)


def test_a_recorded_run_can_be_saved_again_without_its_model(
    ready: Session, save: Save, other: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(other, save(), qtbot)
    other.recording.save(tmp_path / "again.gptviz")
    waits(other, qtbot)
    assert other.state.notice.endswith(": all 2 blocks")
    before = other.state

    state = opened(other, tmp_path / "again.gptviz", qtbot)

    assert state.trace is not None
    assert before.trace is not None
    assert same_bits(state.trace, before.trace)
    assert state.recorded is not None
    assert state.recorded.weights == before.recorded.weights  # type: ignore[union-attr]


def test_a_batch_is_recorded_with_all_its_rows(session: Session, save: Save, other: Session, qtbot: QtBot) -> None:
    session.set_prompts(("one two", "three four"))
    session.start("tiny", 5)
    waits(session, qtbot)
    session.select(row=1)

    state = opened(other, save(), qtbot)

    assert session.state.trace is not None
    assert state.trace is not None
    assert state.trace.batch == 2
    assert same_bits(state.trace, session.state.trace)
    assert state.selection.row == 1
    assert [piece.text for piece in state.trace_pieces] == ["three", " four"]
    assert other.making.wanted == UntrainedRequest("tiny", 5)


def test_a_broken_file_is_a_message_and_the_run_on_screen_stays(ready: Session, save: Save, qtbot: QtBot) -> None:
    path = save()
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    before = ready.state.trace, ready.state.model, ready.state.generation

    state = opened(ready, path, qtbot)

    assert (state.trace, state.model, state.generation) == before
    assert ready.has_model
    assert "The run could not be opened: run.gptviz is damaged: the numbers of " in str(state.message)


def test_a_run_that_is_opened_as_a_checkpoint_opens_as_the_run_that_it_is(
    ready: Session, save: Save, other: Session, qtbot: QtBot
) -> None:
    path = save(name="no suffix of ours.v2")

    other.opening.open(CheckpointRequest(str(path)))
    waits(other, qtbot)

    assert other.state.message is None
    assert other.state.recorded is not None
    assert other.state.recorded.path == str(path)
    assert not other.has_model
    assert other.making.wanted == UntrainedRequest("tiny", 123)


def test_another_model_ends_the_recording(ready: Session, save: Save, other: Session, qtbot: QtBot) -> None:
    opened(other, save(), qtbot)

    other.use_model("tiny", 9)
    waits(other, qtbot)

    assert other.state.recorded is None
    assert other.state.model is not None
    assert other.state.model.seed == 9
    assert other.state.trace is not None
    assert other.state.trace.can_replay
