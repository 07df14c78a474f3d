"""Start, prompt, run and selection, without a window."""

from typing import TYPE_CHECKING

import pytest
import torch
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.capture import capture
from gptviz.model import TINY, GPTModel
from gptviz.session.session import Session

if TYPE_CHECKING:
    from gptviz.session.state import ViewState

HELLO = (15496, 11, 314, 716)


# --- start -----------------------------------------------------------------------------------------------


def test_before_the_start_there_is_only_the_prompt(session: Session) -> None:
    state = session.state

    assert (state.prompt, state.model, state.trace, state.message, session.busy) == (
        "Hello, I am",
        None,
        None,
        None,
        False,
    )


def test_the_start_reads_the_tokenizer_builds_the_model_and_runs_by_itself(ready: Session) -> None:
    state = ready.state

    assert state.prompt_tokens.ids == HELLO
    assert state.model is not None
    assert state.trace is not None
    assert state.trace.ids.tolist() == [list(HELLO)]
    assert [piece.text for piece in state.trace_pieces] == ["Hello", ",", " I", " am"]
    assert (state.activity, state.live, state.message) == (None, None, None)


def test_the_model_is_described(ready: Session) -> None:
    model = ready.state.model

    assert model is not None
    assert model.config == TINY
    assert (model.seed, model.trained) == (123, False)
    assert model.description == "tiny · seed 123 · 3.2 M"


def test_the_trace_is_what_a_capture_of_the_same_model_gives(ready: Session, tiny_model: GPTModel) -> None:
    expected = capture(tiny_model, torch.tensor([HELLO]))

    assert ready.state.trace is not None
    assert torch.equal(ready.state.trace["out_head"], expected["out_head"])


def test_the_model_is_built_with_progress(session: Session, qtbot: QtBot) -> None:
    told: list[str] = []
    session.changed.connect(lambda old, new: told.append(new.activity.text if new.activity is not None else ""))

    session.start("tiny", 123)

    assert session.state.activity is not None
    assert session.busy
    qtbot.waitUntil(lambda: not session.busy)
    assert told.index("Preparing the model") < told.index("Running the forward pass")
    assert told[-1] == ""


def test_the_seed_decides_the_weights(ready: Session, wait: Wait) -> None:
    with_123 = ready.state.trace

    ready.use_model("tiny", 124)
    wait()

    assert with_123 is not None
    assert ready.state.trace is not None
    assert ready.state.model is not None
    assert ready.state.model.seed == 124
    assert not torch.equal(ready.state.trace["out_head"], with_123["out_head"])


# --- prompt and run --------------------------------------------------------------------------------------


def test_typing_shows_the_tokens_but_runs_nothing(ready: Session, wait: Wait) -> None:
    before = ready.state.trace

    ready.set_prompt("naïve")
    wait()

    assert ready.state.prompt_tokens.ids == (2616, 38776)
    assert ready.state.trace is before


