"""Keeping the selection inside what a trace has."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gptviz.capture.stages import catalogue
from gptviz.session.state import Selection

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace


def clamped(selection: Selection, trace: "Trace") -> Selection:
    """Bring each index of ``selection`` into the range that ``trace`` has."""
    config, last = trace.config, trace.tokens - 1
    clamped = replace(
        selection,
        layer=min(max(selection.layer, 0), config.n_layers - 1),
        head=min(max(selection.head, 0), config.n_heads - 1),
        query=max(-1, min(selection.query, last)),
        key=None if selection.key is None or selection.key > last else max(0, selection.key),
        feature=None if selection.feature is None else max(0, selection.feature),
        token=None if selection.token is None else min(max(selection.token, 0), config.vocab_size - 1),
        row=min(max(selection.row, 0), trace.batch - 1),
        stage=selection.stage if any(stage.name == selection.stage for stage in catalogue(config)) else "ids",
    )
    return selection if clamped == selection else clamped
