"""Blocks whose inside is not kept are replayed when they are looked at."""

import pytest
import torch
from holding import Hold, Wait
from pytestqt.qtbot import QtBot

from gptviz.capture import capture
from gptviz.model import GPTModel
from gptviz.session.session import Session

HELLO = (15496, 11, 314, 716)


@pytest.fixture
def lean(ready: Session, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose passes keep no block's inside."""
    monkeypatch.setattr("gptviz.capture.recorder.blocks_within", lambda *_: 0)
    ready.run()
    wait()
    return ready


def test_the_selected_block_is_at_hand_after_a_run_without_a_replay(lean: Session, wait: Wait) -> None:
    lean.select(layer=1)
    wait()
    told: list[str] = []
    lean.changed.connect(lambda old, new: told.append(new.activity.text if new.activity is not None else ""))

    lean.run()
    wait()

    assert lean.state.trace is not None
    assert [lean.state.trace.has_block(layer) for layer in (0, 1)] == [False, True]
    assert not [text for text in told if text.startswith("Replaying")]


def test_selecting_a_block_that_is_not_kept_replays_it(lean: Session, wait: Wait, tiny_model: GPTModel) -> None:
    expected = capture(tiny_model, torch.tensor([HELLO]))

    lean.select(layer=1)
    assert lean.state.activity is not None
    assert lean.state.activity.text == "Replaying block 2"
    wait()

    assert lean.state.trace is not None
    assert lean.state.trace.has_block(1)
    assert torch.equal(lean.state.trace["trf_blocks.1.att.weights"], expected["trf_blocks.1.att.weights"])
    assert (lean.state.activity, lean.state.live) == (None, None)


def test_a_block_that_is_chosen_during_a_replay_is_replayed_after_it(
    lean: Session, hold: Hold, wait: Wait, qtbot: QtBot
) -> None:
    gate = hold("trf_blocks.1.norm1")
    lean.select(layer=1)
    qtbot.waitUntil(lambda: gate.reached)

    lean.select(layer=0)
    gate.open()
    wait()

    assert lean.state.trace is not None
    assert [lean.state.trace.has_block(layer) for layer in (0, 1)] == [True, False]


def test_a_block_that_is_chosen_during_a_run_is_at_hand_after_it(
    lean: Session, hold: Hold, wait: Wait, qtbot: QtBot
) -> None:
    gate = hold("trf_blocks.0.norm1")
    lean.run()
    qtbot.waitUntil(lambda: gate.reached)

    lean.select(layer=1)
    gate.open()
    wait()

    assert lean.state.trace is not None
    assert lean.state.trace.has_block(1)


def test_a_block_whose_weights_were_changed_is_a_message(lean: Session, wait: Wait) -> None:
    assert lean.state.trace is not None
    torch.nn.init.zeros_(lean.state.trace.replay.model.trf_blocks[1].ff.layers[0].weight)

    lean.select(layer=1)
    wait()

    assert str(lean.state.message).startswith("The block could not be replayed: block 2 ran again and gave other")
    assert str(lean.state.message).endswith("Press Run")
