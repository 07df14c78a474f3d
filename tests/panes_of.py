"""Panes of a window, by their kind."""

from typing import TypeVar

from gptviz.app.main_window import MainWindow
from gptviz.panes.pane import Pane

P = TypeVar("P", bound=Pane)


def pane_of(window: MainWindow, kind: type[P]) -> P:
    """The window's pane, or lab that was opened, of this kind."""
    pane = {**window.docks, **window.bench.docks}[kind.name].pane
    assert isinstance(pane, kind)
    return pane
