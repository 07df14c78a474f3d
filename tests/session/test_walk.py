"""Walking through the stages of a trace."""

from pytestqt.qtbot import QtBot

from gptviz.session.session import Session

LAST = 54  # of the 9 + 2 · 23 stages of the small model


def stage(session: Session) -> str | None:
    return session.state.selection.stage


def test_a_walk_begins_at_the_token_ids(ready: Session) -> None:
    assert (stage(ready), ready.walk.index) == ("ids", 0)


def test_forward_and_back_take_one_stage(ready: Session) -> None:
    ready.walk.forward()
    ready.walk.forward()
    assert stage(ready) == "pos_emb"

    ready.walk.back()
    assert stage(ready) == "tok_emb"


def test_a_walk_ends_at_both_ends(ready: Session) -> None:
    ready.walk.back()
    assert stage(ready) == "ids"

    ready.walk.last()
    ready.walk.forward()
    assert (stage(ready), ready.walk.index) == ("next", LAST)


def test_all_stages_are_passed_in_order(ready: Session) -> None:
    assert ready.state.trace is not None
    seen = [stage(ready)]
    while ready.walk.index < LAST:
        ready.walk.forward()
        seen.append(stage(ready))

    assert tuple(seen) == ready.state.trace.names


def test_blocks_are_walked_by_their_first_stage(ready: Session) -> None:
    seen = []
    for _ in range(4):
        ready.walk.next_block()
        seen.append(stage(ready))

    assert seen == ["trf_blocks.0.norm1", "trf_blocks.1.norm1", "final_norm", "next"]


def test_going_back_a_block_goes_to_its_beginning_first(ready: Session) -> None:
    ready.walk.go(40)
    ready.walk.previous_block()
    assert stage(ready) == "trf_blocks.1.norm1"

    ready.walk.previous_block()
    assert stage(ready) == "trf_blocks.0.norm1"

    ready.walk.previous_block()
    assert stage(ready) == "ids"


def test_a_walk_into_a_block_selects_it(ready: Session) -> None:
    ready.walk.go(40)

    assert ready.state.selection.layer == 1


def test_playing_goes_to_the_end_and_stops(ready: Session, qtbot: QtBot) -> None:
    ready.walk.set_speed(1000)
    ready.walk.go(LAST - 3)

    ready.walk.play()
    assert ready.state.walk.playing

    qtbot.waitUntil(lambda: not ready.state.walk.playing)
    assert stage(ready) == "next"


def test_playing_at_the_end_starts_over(ready: Session) -> None:
    ready.walk.last()
    ready.walk.play()

    assert stage(ready) == "ids"
    ready.walk.pause()


def test_cancel_pauses_the_walk(ready: Session) -> None:
    ready.walk.play()
    ready.cancel()

    assert not ready.state.walk.playing


def test_without_a_trace_there_is_nothing_to_walk(session: Session) -> None:
    for move in (session.walk.forward, session.walk.next_block, session.walk.previous_block, session.walk.play):
        move()

    assert (session.walk.stages, stage(session), session.state.walk.playing) == ((), None, False)
