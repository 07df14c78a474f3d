"""What was generated, as the tests read it off the state, and tokens that are appended by hand."""

from PySide6.QtCore import Qt
from user import CONTROL, User

from gptviz.analysis.candidates import Candidate
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.text import visible

HELLO = (15496, 11, 314, 716)  # the default prompt


def chosen(state: ViewState) -> list[int]:
    """The IDs on the present branch, without the prompt's."""
    return [step.chosen.id for step in state.generation.steps]


def shown_ids(state: ViewState) -> list[int]:
    """The IDs of the pass on screen."""
    assert state.trace is not None
    return state.trace.ids[0].tolist()


def runner_up(state: ViewState, place: int) -> Candidate:
    """The second candidate of a step."""
    return state.generation.steps[place].candidates[1]


def count_passes(session: Session) -> list[int]:
    """Return a list that gets an entry at each pass of the session's model from now on."""
    passes: list[int] = []
    assert session.state.trace is not None
    session.state.trace.replay.model.register_forward_hook(lambda *_: passes.append(1))
    return passes


def steps(user: User, count: int) -> list[int]:
    """Append tokens by key, one after the other; return all IDs on the branch."""
    for _ in range(count):
        user.presses(Qt.Key.Key_G, CONTROL)
        user.waits()
    return chosen(user.state)


def fork(user: User, place: int, candidate: int = 1) -> None:
    """Pick another candidate at a step, and wait for its pass."""
    user.window.session.travel.pick(user.state.generation.steps[place].candidates[candidate], place)
    user.waits()


def word(token: int) -> str:
    """A token's text as a chip shows it."""
    return visible(gpt2_tokenizer().token_text(token))
