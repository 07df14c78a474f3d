"""Saving a run and opening it without its model: what is the same, what needs the model, and how that comes back."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, nanogpt, random_model
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.capture import Trace, block_bytes
from gptviz.runs.plan import outside_bytes
from gptviz.session.recording import amount_of
from gptviz.session.requests import CheckpointRequest, UntrainedRequest
from gptviz.session.session import Session
from gptviz.session.state import ViewState

Save = Callable[..., Path]


@pytest.fixture
def save(session: Session, tmp_path: Path, qtbot: QtBot) -> Save:
    """A function that saves the run on screen and returns the file."""

    def save(budget: int = 512 * 2**20, name: str = "run.gptviz") -> Path:
        session.recording.save(tmp_path / name, budget)
        qtbot.waitUntil(lambda: not session.busy, timeout=20_000)
        return tmp_path / name

    return save


@pytest.fixture
def other(qtbot: QtBot) -> Any:
    """Another session, as on another machine."""
    other = Session()
    yield other
    other.close()


def opened(other: Session, path: Path, qtbot: QtBot) -> ViewState:
    other.recording.open(path)
    waits(other, qtbot)
    return other.state


def waits(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not (session.busy or session.state.generation.playing), timeout=20_000)


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
    qtbot.waitUntil(lambda: ready.state.checks.complete, timeout=20_000)

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


def test_the_estimate_is_what_is_written(ready: Session, save: Save, other: Session, qtbot: QtBot) -> None:
    ready.loop.play(2)
    waits(ready, qtbot)
    amount = amount_of(ready.recording.request_for(512 * 2**20))

    state = opened(other, save(), qtbot)

    assert state.trace is not None
    held = state.trace.nbytes - sum(digest.nbytes for digest in state.trace.digests.values())
    others = sum(trace.nbytes for trace in other.travel.at_hand().values())
    assert amount.blocks == 2
    assert amount.passes == 1
    assert held < amount.nbytes <= held + others
    assert str(amount).endswith(" MB of tensors: all 2 blocks, 1 of 1 other passes")


def test_a_budget_takes_the_selected_block_first_and_less_is_refused(
    ready: Session, save: Save, other: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    ready.select(layer=1)
    assert ready.state.trace is not None
    config = ready.state.trace.config
    outside, inside = outside_bytes(config, 1, 4), block_bytes(config, 1, 4)

    state = opened(other, save(outside + inside), qtbot)
    assert state.trace is not None
    assert [state.trace.has_block(layer) for layer in (0, 1)] == [False, True]

    save(outside - 1, "less.gptviz")
    assert "Choose a budget of 1 MB or more" in str(ready.state.message)
    assert not (tmp_path / "less.gptviz").exists()


def test_nothing_is_not_saved(session: Session, tmp_path: Path) -> None:
    session.recording.save(tmp_path / "a.gptviz")

    assert str(session.state.message) == "The run was not saved: there is none on screen. Press Run"
    assert list(tmp_path.iterdir()) == []


def test_a_held_pass_is_not_saved(ready: Session, tmp_path: Path, qtbot: QtBot) -> None:
    ready.live.start()
    qtbot.waitUntil(lambda: ready.state.held is not None)

    ready.recording.save(tmp_path / "a.gptviz")

    assert "a pass is held" in str(ready.state.message)
    assert ready.state.held is not None
    assert list(tmp_path.iterdir()) == []
    ready.cancel()
    waits(ready, qtbot)


def test_nothing_is_saved_between_two_tokens_and_generating_goes_on(
    ready: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    said: list[str] = []

    def save_between(old: ViewState, new: ViewState) -> None:
        if new.generation.playing and not said and len(new.generation.steps) == 2 and not ready.computing:
            said.append("")
            ready.recording.save(tmp_path / "a.gptviz")
            said.append(str(ready.state.message))

    ready.changed.connect(save_between)
    ready.loop.play(4)
    waits(ready, qtbot)

    assert "tokens are being generated. Pause that" in said[1]
    assert len(ready.state.generation.steps) == 4
    assert list(tmp_path.iterdir()) == []


def test_saving_can_be_cancelled_and_leaves_nothing(ready: Session, tmp_path: Path, hold: Hold, qtbot: QtBot) -> None:
    ready.loop.play(2)
    waits(ready, qtbot)
    ready.travel.forget()  # so that the passes have to run again
    gate = hold("trf_blocks.0.att", until_cancelled=True)

    ready.recording.save(tmp_path / "a.gptviz")
    qtbot.waitUntil(lambda: gate.reached)
    ready.cancel()
    waits(ready, qtbot)

    assert list(tmp_path.iterdir()) == []
    assert ready.state.message is None
    assert ready.state.notice == ""


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
