"""What is saved of a run, and when nothing is."""

from pathlib import Path

from holding import Hold
from pytestqt.qtbot import QtBot
from recording import Save, opened, waits

from gptviz.capture import block_bytes
from gptviz.runs.plan import outside_bytes
from gptviz.session.recording import amount_of
from gptviz.session.session import Session
from gptviz.session.state import ViewState


def test_the_estimate_is_what_is_written(ready: Session, save: Save, other: Session, qtbot: QtBot) -> None:
    ready.loop.play(2)
    waits(ready, qtbot)
    amount = amount_of(ready.recording.request_for(512 * 2**20))

    state = opened(other, save(), qtbot)

    assert state.trace is not None
    held = state.trace.nbytes - sum(digest.nbytes for digest in state.trace.digests.values())
    others = sum(trace.nbytes for trace in other.travel.at_hand().values())
    assert amount.blocks == 2
    assert amount.passes == 1
    assert held < amount.nbytes <= held + others
    assert str(amount).endswith(" MB of tensors: all 2 blocks, 1 of 1 other passes")


def test_a_budget_takes_the_selected_block_first_and_less_is_refused(
    ready: Session, save: Save, other: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    ready.select(layer=1)
    assert ready.state.trace is not None
    config = ready.state.trace.config
    outside, inside = outside_bytes(config, 1, 4), block_bytes(config, 1, 4)

    state = opened(other, save(outside + inside), qtbot)
    assert state.trace is not None
    assert [state.trace.has_block(layer) for layer in (0, 1)] == [False, True]

    save(outside - 1, "less.gptviz")
    assert "Choose a budget of 1 MB or more" in str(ready.state.message)
    assert not (tmp_path / "less.gptviz").exists()


def test_nothing_is_not_saved(session: Session, tmp_path: Path) -> None:
    session.recording.save(tmp_path / "a.gptviz")

    assert str(session.state.message) == "The run was not saved: there is none on screen. Press Run"
    assert list(tmp_path.iterdir()) == []


def test_a_held_pass_is_not_saved(ready: Session, tmp_path: Path, qtbot: QtBot) -> None:
    ready.live.start()
    qtbot.waitUntil(lambda: ready.state.held is not None)

    ready.recording.save(tmp_path / "a.gptviz")

    assert "a pass is held" in str(ready.state.message)
    assert ready.state.held is not None
    assert list(tmp_path.iterdir()) == []
    ready.cancel()
    waits(ready, qtbot)


def test_nothing_is_saved_between_two_tokens_and_generating_goes_on(
    ready: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    said: list[str] = []

    def save_between(old: ViewState, new: ViewState) -> None:
        if new.generation.playing and not said and len(new.generation.steps) == 2 and not ready.computing:
            said.append("")
            ready.recording.save(tmp_path / "a.gptviz")
            said.append(str(ready.state.message))

    ready.changed.connect(save_between)
    ready.loop.play(4)
    waits(ready, qtbot)

    assert "tokens are being generated. Pause that" in said[1]
    assert len(ready.state.generation.steps) == 4
    assert list(tmp_path.iterdir()) == []


def test_saving_can_be_cancelled_and_leaves_nothing(ready: Session, tmp_path: Path, hold: Hold, qtbot: QtBot) -> None:
    ready.loop.play(2)
    waits(ready, qtbot)
    ready.travel.forget()  # so that the passes have to run again
    gate = hold("trf_blocks.0.att", until_cancelled=True)

    ready.recording.save(tmp_path / "a.gptviz")
    qtbot.waitUntil(lambda: gate.reached)
    ready.cancel()
    waits(ready, qtbot)

    assert list(tmp_path.iterdir()) == []
    assert ready.state.message is None
    assert ready.state.notice == ""
