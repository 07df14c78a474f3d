"""One thread draws at a time: torch has one generator for all."""

import threading
from collections.abc import Callable

import pytest
import torch

from gptviz.model import TINY, GPTModel, initialise
from gptviz.model.seeding import seeded


class StoppedError(Exception):
    pass


def in_a_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_the_numbers_are_those_of_the_seed() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)

    with seeded(7):
        assert torch.equal(torch.rand(3), expected)


def test_nobody_else_draws_meanwhile() -> None:
    torch.manual_seed(7)
    expected = torch.rand(2)
    waits = threading.Event()
    drawn: list[torch.Tensor] = []

    def other() -> None:
        with seeded(9, waits.set):
            drawn.append(torch.rand(2))

    with seeded(7):
        first = torch.rand(1)
        thread = in_a_thread(other)
        assert waits.wait(60)
        second = torch.rand(1)
    thread.join(60)

    assert torch.equal(torch.cat((first, second)), expected)
    assert len(drawn) == 1


def test_a_wait_can_be_ended() -> None:
    ended: list[bool] = []

    def stop() -> None:
        raise StoppedError

    def other() -> None:
        with pytest.raises(StoppedError), seeded(9, stop):
            pass  # pragma: no cover
        ended.append(True)

    with seeded(7):
        in_a_thread(other).join(60)

    assert ended == [True]


def test_an_initialisation_counts_its_own_parameters_alone() -> None:
    """torch's hook is called for the modules of every thread; a cancel must not reach them."""
    fractions: list[float] = []

    def note(fraction: float) -> None:
        fractions.append(fraction)
        if len(fractions) == 1:
            in_a_thread(make_another).join(60)

    def make_another() -> None:
        with torch.device("meta"):
            GPTModel(TINY)

    weights, expected = initialise(TINY, 123, note).state_dict(), initialise(TINY, 123).state_dict()

    assert all(torch.equal(value, expected[name]) for name, value in weights.items())
    assert fractions == sorted(fractions)
    assert len(fractions) == len(weights) + 1
