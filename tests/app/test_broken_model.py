"""A model that computes no numbers: it is looked at to find out why, so no pane may fail on it."""

import math

import pytest
import torch
from pytestqt.qtbot import QtBot
from user import User

pytestmark = pytest.mark.without_pauses

STAGES = ("embeddings", *(f"trf_blocks.0.{name}" for name in ("att.masked", "att.weights", "ff.layers.2")), "next")


@pytest.mark.without_panes("shape-trace", "generation")
@pytest.mark.parametrize("value", [math.nan, 1e38])
def test_every_pane_shows_a_model_without_numbers(user: User, qtbot: QtBot, value: float) -> None:
    window = user.window
    assert user.state.trace is not None
    with torch.no_grad():
        user.state.trace.replay.model.get_parameter("tok_emb.weight")[11].fill_(value)

    user.runs("Hello, I am")

    for pane in ("arithmetic", "stage", "attention", "layer-norm", "where-from", "heads", "checks"):
        window.show_pane(pane)
        qtbot.waitUntil(window.docks[pane].pane.isVisible)
        for stage in STAGES if pane in ("arithmetic", "stage") else ("trf_blocks.0.norm1",):
            window.session.select_stage(stage, query=1)
    qtbot.waitUntil(lambda: window.session.settled)
    assert not window.grab().isNull()
    if math.isnan(value):
        window.session.select_stage("trf_blocks.0.norm1", query=1)
        window.show_pane("layer-norm")
        assert "mean NaN" in window.docks["layer-norm"].pane.rows["before"].numbers.text
        assert window.docks["next-token"].pane.bars.row(0).value == "NaN"


@pytest.mark.without_panes("shape-trace", "flow", "stage", "heads")
@pytest.mark.parametrize("parameter", ["tok_emb.weight", "out_head.weight"])
def test_generation_lens_and_comparison_show_a_model_without_numbers(user: User, qtbot: QtBot, parameter: str) -> None:
    window, session = user.window, user.window.session
    assert user.state.trace is not None
    with torch.no_grad():
        user.state.trace.replay.model.get_parameter(parameter)[11].fill_(math.nan)
    user.runs("Hello, I am")
    window.show_pane("loop")
    loop = window.docks["loop"].pane
    chosen = int(user.state.trace["next"][0, 0])

    for view in loop.views:
        loop.show_view(view)
        session.loop.step()
        user.waits()
        assert not window.grab().isNull()
    assert [step.chosen.id for step in user.state.generation.steps] == [chosen] * 4
    session.loop.set_decoding(temperature=0.8)
    loop.show_view("decoding")
    decoding = loop.views["decoding"]
    assert decoding.note.text() == "The logits are not all finite, so there are no probabilities to draw from."
    assert "NaN to NaN; " in decoding.bars.accessibleDescription()
    assert "chosen" not in decoding.bars.accessibleDescription()
    loop.show_view("cost")
    session.costing.measure()
    user.waits()
    assert "The same token in all 4 steps" in loop.views["cost"].found.text()
    assert "NaN" not in loop.views["cost"].found.text()  # the same NaN is no difference

    for pane in ("generation", "lens"):
        window.show_pane(pane)
        qtbot.waitUntil(lambda: session.settled)
        assert not window.grab().isNull()
    session.comparing.pin()
    user.runs("Hello, I")
    window.show_pane("compare")
    compare = window.docks["compare"].pane
    for subject in ("attention", "tokens", "stages"):
        user.clicks(compare.subjects.button(subject))
        qtbot.waitUntil(lambda: session.settled)
        assert not window.grab().isNull()
    assert compare.ranks.rankings[0][0].change == "NaN"
