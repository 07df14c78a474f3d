"""What the tests of generation through the session share."""

from collections.abc import Callable

import pytest
from generated import chosen
from holding import Wait

from gptviz.session.session import Session


@pytest.fixture
def generate(ready: Session, wait: Wait) -> Callable[[int], list[int]]:
    """A function that appends tokens, step by step, and returns all tokens of the branch."""

    def generate(count: int) -> list[int]:
        for _ in range(count):
            ready.loop.step()
            wait()
        return chosen(ready.state)

    return generate
