"""What is done in turns: the first at once, the others one after the other, each for the newest alone."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gptviz.session.turns import Turns


@pytest.fixture
def turns(qtbot: QtBot) -> Iterator[Turns]:
    parent = QObject()
    turns = Turns(parent)
    yield turns
    turns.close()


def test_the_first_goes_at_once_and_the_others_in_turn(turns: Turns, qtbot: QtBot) -> None:
    done: list[str] = []
    owners = {name: QObject() for name in ("flow", "stage", "heads")}

    for name, owner in owners.items():
        turns.add(owner, _noting(done, name))
    assert done == ["flow"]
    assert turns.pending

    qtbot.waitUntil(lambda: not turns.pending)
    assert done == ["flow", "stage", "heads"]


def test_whoever_waits_is_called_once_for_the_newest(turns: Turns, qtbot: QtBot) -> None:
    done: list[str] = []
    first, second = QObject(), QObject()

    turns.add(first, _noting(done, "first"))
    for number in range(5):
        turns.add(second, _noting(done, f"second, {number}"))

    qtbot.waitUntil(lambda: not turns.pending)
    assert done == ["first", "second, 4"]


def _noting(done: list[str], what: str) -> Callable[[], None]:
    return lambda: done.append(what)