def test_the_same_text_again_changes_nothing(ready: Session, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(ready.changed):
        ready.set_prompt("Hello, I am")


def test_run_shows_the_trace_of_the_present_prompt(ready: Session, wait: Wait) -> None:
    ready.set_prompt(" the the the the")
    ready.run()
    wait()

    assert ready.state.trace is not None
    assert ready.state.trace.ids.tolist() == [[262, 262, 262, 262]]


def test_while_a_pass_runs_its_stages_appear(ready: Session, hold: Hold, qtbot: QtBot) -> None:
    hold("trf_blocks.1.norm1")

    ready.run()

    qtbot.waitUntil(lambda: live_names(ready)[-1:] == ["trf_blocks.0.shortcut2"])
    assert live_names(ready)[:2] == ["ids", "tok_emb"]


def live_names(session: Session) -> list[str]:
    return [record.name for record in session.state.live or ()]


def test_an_empty_prompt_is_refused_and_the_last_trace_stays(ready: Session, wait: Wait) -> None:
    before = ready.state.trace

    ready.set_prompt("")
    ready.run()
    wait()

    assert str(ready.state.message) == "There is nothing to run: the prompt is empty. Type at least one character"
    assert ready.state.trace is before


def test_a_prompt_that_is_too_long_is_refused_with_the_counts(ready: Session, wait: Wait) -> None:
    before = ready.state.trace

    ready.set_prompt(" the" * 70)
    ready.run()
    wait()

    assert str(ready.state.message) == (
        "This prompt is too long: 70 tokens are more than the model's context of 64. Shorten it by 6 tokens"
    )
    assert ready.state.trace is before


def test_a_prompt_that_fills_the_context_runs(ready: Session, wait: Wait) -> None:
    ready.set_prompt(" the" * 64)
    ready.run()
    wait()

    assert ready.state.message is None
    assert ready.state.trace is not None
    assert ready.state.trace.tokens == 64


def test_the_next_good_run_takes_the_message_away(ready: Session, wait: Wait) -> None:
    ready.set_prompt("")
    ready.run()
    wait()

    ready.set_prompt("Hi")
    ready.run()
    wait()

    assert ready.state.message is None


def test_a_cancel_in_mid_pass_keeps_the_last_trace(ready: Session, hold: Hold, wait: Wait, qtbot: QtBot) -> None:
    before = ready.state.trace
    gate = hold("trf_blocks.1.norm1")
    ready.set_prompt("Hi")
    ready.run()
    qtbot.waitUntil(lambda: gate.reached)

    ready.cancel()
    gate.open()
    wait()

    assert ready.state.trace is before
    assert (ready.state.activity, ready.state.live, ready.state.message) == (None, None, None)


def test_after_a_cancel_the_prompt_can_be_run(ready: Session, hold: Hold, wait: Wait, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.1.norm1", until_cancelled=True)
    ready.set_prompt("Hi")
    ready.run()
    qtbot.waitUntil(lambda: gate.reached)
    ready.cancel()
    wait()
    gate.open()

    ready.run()
    wait()

    assert ready.state.trace is not None
    assert ready.state.trace.ids.tolist() == [[17250]]


def test_a_second_run_replaces_the_first(ready: Session, hold: Hold, wait: Wait, qtbot: QtBot) -> None:
    gate = hold("tok_emb", until_cancelled=True)
    ready.set_prompt("first")
    ready.run()
    qtbot.waitUntil(lambda: gate.reached)
    shown: list[ViewState] = []
    ready.changed.connect(lambda old, new: shown.append(new))

    ready.set_prompt("second")
    qtbot.waitUntil(lambda: ready.state.prompt_tokens.text == "second")
    ready.run()
    gate.open()
    wait()

    assert ready.state.trace is not None
    assert ready.state.trace.ids.tolist() == [[12227]]
    assert {tuple(state.trace.ids[0].tolist()) for state in shown if state.trace is not None} == {HELLO, (12227,)}


def test_a_failure_in_a_pass_is_a_message_and_the_trace_stays(ready: Session, wait: Wait) -> None:
    before = ready.state.trace
    assert before is not None
    broken = before.replay.model.trf_blocks[1].norm2.register_forward_hook(fail)

    ready.run()
    wait()

    assert str(ready.state.message) == (
        "The forward pass failed: CaptureError: the forward pass failed after trf_blocks.1.shortcut1: out of luck. "
        "The last result stays on screen; press Run to try again"
    )
    assert ready.state.trace is before

    broken.remove()
    ready.run()
    wait()
    assert ready.state.message is None
    assert ready.state.trace is not before


def fail(*_: object) -> None:
    raise ZeroDivisionError("out of luck")


def test_closing_during_a_run_ends_the_threads_and_shows_nothing_more(ready: Session, hold: Hold, qtbot: QtBot) -> None:
    gate = hold("trf_blocks.0.norm1", until_cancelled=True)
    ready.run()
    qtbot.waitUntil(lambda: gate.reached)
    shown: list[ViewState] = []
    ready.changed.connect(lambda old, new: shown.append(new))

    ready.close()

    assert shown == []


def test_an_unforeseen_error_is_a_message_that_can_be_dismissed(ready: Session) -> None:
    ready.show_error("Something unforeseen happened", ValueError("a"))
    assert str(ready.state.message).startswith("Something unforeseen happened: ValueError: a.")

    ready.dismiss_message()
    assert ready.state.message is None


@pytest.mark.parametrize("text", ["🤗", "a<|endoftext|>b", "naïve café\n\ttab"])
def test_any_text_runs(ready: Session, wait: Wait, figures: dict, text: str) -> None:
    ready.set_prompt(text)
    ready.run()
    wait()

    assert ready.state.message is None
    assert ready.state.trace is not None
    assert ready.state.trace.ids.tolist() == [figures["tokens"][text]]


# --- selection -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ({"layer": 5}, {"layer": 1}),
        ({"layer": -1}, {"layer": 0}),
        ({"head": 9}, {"head": 1}),
        ({"head": -9}, {"head": 0}),
        ({"query": 9}, {"query": 3}),
        ({"query": -9}, {"query": -1}),
        ({"key": 3}, {"key": 3}),
        ({"key": 4}, {"key": None}),
        ({"key": -4}, {"key": 0}),
        ({"row": 3}, {"row": 0}),
        ({"stage": "trf_blocks.2.norm1"}, {"stage": "ids"}),
    ],
)
def test_a_selection_is_clamped_to_the_trace(ready: Session, asked: dict, got: dict) -> None:
    ready.select(**asked)

    selection = ready.state.selection
    assert {name: getattr(selection, name) for name in got} == got


