"""A model that computes no numbers: it is looked at to find out why, so no pane may fail on it."""

import math

import pytest
import torch
from pytestqt.qtbot import QtBot
from user import User

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
    qtbot.waitUntil(lambda: window.session.settled, timeout=20_000)
    assert not window.grab().isNull()
    if math.isnan(value):
        window.session.select_stage("trf_blocks.0.norm1", query=1)
        window.show_pane("layer-norm")
        assert "mean NaN" in window.docks["layer-norm"].pane.rows["before"].numbers.text
        assert window.docks["next-token"].pane.bars.row(0).value == "NaN"
