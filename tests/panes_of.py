"""Panes of a window, and views of the loop's, by their kind."""

from typing import TypeVar

from PySide6.QtWidgets import QWidget
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.panes.loop import LoopPane
from gptviz.panes.pane import Pane

P = TypeVar("P", bound=Pane)
V = TypeVar("V", bound=QWidget)


def pane_of(window: MainWindow, kind: type[P]) -> P:
    """The window's pane, or lab that was opened, of this kind."""
    pane = {**window.docks, **window.bench.docks}[kind.name].pane
    assert isinstance(pane, kind)
    return pane


def loop_pane(user: User) -> LoopPane:
    """The loop, brought to the front."""
    user.brings_up("loop")
    return pane_of(user.window, LoopPane)


def loop_view(user: User, kind: type[V]) -> V:
    """The loop's view of this kind, brought to the front."""
    pane = loop_pane(user)
    name, view = next((name, view) for name, view in pane.views.items() if isinstance(view, kind))
    user.clicks(pane.switch.button(name))
    return view