def test_a_shorter_prompt_clamps_the_selection(ready: Session, wait: Wait) -> None:
    ready.select(query=3, key=3)

    ready.set_prompt("Hi")
    ready.run()
    wait()

    assert (ready.state.selection.query, ready.state.selection.key) == (0, None)
    assert ready.state.query == 0


def test_the_last_position_is_selected_at_first_and_stays_the_last(ready: Session, wait: Wait) -> None:
    assert ready.state.query == 3

    ready.set_prompt("a b")
    ready.run()
    wait()

    assert ready.state.query == 1


@pytest.mark.parametrize(
    ("stage", "layer", "norm", "view"),
    [
        ("trf_blocks.1.att.scores", 1, "norm1", "scores"),
        ("trf_blocks.0.att.masked", 0, "norm1", "masked"),
        ("trf_blocks.1.norm2", 1, "norm2", "weights"),
        ("trf_blocks.1.norm1", 1, "norm1", "weights"),
        ("final_norm", 0, "final_norm", "weights"),
        ("trf_blocks.1.ff.layers.1", 1, "norm1", "weights"),
        ("tok_emb", 0, "norm1", "weights"),
    ],
)
def test_a_stage_brings_its_block_its_norm_and_its_view(
    ready: Session, stage: str, layer: int, norm: str, view: str
) -> None:
    ready.select_stage(stage)

    selection = ready.state.selection
    assert (selection.stage, selection.layer, selection.norm) == (stage, layer, norm)
    assert ready.state.options.attention_view == view


def test_another_block_keeps_the_stage_within_the_block(ready: Session) -> None:
    ready.select_stage("trf_blocks.0.att.weights")

    ready.select(layer=1)

    assert ready.state.selection.stage == "trf_blocks.1.att.weights"


def test_selecting_what_is_selected_changes_nothing(ready: Session, qtbot: QtBot) -> None:
    ready.select(layer=1)

    with qtbot.assertNotEmitted(ready.changed):
        ready.select(layer=7)


def test_every_change_comes_with_the_state_before(ready: Session) -> None:
    before = ready.state
    seen: list[tuple[ViewState, ViewState]] = []
    ready.changed.connect(lambda old, new: seen.append((old, new)))

    ready.set_option(top_k=5)

    assert seen == [(before, ready.state)]
    assert ready.state.options.top_k == 5
    assert ready.state.trace is before.trace
